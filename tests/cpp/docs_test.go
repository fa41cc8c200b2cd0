package cpp

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(golden.Root(t), "docs", "cpp.md"))
	require.NoError(t, err)
	return string(text)
}

// block returns the text of a fenced block by its label.
func block(t *testing.T, label string) string {
	t.Helper()
	_, rest, found := strings.Cut(page(t), "```"+label+"\n")
	require.True(t, found, "docs/cpp.md has a block %q", label)
	text, _, _ := strings.Cut(rest, "```")
	return text
}

func TestTheExampleOfTheDocs(t *testing.T) {
	testtool.Require(t, gcc.program, gcc.debian)
	dir := t.TempDir()
	source := filepath.Join(dir, "example.cpp")
	require.NoError(t, os.WriteFile(source, []byte(block(t, "cpp example")), 0o600))
	args := flags([]string{"-std=c++17", "-o", filepath.Join(dir, "example"), source}, gen(t), strict,
		[]string{"-g", "-fsanitize=address"})
	out, err := exec.Command(gcc.program, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command(filepath.Join(dir, "example")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Equal(t, block(t, "text output"), string(out))
}

// The page names each header, and existing tests.
func TestTheDocsNameHeadersAndTests(t *testing.T) {
	for _, name := range append(emittedHeaders(t), forPython...) {
		assert.Contains(t, page(t), "`"+name+"`")
	}
	rows := regexp.MustCompile("`(\\w+\\.cpp)`: `(\\w+)`(?:, `(\\w+)`)?").FindAllStringSubmatch(page(t), -1)
	require.Greater(t, len(rows), 10)
	for _, row := range rows {
		source, err := os.ReadFile(filepath.Join("testdata", row[1]))
		require.NoError(t, err)
		for _, name := range row[2:] {
			assert.Contains(t, string(source), "void "+name, row[1])
		}
	}
}
