package callers

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

const table = "testdata/mistakes/table.yaml"

// mistaken builds the libraries for the table of mistakes, and returns their folders.
func mistaken(t *testing.T) []string {
	t.Helper()
	var folders []string
	for _, name := range []string{"mixed", "written"} {
		folders = append(folders, testkit.Built(t, name, func(dir string) {
			testkit.Generate(t, "testdata/mistakes/"+name+".yaml", dir)
			files, err := filepath.Glob(filepath.Join(dir, name, "*kernels*.c"))
			require.NoError(t, err)
			args := append(files, filepath.Join(dir, "kernels", "kernels.c"), "testdata/mistakes/author.c",
				"-DAUTHOR_"+name,
				"-I"+filepath.Join(dir, name))
			compile(t, dir, filepath.Join(dir, name, "_kernels.abi3.so"), args...)
		}))
	}
	return folders
}

// native generates the callers for compiled languages from the same descriptions, and returns their
// folder.
func native(t *testing.T) string {
	t.Helper()
	return testkit.Built(t, "native", func(dir string) {
		config := "version: 1\ndlpack: \"1.3\"\ntargets: {c: {}, kernels: {}, cpp: {}, torch: {path: cpp}, " +
			"go: {path: go/dlpack, import: example.com/called/go/dlpack}}\nkernels:\n"
		config += described(t, "mixed") + described(t, "written")
		for name, text := range map[string]string{"go.mod": "module example.com/called\n\ngo 1.24\n",
			"native.yaml": config} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		testkit.Generate(t, filepath.Join(dir, "native.yaml"), dir)
		for _, name := range []string{"mixed", "written"} {
			testkit.Run(t, testtool.RequireCompiler(t, "gcc", "gcc"), "-std=c11", testkit.Level(), "-fPIC",
				"-I"+dir+"/c",
				"-I"+dir+"/kernels", "-DAUTHOR_"+name, "-c", "testdata/mistakes/author.c", "-o",
				filepath.Join(dir, name+".o"))
		}
		testkit.Run(t, testtool.RequireCompiler(t, "gcc", "gcc"), "-std=c11", testkit.Level(), "-fPIC", "-I"+dir+"/c",
			"-I"+dir+"/kernels", "-c", filepath.Join(dir, "kernels/kernels.c"), "-o", filepath.Join(dir, "kernels.o"))
		testkit.Run(t, testtool.Require(t, "ar", "binutils"), "rcs", dir+"/libauthor.a", dir+"/mixed.o",
			dir+"/written.o")
	})
}

// inCpp builds the calls through the C++ functions, and returns the library.
func inCpp(t *testing.T) string {
	t.Helper()
	dir := native(t)
	return filepath.Join(testkit.Built(t, "cpp", func(made string) {
		testkit.Run(t, testtool.RequireCompiler(t, "g++", "g++"), "-std=c++17", "-O0", "-fPIC", "-shared",
			"-Itestdata/mistakes", "-I"+dir+"/c", "-I"+dir+"/cpp", "-I"+dir+"/kernels", "testdata/mistakes/called.cpp",
			dir+"/kernels.o", dir+"/libauthor.a", "-o", filepath.Join(made, "called.so"), "-lm")
	}), "called.so")
}

// inGo builds the calls through the Go functions, and returns the library.
func inGo(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(native(t))
	require.NoError(t, err)
	return filepath.Join(testkit.Built(t, "go", func(made string) {
		here, err := filepath.Abs("testdata/mistakes")
		require.NoError(t, err)
		require.NoError(t, os.CopyFS(filepath.Join(dir, "called"), os.DirFS(filepath.Join(here, "called"))))
		testkit.CgoFlags(t, filepath.Join(dir, "called"), "main", "-I"+here+" -I"+dir+"/c")
		output, err := filepath.Abs(filepath.Join(made, "called.so"))
		require.NoError(t, err)
		cmd := exec.Command("go", "build", "-buildmode=c-shared", "-o", output, "./called")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-trimpath",
			"CGO_CFLAGS="+testkit.Level(), "CGO_LDFLAGS=-L"+dir+" -lauthor -lm")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}), "called.so")
}

