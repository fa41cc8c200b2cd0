package devices

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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

// gpu is the folder of the script for machines with a GPU.
func gpu(t testing.TB) string { return filepath.Join(golden.Root(t), "tests/gpu") }

// programs builds the files that the script carries, once.
func programs(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the files for the script")
	}
	return testkit.Built(t, "programs", func(dir string) {
		cmd := exec.Command(filepath.Join(gpu(t), "run.sh"), "--build", dir)
		cmd.Env = append(os.Environ(), "PYTHON="+testtool.RequirePython(t))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Empty(t, string(out), "all is built here")
	})
}

// copied returns a copy of the programs, to break some of them.
func copied(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(programs(t))))
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			err = os.Chmod(path, 0o700)
		}
		return err
	}))
	return dir
}

// ran runs a program with a driver, and returns its output and exit code.
func ran(t *testing.T, driver string, env []string, name string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(append(os.Environ(), "LD_LIBRARY_PATH="+driver, "PYTHONDONTWRITEBYTECODE=1",
		"JAX_PLATFORMS=cpu"), env...)
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return string(out), failed.ExitCode()
	}
	require.NoError(t, err)
	return string(out), 0
}

// script runs the script with the machine's own Python, which may lack all libraries.
func script(t *testing.T, bin, driver string) (string, int) {
	t.Helper()
	testtool.Require(t, "python3", "python3")
	return ran(t, driver, []string{"PYTHON=python3"}, filepath.Join(gpu(t), "run.sh"), bin)
}

// rehearsed runs some or all checks with the Python that has the libraries.
func rehearsed(t *testing.T, bin string, names ...string) (string, int) {
	t.Helper()
	return ran(t, standin(t), []string{"REHEARSAL=1"}, testtool.RequirePython(t),
		append([]string{filepath.Join(gpu(t), "gpu.py"), bin}, names...)...)
}

// Without a GPU, the script reports that; with the stand-in, checks without libraries pass, and
// missing libraries are named.
func TestTheScriptForGPUs(t *testing.T) {
	out, code := script(t, programs(t), "")
	assert.Equal(t, 2, code)
	assert.Contains(t, out, "no GPU to check on: cuda: the driver is not installed")
	out, code = script(t, programs(t), standin(t))
	assert.Zero(t, code, out)
	assert.Regexp(t,
		`\nok every_step_in_c\n(?s:.*)\nok no_context_is_started_by_asking\n(?s:.*)\n\d+ checks, 0 failed, \d+ `+
			`skipped\n$`, out)
	bin := copied(t)
	require.NoError(t, os.Remove(filepath.Join(bin, "golang")))
	require.NoError(t, os.Remove(filepath.Join(bin, "checked.abi3.so")))
	out, code = ran(t, standin(t), nil, "python3", filepath.Join(gpu(t), "gpu.py"), bin, "programs_in_go",
		"results_reach_the_host")
	assert.Zero(t, code, out)
	assert.Regexp(t, `skip programs_in_go: no golang among the programs\nskip results_reach_the_host: no `, out)
}

// onGPUsAlone are the checks that need a GPU.
var onGPUsAlone = []string{
	"kinds_of_torch", "kinds_of_cupy", "order_really_orders", "order_does_not_wait",
	"captures_are_rejected_and_survive", "a_host_function_may_free",
	"memory_of_graphs",
	"torch_takes_ours", "cupy_takes_ours", "jax_takes_ours", "the_deleter_waits_for_the_work",
	"streams_of_two_devices", "modules_read_cupy",
	"results_are_made_on_the_device", "libraries_wait_for_each_other",
	"our_consumer_keeps_memory_until_torch_is_done", "both_streams_captured_into_one_graph",
	"functions_take_cupy", "functions_take_several_libraries",
	"functions_run_on_torchs_stream", "functions_are_captured_by_torch",
	"command_buffers_of_jax",
}

// The checks of libraries are rehearsed with CPU tensors, which shows the mistakes that are visible
// without a GPU.
func TestTheScriptForGPUsIsRehearsed(t *testing.T) {
	tier.OnlyNightly(t)
	bin := programs(t)
	if !testtool.Has(testtool.RequirePython(t), "torch", "jax", "cupy", "tvm_ffi", "numpy") {
		t.Skip("needs torch, jax, cupy and tvm-ffi: pip install -r tests/requirements-frameworks.txt")
	}
	out, code := rehearsed(t, bin)
	assert.Zero(t, code, out)
	var skipped []string
	for _, m := range regexp.MustCompile(`(?m)^skip (\w+): a rehearsal, and this needs a GPU$`).
		FindAllStringSubmatch(out, -1) {
		skipped = append(skipped, m[1])
	}
	assert.ElementsMatch(t, onGPUsAlone, skipped, out)
	assert.NotRegexp(t, `(?m)^skip \w+: (?:[^a]|a[^ ])`, out, "nothing else is missing here")
	assert.Contains(t, out, "ok calls_beside_tvm_ffi ")
	assert.Contains(t, out, "ok conformance 23 checks, 0 failed\n")
}

