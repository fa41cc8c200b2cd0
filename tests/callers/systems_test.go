package callers

import (
	"debug/pe"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// systems are compilers for other systems. clang also reports unused functions.
var systems = map[string]struct{ cc, debian, flags string }{
	"macOS": {"clang-16", "clang-16", "--target=arm64-apple-macos11 -ffreestanding -nostdlibinc -isystem HEADERS " +
		"-include testdata/systems/python_config.h"},
	"Windows": {"x86_64-w64-mingw32-gcc", "mingw-w64", "-include testdata/systems/python_config.h"},
}

// macHeaders writes the standard headers, each with all used declarations of macOS.
func macHeaders(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sys"), 0o700))
	all, err := os.ReadFile("testdata/systems/macos.h")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "macos.h"), all, 0o600))
	for _, name := range strings.Fields(
		"assert ctype dlfcn errno inttypes math pthread signal stdio stdlib string time " +
			"unistd wchar wctype sys/select sys/stat sys/time sys/types") {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".h"), []byte("#include <macos.h>\n"), 0o600))
	}
	return dir
}

// compiled compiles a source for a system, without code generation, and returns the compiler's
// output.
func compiled(t *testing.T, system, dir, source string) (string, error) {
	t.Helper()
	of := systems[system]
	args := strings.Fields("-std=c11 -Wall -Wextra -Werror -fsyntax-only -fexceptions -fvisibility=hidden " +
		"-DPy_LIMITED_API=0x030B0000 " + strings.ReplaceAll(of.flags, "HEADERS", macHeaders(t)))
	if strings.Contains(source, "/go/") { // cgo requires no warnings
		args = append(args, "-Wno-unused-function")
	}
	args = append(args, "-isystem", testtool.RequireHeaders(t, testtool.RequirePython(t)))
	for _, folder := range []string{"c", "python", "kernels"} {
		args = append(args, "-I", filepath.Join(dir, folder))
	}
	out, err := exec.Command(testtool.Require(t, of.cc, of.debian), append(args, source)...).CombinedOutput()
	return string(out), err
}