// inTorch compiles the operators against libtorch, and returns the library.
func inTorch(t *testing.T) string {
	t.Helper()
	dir := native(t)
	return filepath.Join(testkit.Built(t, "torch", func(made string) {
		python := testtool.RequirePython(t)
		headers := testtool.RequireHeaders(t, python)
		torch := testtool.RequirePackage(t, python, "torch", "pip install -r tests/requirements-frameworks.txt")
		testkit.Run(t, testtool.RequireCompiler(t, "g++", "g++"), "-std=c++20", "-O0", "-fPIC", "-shared",
			"-fvisibility=hidden", "-I"+dir+"/c", "-I"+dir+"/cpp", "-I"+dir+"/kernels", "-isystem", torch+"/include",
			"-isystem", headers, dir+"/cpp/dlpackgen_torch/described_kernels.cpp", dir+"/kernels.o", dir+"/libauthor.a",
			"-o", filepath.Join(made, "operators.so"), "-L"+torch+"/lib", "-ltorch_cpu",
			"-ltorch_python", "-ltorch", "-lc10")
	}), "operators.so")
}

// inTVMFFI builds the calls through tvm-ffi's C++, and returns the library.
func inTVMFFI(t *testing.T) string {
	t.Helper()
	return filepath.Join(testkit.Built(t, "tvmffi", func(made string) {
		host := testtool.RequirePackage(t, testtool.RequirePython(t), "tvm_ffi", "make setup")
		testkit.Run(t, testtool.RequireCompiler(t, "g++", "g++"), "-std=c++17", "-O0", "-fPIC", "-shared", "-isystem",
			host+"/include", "testdata/mistakes/tvm_ffi.cpp", "-o", filepath.Join(made, "called.so"), "-L"+host+"/lib",
			"-ltvm_ffi", "-Wl,-rpath,"+host+"/lib")
	}), "called.so")
}

// kernelsInGo builds a Python module with kernels in Go, and returns the folder with the package
// ingo.
func kernelsInGo(t *testing.T) string {
	t.Helper()
	dir := testkit.Built(t, "ingo", func(dir string) {
		require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/mistakes/ingo")))
		config := "version: 1\ndlpack: \"1.3\"\nout: generated\ntargets: {c: {}, kernels: {}, go: {}, " +
			"python: {module: ingo._kernels}, gokernels: {functions: example.com/ingo}}\nkernels:\n" +
			described(t, "mixed") + described(t, "written")
		config = strings.NewReplacer("    error: mix_error\n", "", "symbol: mix_{T}", "symbol: Mix",
			"    args:\n", "    lang: go\n    args:\n").Replace(config)
		for name, text := range map[string]string{"go.mod": "module example.com/ingo\n\ngo 1.24\n", "in.yaml": config} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		testkit.Run(t, "go", "run", "../../cmd/dlpackgen", "generate", "--quiet", "--config",
			filepath.Join(dir, "in.yaml"))
		cmd := exec.Command("go", "build", "-buildmode=c-shared", "-o", "ingo/_kernels.abi3.so",
			"./generated/gokernels")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-trimpath",
			"CGO_CFLAGS="+testkit.Level()+" -isystem "+testtool.RequireHeaders(t, testtool.RequirePython(t)))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	})
	return dir
}

// described returns the kernels of a config.
func described(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/mistakes/" + name + ".yaml")
	require.NoError(t, err)
	_, kernels, found := strings.Cut(string(text), "\nkernels:\n")
	require.True(t, found)
	return kernels
}

// MLX arrays are read, and results are MLX arrays; they are never written.
func TestArraysOfMLX(t *testing.T) {
	python := testtool.RequirePython(t)
	if !testtool.Has(python, "mlx.core") {
		t.Skip("needs mlx and mlx-cpu: pip install -r tests/requirements-frameworks.txt")
	}
	cmd := exec.Command(python, "with_mlx.py")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+strings.Join(mistaken(t), ":"), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "MLX ")
}

// comparison is a run of a script that compares messages with a table.
type comparison struct {
	script string // mistaken.py if it is empty
	table  string
	hosts  string   // a list separated by commas; all hosts if it is empty
	env    []string // further variables
}

