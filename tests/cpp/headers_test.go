package cpp

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// forPython are the headers that need Python's: tests/bindings compiles the others.
var forPython = []string{"nanobind.hpp", "pybind11.hpp", "python.hpp", "python_error.hpp"}

// emittedHeaders returns the names of all headers except those that need Python.
func emittedHeaders(t *testing.T) (names []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(golden.Root(t), "gen", "cpp", "dlpackgen", "*.hpp"))
	require.NoError(t, err)
	for _, path := range found {
		if !slices.Contains(forPython, filepath.Base(path)) {
			names = append(names, filepath.Base(path))
		}
	}
	require.Greater(t, len(names), 15)
	return names
}

func including(names ...string) (source string) {
	for _, name := range names {
		source += "#include <dlpackgen/" + name + ">\n"
	}
	return source
}

func TestEachHeaderCompilesAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles each header six times")
	}
	t.Parallel()
	compilers := corners()[1:]
	if tier.IsNightly() {
		compilers = matrix()
	}
	for _, name := range emittedHeaders(t) {
		more := requireEigen(t, name)
		for _, c := range compilers {
			assertCompiles(t, c, including(name), flags(gen(t), strict, more)...)
		}
	}
}

// Disabled warnings: the code is C++17, its structs have padding, shapes are pointers that are
// indexed, and a class without a source file has its virtual functions in each unit.
func TestClangCompilesWithoutWarnings(t *testing.T) {
	everything := []string{"-Weverything", "-Werror", "-Wno-padded", "-Wno-c++98-compat", "-Wno-c++98-compat-pedantic",
		"-Wno-unsafe-buffer-usage", "-Wno-weak-vtables"}
	for _, c := range matrix()[3:] {
		if testing.Short() && c.standard != "c++17" || !tier.IsNightly() && c.standard == "c++20" {
			continue
		}
		if c.standard != "c++17" {
			everything = append(everything, "-Wno-c++20-compat", "-Wno-c++17-compat", "-Wno-pre-c++17-compat",
				"-Wno-pre-c++20-compat")
		}
		assertCompiles(t, c, including("all.hpp"), flags(gen(t), everything)...)
		assertCompiles(t, c, including("all.hpp"), flags(gen(t), everything, noExceptions)...)
	}
}

// Eigen's own headers are system headers, but the code that uses them is checked.
func TestEigenCompilesWithoutWarnings(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles Eigen four times")
	}
	more := flags(gen(t), strict, requireEigen(t, "eigen.hpp"), []string{"-Wconversion", "-Wshadow"})
	for _, c := range corners() {
		if c.program == gcc.program || tier.IsNightly() {
			assertCompiles(t, c, including("eigen.hpp"), more...)
		}
		if c.program != gcc.program || tier.IsNightly() {
			assertCompiles(t, c, including("eigen.hpp"), flags(more, noExceptions)...)
		}
	}
}

func TestGccCompilesWithoutWarnings(t *testing.T) {
	more := []string{"-O2", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wcast-qual", "-Wold-style-cast",
		"-Wuseless-cast",
		"-Wnon-virtual-dtor", "-Woverloaded-virtual", "-Wnull-dereference", "-Wdouble-promotion"}
	assertCompiles(t, gcc, including("all.hpp"), flags(gen(t), strict, more)...)
}

func TestExceptionsNeedExceptions(t *testing.T) {
	assertRejects(t, "exceptions.hpp needs exceptions", gcc, including("exceptions.hpp"),
		flags(gen(t), noExceptions)...)
	assertRejects(t, "python_error.hpp needs Python.h", gcc, including("python_error.hpp"), gen(t)...)
}

var includeLine = regexp.MustCompile(`(?m)^#include <([a-z_./]+)>$`)

// The core compiles fast because it includes little; this limits its includes.
func TestIncludesOfTheCore(t *testing.T) {
	allowed := []string{"cstddef", "cstdint", "dlpack/dlpack.h", "dlpackgen/rules.h", "exception", "new",
		"type_traits", "utility"}
	text, err := os.ReadFile(filepath.Join(golden.Root(t), "gen", "cpp", "dlpackgen", "core.hpp"))
	require.NoError(t, err)
	parts := regexp.MustCompile(`(?m)^#include "(.*)"$`).FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(parts), 5)
	used := map[string]bool{}
	for _, part := range parts {
		data, err := os.ReadFile(filepath.Join(golden.Root(t), "gen", "cpp", "dlpackgen", part[1]))
		require.NoError(t, err)
		for _, m := range includeLine.FindAllStringSubmatch(string(data), -1) {
			assert.Contains(t, allowed, m[1], part[1])
			used[m[1]] = true
		}
	}
	assert.True(t, used["dlpack/dlpack.h"] && used["type_traits"], "the pattern finds them")
	out, err := compile(t, gcc, including("core.hpp"), flags(gen(t), []string{"-M", "-MG"})...)
	require.NoError(t, err)
	for _, heavy := range []string{"/string ", "/vector ", "/memory ", "/iosfwd ", "/functional "} {
		assert.NotContains(t, strings.ReplaceAll(out, "\n", " "), heavy)
	}
}

// Neither exceptions nor RTTI are used, so the object has no tables for them.
func TestTheCoreNeedsNoRuntime(t *testing.T) {
	testtool.Require(t, gcc.program, gcc.debian)
	object := filepath.Join(t.TempDir(), "core.o")
	args := append([]string{"-std=c++17", "-O2", "-x", "c++", "-c", "-o", object, "-"}, flags(gen(t), noExceptions)...)
	cmd := exec.Command(gcc.program, args...)
	cmd.Stdin = strings.NewReader(including("core.hpp") +
		"long f(DLManagedTensorVersioned* m) { auto t = dlpackgen::Managed::from_raw(m); return t->view().size(); }\n")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	symbols, err := exec.Command("nm", "--undefined-only", object).CombinedOutput()
	require.NoError(t, err, "%s", symbols)
	assert.Empty(t, strings.TrimSpace(string(symbols)), "nothing to link with")
}