// The C sources of every caller, including the Go callers, compile without warnings for Windows and
// macOS. They are neither linked nor run.
func TestTheSourcesCompileForOtherSystems(t *testing.T) {
	callers := append([]string{"go/dlpack/kernels/call.c", "go/dlpack/tvmffi/call.c"}, sources...)
	const warned = "int f(void) {\n  int unused;\n  return 0;\n}\n"
	for name, config := range map[string]string{"two": "testdata/dlpackgen.yaml",
		"all": "testdata/systems/kernels.yaml"} {
		dir := t.TempDir()
		testkit.Generate(t, config, dir)
		for system := range systems {
			t.Run(system+"/"+name, func(t *testing.T) {
				for _, source := range callers {
					if file := filepath.Join(dir, source); exists(file) {
						out, err := compiled(t, system, dir, file)
						assert.NoError(t, err, "%s", out)
					}
				}
				file := filepath.Join(t.TempDir(), "unused.c")
				require.NoError(t, os.WriteFile(file, []byte(warned), 0o600))
				out, err := compiled(t, system, dir, file)
				assert.Error(t, err)
				assert.Contains(t, out, "unused")
			})
		}
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// The Go callers build for Windows, with their C.
func TestTheGoCallersBuildForWindows(t *testing.T) {
	if testing.Short() {
		t.Skip("builds Go with cgo for another system, and -short was given")
	}
	dir := t.TempDir()
	testkit.Generate(t, "testdata/systems/kernels.yaml", dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/tried\n\ngo 1.24\n"),
		0o600))
	build := exec.Command("go", "build", "./go/dlpack/kernels", "./go/dlpack/tvmffi")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=1", "GOFLAGS=-trimpath", "GOWORK=off",
		"CC="+testtool.Require(t, "x86_64-w64-mingw32-gcc", "mingw-w64"))
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// objects compiles the library's sources for a system, with warnings as errors, and returns the
// objects.
func objects(t *testing.T, dir, cc string, flags ...string) (files []string) {
	t.Helper()
	all := append([]string{"-std=c11", testkit.Level(), "-Wall", "-Wextra", "-Werror", "-fexceptions",
		"-DPy_LIMITED_API=0x030B0000",
		"-include", "testdata/systems/python_config.h", "-isystem",
		testtool.RequireHeaders(t, testtool.RequirePython(t))}, flags...)
	for _, folder := range []string{"c", "python", "kernels"} {
		all = append(all, "-I", filepath.Join(dir, folder))
	}
	for _, source := range append(slices.Clone(sources), "testdata/author.c") {
		file := source
		if source != "testdata/author.c" {
			file = filepath.Join(dir, source)
		}
		object := filepath.Join(t.TempDir(), filepath.Base(source)+".o")
		testkit.Run(t, cc, append(slices.Clone(all), "-c", file, "-o", object)...)
		files = append(files, object)
	}
	return files
}

// The library with all callers is linked for macOS, and needs only macOS's own library and Python.
// It is not run.
func TestTheLibraryIsLinkedForMacOS(t *testing.T) {
	tier.OnlyNightly(t)
	dir := t.TempDir()
	testkit.Generate(t, "testdata/dlpackgen.yaml", dir)
	for _, arch := range []string{"arm64", "amd64"} {
		cc, file := testtool.RequireMacCompiler(t, arch), filepath.Join(dir, arch+".so")
		testkit.Run(t, cc, append(objects(t, dir, cc, "-fvisibility=hidden"), "-shared",
			"-Wl,-undefined,dynamic_lookup",
			"-o", file)...)
		libraries, anywhere := testtool.MacImports(t, file)
		assert.Equal(t, []string{"/usr/lib/libSystem.B.dylib"}, libraries)
		assert.Greater(t, len(anywhere), 50)
		for _, symbol := range anywhere {
			assert.Regexp(t, "^__?Py", symbol)
		}
	}
}

// namesOfPython are the undefined symbols of objects that Python's library defines.
var namesOfPython = regexp.MustCompile(`(?m) U (?:__imp_)?(_?Py\w+)$`)

// The library with all callers is linked for Windows, and needs only Windows' own libraries and
// Python's, which is replaced with a library of its names. It is not run.
func TestTheLibraryIsLinkedForWindows(t *testing.T) {
	tier.OnlyNightly(t)
	const prefix = "x86_64-w64-mingw32-"
	cc, dir := testtool.Require(t, prefix+"gcc", "mingw-w64"), t.TempDir()
	testkit.Generate(t, "testdata/dlpackgen.yaml", dir)
	files := objects(t, dir, cc, "-DPy_ENABLE_SHARED", "-DHAVE_DECLSPEC_DLL")
	out, err := exec.Command(prefix+"nm", append([]string{"-u"}, files...)...).Output()
	require.NoError(t, err)
	names := "LIBRARY python3.dll\nEXPORTS\n"
	for _, name := range namesOfPython.FindAllStringSubmatch(string(out), -1) {
		names += name[1] + "\n"
	}
	exports, python := filepath.Join(dir, "python3.def"), filepath.Join(dir, "libpython3.a")
	require.NoError(t, os.WriteFile(exports, []byte(names), 0o600))
	testkit.Run(t, prefix+"dlltool", "-d", exports, "-l", python)
	testkit.Run(t, cc, append(files, "-shared", "-static-libgcc", python, "-o",
		filepath.Join(dir, "_kernels.pyd"))...)
	library, err := pe.Open(filepath.Join(dir, "_kernels.pyd"))
	require.NoError(t, err)
	defer library.Close()
	symbols, err := library.ImportedSymbols()
	require.NoError(t, err)
	require.Greater(t, len(symbols), 50)
	for _, symbol := range symbols {
		assert.Regexp(t, `^_?Py\w+:python3\.dll$|:(?i:kernel32|msvcrt)\.dll$`, symbol)
	}
}