func (c comparison) run(t *testing.T) (string, error) {
	t.Helper()
	args, modules := []string{"-W", "ignore", cmp.Or(c.script, "mistaken.py"), c.table}, testkit.Frameworks
	if c.hosts != "" {
		args, modules = append(args, c.hosts), "numpy,yaml"
	}
	cmd := testkit.Forked(testtool.RequirePython(t), modules, args...)
	path := strings.Join(append(mistaken(t), "../onnxruntime", "."), ":")
	cmd.Env = append(append(os.Environ(), "PYTHONPATH="+path, "JAX_PLATFORMS=cpu", "PYTHONDONTWRITEBYTECODE=1",
		"CPP="+inCpp(t), "GO="+inGo(t)), c.env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A mistake has the same message through every host, except in cells of the table with a reason.
func TestEveryMistakeThroughEveryHost(t *testing.T) {
	requireHosts(t)
	out, err := comparison{table: table, env: []string{"TVM_FFI_CPP=" + inTVMFFI(t), "INGO=" + kernelsInGo(t)}}.run(t)
	require.NoError(t, err, out)
	assert.Contains(t, out, " mistakes through 15 hosts")
}

// The operators that are compiled against libtorch have the same cells as the C shim's. Both define
// the same operators, so each has a process.
func TestEveryMistakeThroughCompiledOperators(t *testing.T) {
	tier.OnlyNightly(t)
	requireHosts(t)
	out, err := comparison{table: table, hosts: "compiled torch", env: []string{"COMPILED_TORCH=" + inTorch(t)}}.run(t)
	require.NoError(t, err, out)
	assert.Contains(t, out, " mistakes through 1 hosts")
}

// Wrong cells are detected.
func TestTheTableIsCompared(t *testing.T) {
	for _, change := range [][3]string{
		{"expected 2 dimensions, got 1'", "expected 2 dimensions'", "python, rank"},
		{"error: 'ValueError: mix(): expected times > 0", "error: 'TypeError: mix(): expected times > 0",
			"python, condition"},
		{"'mix(X, W, P, 2.0, 1)'", "'mix(X, W, P, 2.0, 0)'", "python, no mistake"},
		{"'mix(X, W, P, 2.0, 102)'", "'mix(X, W, P, 2.0, 2)'", "python, status with a text"},
		{"NumPy copies inputs that an output overlaps'", "NumPy copies inputs that an output overlaps', kept: y",
			"ufunc, overlap"},
		{"expected n >= 1, where n = 0'", "expected n >= 2, where n = 0'", "C++, no elements"},
		{"expected n >= 1, where n = 0'", "expected n >= 2, where n = 0'", "Go, no elements"},
	} {
		data, err := os.ReadFile(table)
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), "table.yaml")
		changed := mutant.Once(t, string(data), change[0], change[1])
		require.NoError(t, os.WriteFile(file, []byte(changed), 0o600))
		host, _, _ := strings.Cut(change[2], ", ")
		out, err := comparison{table: file, hosts: host}.run(t)
		assert.Error(t, err)
		assert.Contains(t, out, change[2]+"\n  want ")
		assert.Equal(t, 1, strings.Count(out, "  want "), out)
	}
}

// The results of successful calls are compared, in each form in which a host returns them.
func TestValuesAreCompared(t *testing.T) {
	text, err := os.ReadFile("mistaken.py")
	require.NoError(t, err)
	script := filepath.Join(t.TempDir(), "mistaken.py")
	wrong := mutant.Once(t, string(text), "+ places.flat[-1]", "+ places.flat[-2]")
	require.NoError(t, os.WriteFile(script, []byte(wrong), 0o600))
	out, err := comparison{script: script, table: table, hosts: "python,ufunc,C++,Go"}.run(t)
	assert.Error(t, err)
	for host, works := range map[string]int{"python": 4, "ufunc": 7, "C++": 2, "Go": 2} {
		all := regexp.MustCompile("(?m)^" + regexp.QuoteMeta(host) + ", .*\n  want works\n  got  a result of ")
		assert.Len(t, all.FindAllString(out, -1), works, out)
	}
}

// The table's citations of the hosts are checked: lines of headers, and words in libraries.
func TestCitationsAreRead(t *testing.T) {
	requireHosts(t)
	for _, change := range [][3]string{
		{"function_schema.h:138", "function_schema.h:137", "torch types:"},
		{"'Cannot export readonly array'", "'Cannot import readonly array'", "numpy read-only:"},
		{"'got multiple values for argument'}", "'got several values for argument'}", "python keywords:"},
		{"compiled: true, text: 'not in range", "text: 'not in range",
			"onnxruntime inputs: neither a line nor compiled"},
		{"numpy v2.4.6, numpy/_core/src/multiarray/dlpack.c:457", "numpy v2.4, numpy/_core/src/multiarray/dlpack.c:457",
			"numpy read-only: another numpy is installed"},
	} {
		data, err := os.ReadFile(table)
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), "table.yaml")
		changed := mutant.Once(t, string(data), change[0], change[1])
		require.NoError(t, os.WriteFile(file, []byte(changed), 0o600))
		out, err := comparison{table: file}.run(t)
		assert.Error(t, err)
		assert.Contains(t, out, "AssertionError: "+change[2])
	}
}
