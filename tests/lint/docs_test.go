package lint

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rooms gives the packages that the architecture has a row for.
func rooms(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, dir := range []string{"cmd", "internal", "spec", "templates"} {
		require.NoError(t, fs.WalkDir(os.DirFS("../.."), dir, func(name string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && strings.HasSuffix(name, ".go") && !strings.Contains(name, "/testdata/") {
				found[path.Dir(name)] = true
			}
			return err
		}))
	}
	return found
}

func TestTheArchitectureNamesEveryPackage(t *testing.T) {
	text, err := os.ReadFile("../../docs/architecture.md")
	require.NoError(t, err)
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z/]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		named[m[1]] = true
	}
	for room := range rooms(t) {
		if !strings.HasPrefix(room, "templates/") { // sources of emitted packages, not packages of ours
			assert.True(t, named[room], "docs/architecture.md has no row for %s", room)
		}
	}
	for name := range named {
		assert.DirExists(t, path.Join("../..", name), "docs/architecture.md describes it")
	}
}

func TestTheArchitectureNamesEveryDependency(t *testing.T) {
	text, err := os.ReadFile("../../docs/architecture.md")
	require.NoError(t, err)
	mod, err := os.ReadFile("../../go.mod")
	require.NoError(t, err)
	required := regexp.MustCompile(`(?m)^(?:require)?\s+([a-z][\w./-]*\.[\w./-]+) (v\S+)`).
		FindAllStringSubmatch(string(mod), -1)
	require.Greater(t, len(required), 5)
	for _, m := range required {
		assert.Contains(t, string(text), "| `"+m[1]+"` | "+m[2]+" | ", "docs/architecture.md gives its purpose")
	}
	rows := regexp.MustCompile("(?m)^\\| `[a-z][^`]*` \\| v\\S+ \\| ").FindAllString(string(text), -1)
	assert.Len(t, rows, len(required), "docs/architecture.md names only what go.mod requires")
}

func TestTheArchitectureNamesEveryFolderOfTests(t *testing.T) {
	text, err := os.ReadFile("../../docs/architecture.md")
	require.NoError(t, err)
	entries, err := os.ReadDir("..")
	require.NoError(t, err)
	named := 0
	for _, e := range entries {
		if e.IsDir() {
			assert.Contains(t, string(text), "| [tests/"+e.Name()+"](../tests/"+e.Name()+") | ")
			named++
		}
	}
	assert.Equal(t, named, strings.Count(string(text), "| [tests/"), "and none that is gone")
}
