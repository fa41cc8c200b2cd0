package contract_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
)

// Every line of testdata/mistakes.txt is a description that is wrong. Each finding about it has a
// position and a hint; the golden file has their texts.
func TestMistakesAreReported(t *testing.T) {
	src, err := os.ReadFile("testdata/mistakes.txt")
	require.NoError(t, err)
	var out strings.Builder
	seen := map[string]int{}
	for text := range strings.Lines(string(src)) {
		text = strings.ReplaceAll(strings.TrimSuffix(text, "\n"), `\n`, "\n")
		_, found := readings(text)
		assert.NotEmpty(t, found, text)
		for _, d := range found {
			seen[d.Code]++
			assert.Equal(t, diag.Error, d.Severity, text)
			assert.Positive(t, d.Pos.Line*d.Pos.Col, "%s has no position: %s", d.Text, text)
			assert.NotEmpty(t, d.Hint, "%s has no hint: %s", d.Text, text)
		}
		out.WriteString("== " + strings.ReplaceAll(text, "\n", "\n   ") + "\n" + diag.Text(found, false))
	}
	golden.Assert(t, "kernel/mistakes.txt", []byte(out.String()))
	assert.Empty(t, missing(t, seen), "each code has a mistake")
	for code, count := range seen {
		assert.GreaterOrEqual(t, count, 5, "mistakes that are reported as %s", code)
	}
}

// Each key of a kernel, each word of a line, and each part of an expression or a condition has
// mistakes.
func TestEveryKeyAndWordHasMistakes(t *testing.T) {
	src, err := os.ReadFile("testdata/mistakes.txt")
	require.NoError(t, err)
	patterns := []string{
		`\btypes: `, `\bargs: `, `\breturns: `, `\bwhere: `, `\bsymbol: `, `\bdevices: `, `\berror: `, `\berrors: `,
		`\bserial: `, `\blang: `, `\bform: `, `\bgil: `, `\bbatch: `, `\bbackward: `, `\btest: `, `\bnamespace: `, `\bdoc: `,
		`\.\.\.`, `\b_\b`, `list\[`, `\bstr\b`, `\?`, ` = `, `//|%`,
		`\bmin|\bmax`, `\.size`, `\.shape`, `\bin\b`, `\band\b`, `\bor\b`,
	}
	for _, word := range notation.Words {
		patterns = append(patterns, " "+word+`\b`)
	}
	for _, pattern := range patterns {
		assert.GreaterOrEqual(t, len(regexp.MustCompile(pattern).FindAllIndex(src, -1)), 5, pattern)
	}
}

// readers are the folders of the packages that report what is wrong with a description.
var readers = []string{".", "../notation", "../../yaml"}

// missing lists the codes of the readers' sources that no mistake got. What is wrong as YAML
// has tests in package yaml.
func missing(t *testing.T, seen map[string]int) (codes []string) {
	t.Helper()
	quoted := regexp.MustCompile(`(?:Errorf\(|ErrorfAt\([^"]*|s\.fail\([^"]*|reportLine\([^"]*)"([a-z]+(?:-[a-z]+)+)"`)
	for _, folder := range readers {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		require.NotEmpty(t, files, folder)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, code := range quoted.FindAllStringSubmatch(string(text), -1) {
				ofYAML := strings.HasPrefix(code[1], "yaml-")
				if !ofYAML && !strings.HasSuffix(file, "_test.go") && seen[code[1]] == 0 && !slices.Contains(codes, code[1]) {
					codes = append(codes, code[1])
				}
			}
		}
	}
	return codes
}
