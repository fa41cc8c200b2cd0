// Package callers builds one library with the callers of all hosts, and calls it through each of
// them in one process. Each caller is also tested in a separate package.
package callers

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

	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m, "callers")) }

// hosts are the hosts in one.py.
var hosts = []string{"python", "torch", "jax", "tvmffi", "onnxruntime", "ufunc", "paddle"}

// sources are the C files of the library below the generated folders.
var sources = []string{"python/_kernels.c", "kernels/kernels.c", "torchshim/kernels_torch.c", "jax/kernels_jax.c",
	"tvmffi/kernels_tvmffi.c", "onnxruntime/kernels_onnxruntime.c", "ufunc/kernels_ufunc.c",
	"paddle/kernels_paddle.c"}

// flags are the flags of docs/callers/index.md, except -Os, which is slow and tested with one
// library. On x86, gnu2 avoids a requirement on the loader.
var flags = []string{"-std=c11", "-O0", "-fPIC", "-fvisibility=hidden", "-mtls-dialect=gnu2", "-Wall", "-Wextra",
	"-Werror", "-DPy_LIMITED_API=0x030B0000"}

// library builds it, and returns its path.
func library(t *testing.T) string {
	t.Helper()
	dir := testkit.Built(t, "library", func(dir string) {
		testkit.Generate(t, "testdata/dlpackgen.yaml", dir)
		var files []string
		for _, source := range sources {
			files = append(files, filepath.Join(dir, source))
		}
		compile(t, dir, filepath.Join(dir, "_kernels.abi3.so"), append(files, "testdata/author.c", "-Os")...)
	})
	return filepath.Join(dir, "_kernels.abi3.so")
}

// compile builds a library from the generated sources in a folder. C++ exceptions pass only through
// kernels_torch.c: no other source needs unwind tables.
func compile(t *testing.T, dir, library string, args ...string) {
	t.Helper()
	gcc := testtool.RequireCompiler(t, "gcc", "gcc")
	all := slices.Concat(flags, []string{"-isystem", testtool.RequireHeaders(t, testtool.RequirePython(t))})
	for _, folder := range []string{"c", "python", "kernels"} {
		all = append(all, "-I", filepath.Join(dir, folder))
	}
	object := filepath.Join(dir, "kernels_torch.o")
	for i, arg := range args {
		if strings.HasSuffix(arg, "kernels_torch.c") {
			testkit.Run(t, gcc, slices.Concat(all, []string{"-fexceptions", "-c", arg, "-o", object})...)
			args[i] = object
		}
	}
	all = slices.Concat(all, []string{"-fno-asynchronous-unwind-tables", "-shared", "-Wl,-z,noseparate-code"}, args)
	testkit.Run(t, gcc, append(all, "-o", library, "-lm")...)
}

