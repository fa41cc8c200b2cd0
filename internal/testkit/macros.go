package testkit

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Macros are common words that other projects' headers define: minwindef.h, combaseapi.h, debug
// allocators and AssertMacros.h.
var Macros = map[string]string{
	"far":       "far",
	"interface": "interface struct",
	"free":      "free(memory) (free)(memory)",
	"check":     "check(holds) do { if (!(holds)) (void)0; } while (0)",
	"min":       "min(a, b) (((a) < (b)) ? (a) : (b))",
	"max":       "max(a, b) (((a) > (b)) ? (a) : (b))",
}

var includeLine = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*<([^>]+)>`)

// Foreign returns the names between < and > that the files include, without those that exist below
// one of the folders.
func Foreign(t testing.TB, files, folders []string) (names []string) {
	t.Helper()
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range includeLine.FindAllStringSubmatch(string(text), -1) {
			if !slices.ContainsFunc(folders, func(dir string) bool {
				_, err := os.Stat(filepath.Join(dir, m[1]))
				return err == nil
			}) {
				names = append(names, m[1])
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ForeignOfTorch returns the foreign headers of the sources for PyTorch in gen/, of the module
// with the stable ABI or of the other one.
func ForeignOfTorch(t testing.TB, root string, stable bool) []string {
	t.Helper()
	folders := []string{filepath.Join(root, "gen", "c"), filepath.Join(root, "gen", "cpp")}
	var files []string
	for _, folder := range folders {
		files = append(files, FilesIn(t, folder, ".h", ".c", ".hpp", ".cpp")...)
	}
	return slices.DeleteFunc(Foreign(t, files, folders), func(header string) bool {
		return (stable && !isForStable(header)) || (!stable && strings.Contains(header, "/stable/"))
	})
}

// isForStable reports whether a header may be included in code that uses only the stable ABI.
func isForStable(header string) bool {
	return !strings.HasPrefix(header, "ATen/") && !strings.HasPrefix(header, "c10/") &&
		(!strings.HasPrefix(header, "torch/") || strings.Contains(header, "/stable/"))
}

// FilesIn returns the files below a folder whose names have one of the endings.
func FilesIn(t testing.TB, folder string, endings ...string) (files []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if slices.Contains(endings, filepath.Ext(path)) {
			files = append(files, path)
		}
		return err
	}))
	require.NotEmpty(t, files, folder)
	return files
}

// Includes returns a text that includes each of the headers that exists.
func Includes(names []string) string {
	var text strings.Builder
	for _, name := range names {
		fmt.Fprintf(&text, "#if __has_include(<%s>)\n#include <%[1]s>\n#endif\n", name)
	}
	return text.String()
}

// Definitions returns a text that defines some of Macros.
func Definitions(words ...string) string {
	var text strings.Builder
	for _, word := range words {
		fmt.Fprintf(&text, "#undef %s\n#define %s\n", word, Macros[word])
	}
	return text.String()
}
