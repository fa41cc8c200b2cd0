package contract_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
)

// place is what each finding begins with.
var place = regexp.MustCompile(`(?m)^k\.yaml:\d+:\d+: error: .*\[([a-z-]+)\]$`)

// Every line of testdata/mistakes.txt is a description that is wrong; the golden file has what is
// said of it.
func TestMistakesAreReported(t *testing.T) {
	src, err := os.ReadFile("testdata/mistakes.txt")
	require.NoError(t, err)
	var out strings.Builder
	seen := map[string]int{}
	for text := range strings.Lines(string(src)) {
		text = strings.ReplaceAll(strings.TrimSuffix(text, "\n"), `\n`, "\n")
		_, found := read(t, text)
		assert.Regexp(t, place, found, text)
		for _, code := range place.FindAllStringSubmatch(found, -1) {
			seen[code[1]]++
		}
		out.WriteString("== " + strings.ReplaceAll(text, "\n", "\n   ") + "\n" + found)
	}
	golden.Assert(t, "kernel/mistakes.txt", []byte(out.String()))
	assert.Empty(t, missing(t, seen), "each code has a mistake")
}

// missing lists the codes of the package's sources that no mistake got.
func missing(t *testing.T, seen map[string]int) (codes []string) {
	t.Helper()
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	quoted := regexp.MustCompile(`(?:Errorf\(|ErrorfAt\([^"]*|s\.fail\([^"]*|reportLine\([^"]*)"([a-z]+(?:-[a-z]+)+)"`)
	for _, f := range files {
		text, err := os.ReadFile(f.Name())
		if strings.HasSuffix(f.Name(), "_test.go") || err != nil {
			continue
		}
		for _, code := range quoted.FindAllStringSubmatch(string(text), -1) {
			if seen[code[1]] == 0 && !slices.Contains(codes, code[1]) {
				codes = append(codes, code[1])
			}
		}
	}
	return codes
}
