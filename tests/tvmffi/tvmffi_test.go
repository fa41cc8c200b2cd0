// Package tvmffi calls described kernels through tvm-ffi, from Python and C++, compared with the
// Python module from the same description and in the same library.
package tvmffi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// builder has Python with tvm-ffi, its headers, and a build folder.
type builder struct{ python, headers, dir string }

// prepare finds tvm-ffi and generates the sources, or skips the test.
func prepare(t *testing.T) builder {
	t.Helper()
	if testing.Short() {
		t.Skip("builds libraries for some seconds, and -short was given")
	}
	python := testtool.RequirePython(t)
	if !testtool.Has(python, "tvm_ffi", "numpy") {
		t.Skip("needs apache-tvm-ffi and numpy: make setup")
	}
	b := builder{python, testtool.RequireHeaders(t, python), t.TempDir()}
	testkit.Generate(t, "testdata/dlpackgen.yaml", b.dir)
	require.NoError(t, os.Mkdir(filepath.Join(b.dir, "tried"), 0o700))
	return b
}

func (b builder) library() string { return filepath.Join(b.dir, "tried/_kernels.abi3.so") }

// authors are the sources of the kernels.
func authors(t *testing.T) (all []string) {
	t.Helper()
	for _, name := range []string{"../kernels/testdata/author.c", "testdata/direct.c"} {
		path, err := filepath.Abs(name)
		require.NoError(t, err)
		all = append(all, path)
	}
	return all
}

// build builds one library with the Python module and the tvm-ffi functions.
func (b builder) build(t *testing.T, flags ...string) {
	t.Helper()
	args := append([]string{"-std=c11", testkit.Level(), "-g", "-fPIC", "-shared", "-fvisibility=hidden",
		"-DPy_LIMITED_API=0x030B0000", "-Ic", "-Ipython", "-Ikernels", "-isystem", b.headers, "-o", b.library()},
		flags...)
	args = append(args, "tvmffi/kernels_tvmffi.c", "python/_kernels.c", "kernels/kernels.c", "-pthread")
	args = append(args, authors(t)...)
	b.run(t, testtool.RequireRunCompiler(t, "gcc"), args...)
}

func (b builder) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	return testkit.RunIn(t, b.dir, name, args...)
}

