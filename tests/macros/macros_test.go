package macros

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// inTurn are all macros and, at night, none, which shows that the files can be included together,
// and each separately.
func inTurn() (all [][]string) {
	each := slices.Sorted(maps.Keys(testkit.Macros))
	if tier.IsNightly() {
		all = append(all, nil)
		for _, word := range each {
			all = append(all, []string{word})
		}
	}
	return append(all, each)
}

func assertBears(t *testing.T, u unit, sets [][]string) {
	t.Helper()
	t.Run(u.name, func(t *testing.T) {
		t.Parallel()
		for _, defined := range sets {
			out, err := u.compile(t, defined...)
			require.NoError(t, err, "after the macros %v:\n%s", defined, out)
		}
	})
}

// pythonHeaders and their dependencies: the base of modules, in the file that defines it.
func isPython(path string) bool { return strings.HasPrefix(filepath.Base(path), "dlpackgen_python") }

func TestHeadersOfC(t *testing.T) {
	t.Parallel()
	folder := generated(t, "gen", "c")
	headers := slices.DeleteFunc(testkit.FilesIn(t, folder, ".h"), isPython)
	for language, flags := range map[string][]string{"C": inC, "C++": inCpp} {
		assertBears(t, unitOf(t, language, headers, []string{folder}, flags), inTurn())
	}
}

func TestTheBaseOfPythonModules(t *testing.T) {
	t.Parallel()
	folder := generated(t, "gen", "c")
	header := []string{filepath.Join(folder, "dlpackgen_python.h")}
	python := pythonFlags(t)
	assertBears(t, unitOf(t, "whole", header, []string{folder}, inC, python,
		[]string{"-DDLPACKGEN_PYTHON_IMPLEMENTATION"}), inTurn())
	assertBears(t, unitOf(t, "C++", header, []string{folder}, inCpp, python), inTurn())
}

func TestHeadersOfCpp(t *testing.T) {
	t.Parallel()
	folders := []string{generated(t, "gen", "c"), generated(t, "gen", "cpp")}
	headers := testkit.FilesIn(t, filepath.Join(folders[1], "dlpackgen"), ".hpp")
	python := append(pythonFlags(t), bindingFlags(t)...)
	for name, flags := range map[string][]string{"C++17": inCpp, "newest": newer} {
		assertBears(t, unitOf(t, name, headers, folders, flags, python), inTurn())
	}
}

// A backend's private headers are compiled with its sources, which a vendor's may follow.
func TestBackends(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob(generated(t, "backends", "*"))
	require.NoError(t, err)
	found, tested := 0, 0
	for _, folder := range folders {
		sources, err := filepath.Glob(filepath.Join(folder, "*.c"))
		require.NoError(t, err)
		if len(sources) == 0 {
			continue
		}
		found++
		headers, err := filepath.Glob(filepath.Join(folder, "dlpack*.h*"))
		require.NoError(t, err)
		name := filepath.Base(folder)
		where := []string{folder}
		inSource := slices.DeleteFunc(slices.Clone(headers),
			func(path string) bool { return filepath.Ext(path) != ".h" })
		assertBears(t, unitOf(t, name+" sources", append(inSource, sources...), where, inC), inTurn())
		assertBears(t, unitOf(t, name+" C++", headers, where, inCpp), inTurn())
		conformance, err := filepath.Glob(filepath.Join(folder, "conformance", "*"))
		require.NoError(t, err)
		if len(conformance) == 0 {
			continue
		}
		tested++ // a vendor's hooks include other headers before it
		hooks := slices.DeleteFunc(slices.Clone(conformance),
			func(path string) bool { return filepath.Ext(path) != ".h" })
		program := append(hooks, filepath.Join(folder, "conformance", "conformance.c"))
		assertBears(t, unitOf(t, name+" conformance", program, where, inC), inTurn())
		assertBears(t, unitOf(t, name+" hooks", hooks, where, inCpp), inTurn())
	}
	assert.Greater(t, found, 2, "the pattern finds them")
	assert.Equal(t, 3, tested, "with a conformance program")
}

// mutants are headers that use a macro's word; without the macro, each compiles.
var mutants = map[string]string{
	"far":       "static inline int mutant(int far) { return 1 + far; }",
	"interface": "static inline int mutant(int interface) { return interface; }",
	"free": "struct mutant_ { void (*free)(void*, int*); };\n" +
		"static inline void mutant(struct mutant_* t) { t->free(0, 0); }",
	"check": "static inline int check(int error) { return error; }",
	"min":   "static inline int min(int one) { return one; }",
	"max":   "static inline int max(int one) { return one; }",
}

func TestAMutantOfEachWordIsSeen(t *testing.T) {
	t.Parallel()
	for word := range testkit.Macros {
		folder := t.TempDir()
		require.NoError(t, os.CopyFS(folder, os.DirFS(generated(t, "gen", "c"))))
		path := filepath.Join(folder, "dlpackgen", "tensor.h")
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		whole, end, _ := strings.Cut(string(text), "#endif /* DLPACKGEN_TENSOR_H_ */")
		require.NoError(t, os.WriteFile(path, []byte(whole+mutants[word]+"\n#endif"+end), 0o600))
		u := unitOf(t, word, slices.DeleteFunc(testkit.FilesIn(t, folder, ".h"), isPython), []string{folder}, inC)
		out, err := u.compile(t)
		require.NoError(t, err, "without macros %s compiles:\n%s", word, out)
		for _, defined := range [][]string{{word}, slices.Collect(maps.Keys(testkit.Macros))} {
			out, err = u.compile(t, defined...)
			assert.Error(t, err, "%s is not detected among %v", word, defined)
			assert.Contains(t, out, "tensor.h")
		}
	}
}