// Python reaches the table through ctypes: numpy reads and frees its arrays.
func TestPython(t *testing.T) {
	const name = "numpy_takes_ours_where_the_host_reads_it"
	out, _ := rehearsed(t, programs(t), name)
	assert.Equal(t, "ok "+name+"\n1 checks, 0 failed, 0 skipped\n", out)
	wrong := copied(t)
	wrongBackend(t, wrong, "streams_release.h", "if (!result) result = streams.driver.host_free(data);", "")
	out, _ = rehearsed(t, wrong, name)
	assert.Contains(t, out, "the deleter freed the memory")
}

// wrongBackend adds a backend with one mistake to programs.
func wrongBackend(t *testing.T, bin, file, old, fresh string) {
	t.Helper()
	dir := mutated(t, file, old, fresh)
	testkit.Run(t, testtool.Require(t, "gcc", "gcc"), "-std=gnu11", "-w", "-shared", "-fPIC", "-I", dir, "-o",
		filepath.Join(bin, "libdlpackgen_cuda.so"), filepath.Join(dir, "dlpackgen_cuda.c"), "-ldl")
}

// A wrong backend fails, and so do modules.
func TestTheScriptForGPUsFindsErrors(t *testing.T) {
	tier.OnlyNightly(t)
	bin := copied(t)
	wrongBackend(t, bin, "streams_pointer.h", "if (a->managed) {", "if (0) {")
	out, code := script(t, bin, standin(t))
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "FAIL managed_memory\n")

	headers, bin := testkit.Parts(t), copied(t)
	for _, m := range []struct{ file, old, fresh string }{
		{"reader_torch.h", "call->get_strides(handle, &out->strides)", "call->get_sizes(handle, &out->strides)"},
		{"backend.h", "if (dlpackgen_same_device(info->device, device)) return 0;", "return 0;"},
		{"object.h", "options.to_host ? options.reaches : NULL", "NULL"},
		{"reader_elements.h", "out->shape = scratch;", "out->shape = scratch + 1;"},
	} {
		mutation.OnceIn(t, filepath.Join(headers, "dlpackgen_python", m.file), m.old, m.fresh)
	}
	extensions(t, headers, bin)
	if !testtool.Has(testtool.RequirePython(t), "torch", "jax", "numpy") {
		t.Skip("needs torch and jax: pip install -r tests/requirements-frameworks.txt")
	}
	const header = "#include \"kernels.h\"\n" // a macro changes each call of the kernel
	mutation.OnceIn(t, filepath.Join(bin, "kernels/kernels/kernels.c"), header,
		header+"#define square(x, y, stream) square_backward(x, x, y, stream)\n")
	names := []string{"modules_read_torch", "modules_read_jax", "modules_reject_what_the_driver_denies",
		"results_reach_the_host", "functions_take_torch", "functions_take_jax", "functions_of_tvm_ffi",
		"functions_of_jax"}
	out, code = rehearsed(t, bin, names...)
	assert.Equal(t, 1, code)
	for _, name := range names {
		assert.Contains(t, out, "FAIL "+name+"\n")
	}
}

// The carried files run with a C library of 2.34 or newer, which contains dlopen. The driver must
// share it, so none is linked statically.
func TestCarriedProgramsRunWithOlderCLibraries(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(programs(t), "*"))
	require.NoError(t, err)
	files = slices.DeleteFunc(files, func(file string) bool { return filepath.Base(file) == "kernels" }) // sources
	assert.Len(t, files, 9)
	for _, file := range files {
		out, err := exec.Command(testtool.Require(t, "objdump", "binutils"), "-T", "-p", file).Output()
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`\bGLIBC_2\.(\d+)`).FindAllStringSubmatch(string(out), -1) {
			minor, err := strconv.Atoi(m[1])
			require.NoError(t, err)
			assert.LessOrEqual(t, minor, 34, "%s: %s", file, m[0])
		}
		for _, m := range regexp.MustCompile(`NEEDED +(\S+)`).FindAllStringSubmatch(string(out), -1) {
			assert.Regexp(t, `^(?:lib(?:c|dl|pthread|resolv)|ld-linux-[\w-]+)\.so\.\d$`, m[1], "%s", file)
		}
	}
}

// The page names exactly the existing checks.
func TestThePageNamesEachCheck(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(golden.Root(t), "docs/gpu.md"))
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "| check | what it shows |")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	var named, there []string
	for row := range strings.SplitSeq(table, "\n") {
		if cell := strings.Split(row, "|"); len(cell) > 2 {
			for _, m := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(cell[1], -1) {
				named = append(named, m[1])
			}
		}
	}
	for _, file := range []string{"gpu.py", "modules.py", "described.py"} {
		text, err := os.ReadFile(filepath.Join(gpu(t), file))
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`(?m)^@check\ndef (\w+)`).FindAllStringSubmatch(string(text), -1) {
			there = append(there, m[1])
		}
	}
	assert.ElementsMatch(t, there, named)
}