// called runs one.py with hosts in an order.
func called(t *testing.T, order string) (string, error) {
	t.Helper()
	file := library(t)
	dir := filepath.Dir(file)
	paths := []string{dir, "../onnxruntime"}
	for _, folder := range []string{"torchshim", "jax", "tvmffi", "ufunc", "paddle"} {
		paths = append(paths, filepath.Join(dir, folder))
	}
	cmd := exec.Command(testtool.RequirePython(t), "-W", "ignore", "one.py", order)
	for _, name := range []string{"first", "other"} {
		paths = append(paths, filepath.Join(packages(t), name))
	}
	cmd.Env = append(os.Environ(), "LIBRARY="+file, "PYTHONPATH="+strings.Join(paths, ":"), "JAX_PLATFORMS=cpu",
		"PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// requireHosts skips the test if a host is not installed.
func requireHosts(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("imports every framework, and -short was given")
	}
	if !testtool.Has(testtool.RequirePython(t), "torch", "jax", "tvm_ffi", "onnxruntime", "paddle") {
		t.Skip("needs torch, jax, tvm-ffi, onnxruntime and paddle: make setup")
	}
}

// orders are a Tuscan square: each host is first once, last once, and directly after each other
// host once.
var orders = []string{
	"python,torch,tvmffi,ufunc,paddle,jax,onnxruntime",
	"torch,paddle,tvmffi,jax,ufunc,onnxruntime,python",
	"jax,paddle,python,tvmffi,torch,onnxruntime,ufunc",
	"tvmffi,paddle,onnxruntime,torch,python,ufunc,jax",
	"onnxruntime,jax,torch,ufunc,tvmffi,python,paddle",
	"ufunc,python,jax,tvmffi,onnxruntime,paddle,torch",
	"paddle,ufunc,torch,jax,python,onnxruntime,tvmffi",
}

// neighbours counts the pairs of consecutive hosts; "" is the beginning and the end.
func neighbours(orders []string) map[[2]string]int {
	count := map[[2]string]int{}
	for _, order := range orders {
		before := ""
		for _, host := range append(strings.Split(order, ","), "") {
			count[[2]string{before, host}]++
			before = host
		}
	}
	return count
}

func TestOrdersHaveEachPair(t *testing.T) {
	count := neighbours(orders)
	for _, before := range append([]string{""}, hosts...) {
		for _, behind := range append([]string{""}, hosts...) {
			if before != behind {
				assert.Equal(t, 1, count[[2]string{before, behind}], "%q before %q", before, behind)
			}
		}
	}
	assert.NotEqual(t, count, neighbours(append([]string{orders[1]}, orders[1:]...)))
}

// inOrder calls through the hosts of an order in one process.
func inOrder(t *testing.T, order string) {
	t.Helper()
	t.Run(order, func(t *testing.T) {
		out, err := called(t, order)
		require.NoError(t, err, out)
		assert.Contains(t, out, "called by "+strings.ReplaceAll(order, ",", ", "))
	})
}

// All hosts call the same functions of one library in one process, in every order, with the same
// values and the same error messages.
func TestEveryHostCallsOneLibrary(t *testing.T) {
	requireHosts(t)
	for i, order := range orders {
		if i == 0 || tier.IsNightly() {
			inOrder(t, order)
		}
	}
}

// permute calls visit with each order of hosts.
func permute(hosts []string, visit func([]string)) {
	if len(hosts) == 0 {
		visit(nil)
	}
	for i, host := range hosts {
		rest := slices.Concat(hosts[:i], hosts[i+1:])
		permute(rest, func(order []string) { visit(append([]string{host}, order...)) })
	}
}

// The five frameworks in each order. The Python module and the ufuncs, which need only NumPy, are
// at different positions.
func TestEveryOrderOfFrameworks(t *testing.T) {
	tier.OnlyNightly(t)
	requireHosts(t)
	turn := 0
	permute([]string{"torch", "jax", "tvmffi", "onnxruntime", "paddle"}, func(order []string) {
		order = slices.Insert(order, turn%6, "python")
		order = slices.Insert(order, turn/6%7, "ufunc")
		inOrder(t, strings.Join(order, ","))
		turn++
	})
	assert.Equal(t, 120, turn)
}

// The calling program detects wrong values and different messages.
func TestMistakesAreSeen(t *testing.T) {
	tier.OnlyNightly(t)
	requireHosts(t)
	for old, fresh := range map[string]string{
		"want_softmax():\n    e": "want_softmax():\n    return X\n    e", "expected n = 8": "expected n = 9",
	} {
		text, err := os.ReadFile("one.py")
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), "one.py")
		require.NoError(t, os.WriteFile(file, []byte(mutant.Once(t, string(text), old, fresh)), 0o600))
		cmd := exec.Command(testtool.RequirePython(t), file, "python")
		cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Dir(library(t)), "PYTHONDONTWRITEBYTECODE=1")
		out, err := cmd.CombinedOutput()
		assert.Error(t, err, "%s", out)
		assert.Contains(t, string(out), "AssertionError")
	}
}

// The library loads without a framework: it needs libc and libm.
func TestNeedsLibcAlone(t *testing.T) {
	out, err := exec.Command(testtool.Require(t, "readelf", "binutils"), "-d", library(t)).Output()
	require.NoError(t, err)
	needed := regexp.MustCompile(`\(NEEDED\).*\[([^]]+)\]`).FindAllStringSubmatch(string(out), -1)
	require.NotEmpty(t, needed)
	for _, name := range needed {
		assert.Regexp(t, `^lib[cm]\.so`, name[1])
	}
}