// script runs a Python program with the library.
func (b builder) script(env []string, args ...string) (string, error) {
	cmd := exec.Command(b.python, args...)
	if slices.Contains(args, "torch") {
		cmd = testkit.Forked(b.python, testkit.Torch, args...)
	}
	cmd.Env = append(os.Environ(), env...)
	if !slices.Contains(args, "torch") {
		cmd.Env = append(cmd.Env, "TVM_FFI_DISABLE_TORCH_C_DLPACK=1") // it would import torch
	}
	cmd.Env = append(cmd.Env, "LIBRARY="+b.library(), "PYTHONDONTWRITEBYTECODE=1",
		"PYTHONPATH="+b.dir+string(os.PathListSeparator)+filepath.Join(b.dir, "tvmffi"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var warnings = []string{"-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror"}

// The source compiles without warnings, and each function behaves like the module's.
func TestPython(t *testing.T) {
	b := prepare(t)
	b.build(t, warnings...)
	args := []string{"called.py"}
	if testtool.Has(b.python, "torch") {
		args = append(args, "torch")
	}
	out, err := b.script(nil, args...)
	require.NoError(t, err, out)
	assert.Contains(t, out, " tests")
	out, err = b.script(nil, "loaded.py")
	require.NoError(t, err, out)
	assert.Contains(t, out, "loaded")
}

// Neither AddressSanitizer nor UndefinedBehaviorSanitizer reports an error.
func TestSanitized(t *testing.T) {
	tier.OnlyNightly(t)
	b := prepare(t)
	b.build(t, "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
	preloaded := ""
	for _, name := range []string{"libasan.so", "libstdc++.so.6"} { // libtvm_ffi needs it, and throws with it
		path, err := exec.Command(testtool.Require(t, "g++", "g++"), "-print-file-name="+name).Output()
		require.NoError(t, err)
		preloaded += " " + strings.TrimSpace(string(path))
	}
	env := []string{"LD_PRELOAD=" + strings.TrimSpace(preloaded), "ASAN_OPTIONS=detect_leaks=0",
		"UBSAN_OPTIONS=halt_on_error=1", "SANITIZED=1"}
	for _, script := range []string{"called.py", "loaded.py"} {
		out, err := b.script(env, script)
		require.NoError(t, err, out)
		assert.NotContains(t, out, "AddressSanitizer")
	}
}

// buildPlain builds a library without the module, which needs no Python symbols.
func (b builder) buildPlain(t *testing.T, flags ...string) {
	t.Helper()
	b.run(t, testtool.RequireCompiler(t, "gcc", "gcc"),
		slices.Concat(warnings, []string{"-std=c11", testkit.Level(), "-fPIC",
			"-shared", "-fvisibility=hidden", "-Wl,-z,defs", "-Ic", "-Ikernels", "-o", "plain.so"}, flags,
			[]string{"tvmffi/kernels_tvmffi.c", "kernels/kernels.c", "-pthread"}, authors(t))...)
}

// The library with only the functions needs only libc.
func TestNeedsLibcAlone(t *testing.T) {
	b := prepare(t)
	b.buildPlain(t, "-O2") // gcc finds more warnings while it optimizes
	for _, line := range strings.Split(b.run(t, testtool.Require(t, "readelf", "binutils"), "-d", "plain.so"), "\n") {
		if strings.Contains(line, "(NEEDED)") {
			assert.Regexp(t, `\[(libc|libm)\.so\.6\]`, line)
		}
	}
}

// streamMistakes pass another stream than the environment's; C++ detects each.
//
//mutants:in templates/tvmffi/*.h
var streamMistakes = []mutation.Mutant{
	{File: "tvmffi/kernels_tvmffi.c", Old: "return get((int32_t)device.device_type, device.device_id);",
		New: "(void)get; return NULL;"},
	{File: "tvmffi/kernels_tvmffi.c", Old: "return get((int32_t)device.device_type, device.device_id);",
		New: "return get((int32_t)device.device_type, 0);"},
	{File: "tvmffi/kernels_tvmffi.c", Old: "if (device.device_type == kDLCPU || !get) return NULL;",
		New: "if (!get) return NULL;"},
}

// tvm-ffi's C++ calls the functions with its own values, and receives its own errors. The kernels
// receive the environment's stream.
func TestCpp(t *testing.T) {
	b := prepare(t)
	host := testtool.RequirePackage(t, b.python, "tvm_ffi", "make setup")
	caller, err := filepath.Abs("testdata/caller.cpp")
	require.NoError(t, err)
	b.run(t, testtool.RequireRunCompiler(t, "g++"), "-std=c++17", "-isystem", host+"/include", "-o", "caller",
		caller,
		"-L"+host+"/lib", "-ltvm_ffi", "-Wl,-rpath,"+host+"/lib")
	written := mutation.Write(t, b.dir, streamMistakes)
	require.Empty(t, written.Apart)
	b.buildPlain(t, written.Flags...)
	assert.Equal(t, "called\n", b.run(t, "./caller", "./plain.so"))
	for i, mistake := range streamMistakes {
		cmd := exec.Command("./caller", "./plain.so")
		cmd.Dir, cmd.Env = b.dir, append(os.Environ(), mutation.Env(i+1))
		out, err := cmd.CombinedOutput()
		assert.Error(t, err, mistake.New)
		assert.Contains(t, string(out), "devices(): the kernel failed with status ", mistake.New)
	}
}

// TVM calls the functions of the module, as global functions, and from a compiled program.
func TestTVM(t *testing.T) {
	b := prepare(t)
	b.buildPlain(t)
	python := filepath.Join(golden.Root(t), ".cache/tvm/bin/python")
	if !testtool.Has(python, "tvm") {
		t.Skip("needs the wheels of tests/requirements-tvm.txt: make setup")
	}
	cmd := exec.Command(python, "called_by_tvm.py")
	cmd.Env = append(os.Environ(), "LIBRARY="+filepath.Join(b.dir, "plain.so"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "called by TVM")
}

// The last TVM release with the former ABI calls them by their legacy names.
func TestLegacyTVM(t *testing.T) {
	b := prepare(t)
	python := filepath.Join(golden.Root(t), ".cache/legacytvm/bin/python")
	if !testtool.Has(python, "tvm") {
		t.Skip("needs the wheels of tests/requirements-legacytvm.txt: make setup")
	}
	b.buildPlain(t)
	cmd := exec.Command(python, "called_by_legacy_tvm.py")
	cmd.Env = append(os.Environ(), "LIBRARY="+filepath.Join(b.dir, "plain.so"), "TVM_USE_RUNTIME_LIB=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "called by TVM 0.19")
}

// tvm-ffi's Rust calls the functions with its own tensors, and receives its own errors.
func TestRust(t *testing.T) {
	tier.OnlyNightly(t)
	b := prepare(t)
	cargo := testtool.Require(t, "cargo", "cargo")
	crate, bin := t.TempDir(), filepath.Dir(b.python)
	require.NoError(t, os.CopyFS(crate, os.DirFS("testdata/rust")))
	cmd := exec.Command(cargo, "build", "--quiet", "--offline") // tvm-ffi-config reports libtvm_ffi to it
	cmd.Dir, cmd.Env = crate, append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); strings.Contains(string(out), "--offline") {
		t.Skip("needs the crate tvm-ffi: cargo fetch in tests/tvmffi/testdata/rust")
	} else {
		require.NoError(t, err, "%s", out)
	}
	b.buildPlain(t)
	folder, err := exec.Command(filepath.Join(bin, "tvm-ffi-config"), "--libdir").Output()
	require.NoError(t, err)
	caller := exec.Command(filepath.Join(crate, "target/debug/caller"), filepath.Join(b.dir, "plain.so"))
	caller.Env = append(os.Environ(), "LD_LIBRARY_PATH="+strings.TrimSpace(string(folder)))
	out, err := caller.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Equal(t, "ValueError: divide(): expected a + b != 30, where a = 20, b = 10\n", string(out))
}

// mistakes break the generated source in one place each.
var mistakes = map[string][2]string{
	"too many arguments pass": {"if (DLPACKGEN_RARE(count > arguments && count != arguments + results))", "if (0)"},
	"too few arguments pass":  {"if (DLPACKGEN_RARE(count < required))", "if (0)"},
	"strides are left out":    {"if (!found->strides && found->ndim != 0) found = dlpackgen_tvmffi_add_strides(found, strided);", ""},
	"texts end at a NUL": {"if (!memchr(*text, 0, size)) return DLPACKGEN_STATUS_OK;",
		"return DLPACKGEN_STATUS_OK;"},
	"bools are items": {"if (scalar.kind == DLPACKGEN_SCALAR_INTEGER) {",
		"if (scalar.kind == DLPACKGEN_SCALAR_INTEGER || scalar.kind == DLPACKGEN_SCALAR_TRUTH) {"},
	"long lists are cut": {"if (count <= (int64_t)(sizeof list->few / sizeof(int64_t))) return DLPACKGEN_STATUS_OK;",
		"if (count > 16) list->count = 16; return DLPACKGEN_STATUS_OK;"},
	"integers are cut": {
		"if (is_signed) holds = (negative ? ~digits : digits) >> (bits - 1) == 0; else holds = !negative && (bits == 64 || digits >> bits == 0);", "holds = 1;"},
	"floats are cut": {
		"if (status || *number != *number || *number - *number != 0 || (*number <= most && *number >= -most)) return status;",
		"return status;"},
	"natural numbers are signed": {"if (number <= INT64_MAX || (make && make(&bytes, &value) == 0)) return value;",
		"return value;"},
	"big numbers are not natural": {"if (count != 2 || words[1] != 0) return big;", "return big;"},
	"nothing is copied": {
		"if (!from || dlpackgen_validate(from, 0, 0) != DLPACKGEN_OK || dlpackgen_is_contiguous(from)) return 0;",
		"return 0;"},
	"no allocator is no error": {"if (DLPACKGEN_RARE(!get || !make || !get()))",
		"if (DLPACKGEN_RARE(!get || !make))"},
	"every error is one": {"if (status != DLPACKGEN_TVMFFI_RAISED && set) set(dlpackgen_tvmffi_class(status), text);",
		"if (set) set(\"RuntimeError\", text);"},
	"the rest is one value": {"if (made > 1) return dlpackgen_tvmffi_pack(function, values, made, result, message);",
		""},
	"any count is direct":   {"count == 6 && args[1]", "args[1]"},
	"any number is a float": {"args[1].type_index == DLPACKGEN_TVM_FFI_FLOAT && args[2]", "args[2]"},
	"any number is an int":  {"args[2].type_index == DLPACKGEN_TVM_FFI_INT && args[3]", "args[3]"},
	"any number is a bool":  {"args[3].type_index == DLPACKGEN_TVM_FFI_BOOL && (args[4]", "(args[4]"},
	"any value is None":     {"(args[4].type_index == DLPACKGEN_TVM_FFI_NONE || dlpackgen_tvmffi_plain_tensor(&args[4])) &&", ""},
	"direct calls never fail": {"return DLPACKGEN_RARE(failure) ? dlpackgen_tvmffi_raise_direct(failure) : 0;",
		"return 0;"},
	"lists leak": {"if (list->items != &list->few) free(list->items);", ""},
}

// Each mistake fails a test.
func TestMistakesAreSeen(t *testing.T) {
	tier.OnlyNightly(t)
	b := prepare(t)
	var names []string
	var all []mutation.Mutant
	for name, m := range mistakes {
		names = append(names, name)
		all = append(all, mutation.Mutant{File: "tvmffi/kernels_tvmffi.c", Old: m[0], New: m[1]})
	}
	written := mutation.Write(t, b.dir, all)
	b.build(t, written.Flags...)
	called, before := []string{"../mutants.py", "numpy,tvm_ffi"}, "numpy"
	if testtool.Has(b.python, "torch") {
		before += ",torch" // tvm-ffi imports it
	}
	for i := range len(names) + 1 {
		called = append(called, fmt.Sprint(i), "called.py")
	}
	out, err := b.script(nil, called...)
	require.NoError(t, err, out)
	loaded := []string{"../mutants.py", before}
	for i := range len(names) + 1 {
		if strings.Contains(out, fmt.Sprintf("missed %d called.py\n", i)) {
			loaded = append(loaded, fmt.Sprint(i), "loaded.py")
		}
	}
	more, err := b.script(nil, loaded...)
	require.NoError(t, err, more)
	for i, name := range append([]string{"none"}, names...) {
		t.Run(name, func(t *testing.T) {
			require.NotContains(t, written.Apart, i, "it is not a statement or an expression")
			passes := strings.Contains(out, fmt.Sprintf("missed %d called.py\n", i)) &&
				strings.Contains(more, fmt.Sprintf("missed %d loaded.py\n", i))
			assert.Equal(t, name == "none", passes, "%s\n%s", out, more)
		})
	}
}