func TestTwoReleasesInOneProgram(t *testing.T) {
	first, second := headers(t, "1.2"), headers(t, "1.3")
	sanitized := addresses
	if testing.Short() {
		sanitized = nil // it takes three times as long to compile with
	}
	for _, c := range []compiler{gcc, clang} {
		program := build(t, c, []string{"release_a.cpp", "release_b.cpp"}, flags(strict, sanitized, []string{
			"-DNAMESPACE_A=v1_2", "-DNAMESPACE_B=v1_3", "-I", filepath.Join(golden.Root(t), "gen", "c"),
			`-DRELEASE_A="` + filepath.Join(first, "dlpackgen", "all.hpp") + `"`,
			`-DRELEASE_B="` + filepath.Join(second, "dlpackgen", "all.hpp") + `"`,
		})...)
		passes(t, program, `\d`)
		if !tier.IsNightly() {
			break
		}
	}
}

// A header of 1.2 defines all names that the headers for 1.3 use.
func TestAnOlderHeaderMayComeFirst(t *testing.T) {
	old := filepath.Join(headers(t, "1.2"), "dlpack", "dlpack.h")
	assertCompiles(t, gcc, "#include \""+old+"\"\n"+including("all.hpp"), flags(gen(t), strict)...)
	newer := filepath.Join(headers(t, "main"), "dlpack", "dlpack.h")
	assertCompiles(t, gcc, "#include \""+newer+"\"\n"+including("all.hpp"), flags(gen(t), strict)...)
}

// Every release is rendered, compiled and run.
func TestEveryReleaseWorks(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles three releases")
	}
	t.Parallel()
	for _, version := range served() {
		if version == "1.3" && !tier.IsNightly() {
			continue
		}
		passes(t, build(t, gcc, []string{"core.cpp"}, flags([]string{"-I", headers(t, version)}, strict)...), `\d{3}`)
		passes(t, build(t, gcc, []string{"views.cpp"}, flags([]string{"-I", headers(t, version)}, strict)...), `\d{2}`)
	}
}

// formatted are the extensions of C, C++ and CUDA.
var formatted = []string{".c", ".h", ".cpp", ".hpp", ".cu"}

// sources lists the hand-written files of this project in these languages.
func sources(t *testing.T, root string) (files []string) {
	t.Helper()
	out, err := exec.Command("git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard").Output()
	require.NoError(t, err)
	foreign := regexp.MustCompile(`^(?:gen|backends|golden)/|/testdata/(?:facts|darwin)/`)
	kinds := map[string]bool{}
	for _, name := range strings.Fields(string(out)) {
		if slices.Contains(formatted, filepath.Ext(name)) && !foreign.MatchString(name) {
			kinds[filepath.Ext(name)], files = true, append(files, filepath.Join(root, name))
		}
	}
	require.Len(t, kinds, len(formatted), "files of each kind")
	return files
}

// rendered lists the generated C and C++: the committed files, and the library of all callers. Of
// files with the same text, also as one of sources, it lists one. Exceptions would be listed here.
func rendered(t *testing.T, root string, sources []string) (files []string) {
	t.Helper()
	seen := map[string]bool{}
	isNew := func(name string) bool {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		known := seen[string(text)]
		seen[string(text)] = true
		return !known
	}
	for _, name := range sources {
		isNew(name)
	}
	made := t.TempDir()
	for _, tests := range []string{"callers", "torchkernels"} {
		config := filepath.Join(root, "tests", tests, "testdata", "dlpackgen.yaml")
		testkit.Generate(t, config, filepath.Join(made, tests))
	}
	for _, folder := range []string{
		filepath.Join(root, "gen"), filepath.Join(root, "backends"), filepath.Join(root, "golden", "out"), made,
	} {
		require.NoError(t, filepath.WalkDir(folder, func(name string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && slices.Contains(formatted, filepath.Ext(name)) && isNew(name) {
				files = append(files, name)
			}
			return err
		}))
	}
	return files
}

// clang-format decides the style of C and C++, in .clang-format of the root. What is rendered has
// its form too, although the generator does not run it.
func TestSourcesAreFormatted(t *testing.T) {
	root := golden.Root(t)
	format := filepath.Join(root, ".venv", "bin", "clang-format")
	if _, err := os.Stat(format); err != nil {
		t.Skip("needs clang-format from tests/requirements.txt: make setup")
	}
	files := sources(t, root)
	require.Greater(t, len(files), 250)
	generated := rendered(t, root, files)
	require.Greater(t, len(generated), 50)
	style := "--style=file:" + filepath.Join(root, ".clang-format")
	out, err := exec.Command(format, append(append([]string{style, "--dry-run", "-Werror"}, files...),
		generated...)...).CombinedOutput()
	assert.NoError(t, err, "%s", out)
	ugly := filepath.Join(t.TempDir(), "ugly.hpp")
	require.NoError(t, os.WriteFile(ugly, []byte("int  f( );\n"), 0o600))
	assert.Error(t, exec.Command(format, style, "--dry-run", "-Werror", ugly).Run(), "it detects the other ones")
	header, err := os.ReadFile(filepath.Join(root, "gen", "c", "dlpack", "dlpack.h"))
	require.NoError(t, err)
	changed := mutant.Once(t, string(header), "void* data;", "void *data;")
	require.NoError(t, os.WriteFile(ugly, []byte(changed), 0o600))
	assert.Error(t, exec.Command(format, style, "--dry-run", "-Werror", ugly).Run(), "it detects different renderings")
}
