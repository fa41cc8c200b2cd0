package lint

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rooms returns the packages with a row in the architecture page.
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
		if !strings.HasPrefix(room, "templates/") { // sources of emitted packages, not of this module
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
		assert.Contains(t, string(text), "| `"+m[1]+"` | "+m[2]+" | ", "docs/architecture.md describes it")
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
	assert.Equal(t, named, strings.Count(string(text), "| [tests/"), "and no removed one")
}

// The newest versions of libraries that docs/python.md names are those that the tests install.
func TestTheNewestVersionsAreThePinnedOnes(t *testing.T) {
	var pinned strings.Builder
	files, err := filepath.Glob("../requirements*.txt")
	require.NoError(t, err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		pinned.Write(text)
	}
	page, err := os.ReadFile("../../docs/python.md")
	require.NoError(t, err)
	rows := regexp.MustCompile("(?m)^\\| [^|]+ \\| `([\\w-]+)` \\| [^|]+ \\| ([0-9][^| ]*) \\|$").FindAllStringSubmatch(
		string(page), -1)
	require.Greater(t, len(rows), 5)
	for _, m := range rows {
		assert.Contains(t, pinned.String(), "\n"+m[1]+"=="+m[2]+"\n",
			"docs/python.md, as tests/requirements*.txt have it")
	}
}

// A reader finds every how-to from the index of how-tos.
func TestTheIndexNamesEveryHowTo(t *testing.T) {
	index, err := os.ReadFile("../../docs/how-to/index.md")
	require.NoError(t, err)
	pages, err := filepath.Glob("../../docs/how-to/*.md")
	require.NoError(t, err)
	for _, page := range pages {
		if name := path.Base(filepath.ToSlash(page)); name != "index.md" {
			assert.Contains(t, string(index), "]("+name, "docs/how-to/index.md")
		}
	}
}
