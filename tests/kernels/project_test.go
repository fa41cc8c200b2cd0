package kernels

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// projectOf creates a project with the program, and returns both.
func projectOf(t *testing.T, name string) (program, project string) {
	t.Helper()
	dir := t.TempDir()
	program = filepath.Join(dir, "dlpackgen")
	testkit.BuildProgram(t, program)
	testtool.AddUnoptimized(t, dir)
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	commands(t, dir, []string{program, "init", "--project", name})
	return program, filepath.Join(dir, name)
}

// commands runs commands in a folder, all of which must succeed, and returns their output.
func commands(t *testing.T, dir string, all ...[]string) string {
	t.Helper()
	var printed strings.Builder
	for _, argv := range all {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CC=cc")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%v\n%s", argv, out)
		printed.Write(out)
	}
	return printed.String()
}

const buildSdist = "from setuptools import build_meta; print(build_meta.build_sdist('dist'))"

// A new project works: it is installed from its own sdist, and its tests pass. An added kernel gets
// a stub that compiles, and the author's files are kept.
func TestAProject(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a package twice, and -short was given")
	}
	python := testtool.RequirePython(t)
	if !testtool.Has(python, "pytest", "setuptools") {
		t.Skip("needs pytest and setuptools: make setup")
	}
	program, project := projectOf(t, "mylib")
	early := exec.Command(python, "-c", buildSdist)
	early.Dir = project
	out, err := early.CombinedOutput()
	require.Error(t, err, "nothing is generated yet")
	assert.Equal(t, "csrc/kernels.h is missing: run `dlpackgen generate` first\n", string(out))
	commands(t, project, []string{program, "generate"}, []string{program, "check"})
	assert.Contains(t, installed(t, python, project), "mylib-0.1.0-cp311-abi3-")
	tested(t, python, project, "21 passed", "-k", "not (torch or jax or paddle)")

	config := filepath.Join(project, "dlpackgen.yaml")
	text, err := os.ReadFile(config)
	require.NoError(t, err)
	added := string(text) + "  gather:\n    args: {x: \"float32[n]\", at: \"list[int]\", key: str}\n" +
		"    returns: {y: \"float32[n]\"}\n    symbol: gather\n    error: gather_error\n"
	require.NoError(t, os.WriteFile(config, []byte(added), 0o600))
	author := filepath.Join(project, "csrc", "scale_impl.c")
	require.NoError(t, os.WriteFile(author, []byte(read(t, author)+"\n/* mine */\n"), 0o600))
	commands(t, project, []string{program, "generate"}, []string{program, "check"},
		[]string{"gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-Icsrc", "csrc/gather_impl.c",
			"csrc/gather_error.c"})
	assert.Contains(t, read(t, author), "/* mine */")
	use := "import numpy, pytest, mylib\n\n\ndef test_gather():\n" +
		"    with pytest.raises(RuntimeError, match=r'gather\\(\\): the kernel failed with status -1'):\n" +
		"        mylib.gather(numpy.zeros(3, 'float32'), [1], 'a')\n"
	require.NoError(t, os.WriteFile(filepath.Join(project, "tests", "test_gather.py"), []byte(use), 0o600))
	installed(t, python, project)
	tested(t, python, project, "4 passed", "tests")
}

// stepsOf lists the commands of a workflow verbatim.
func stepsOf(workflow string) (commands []string) {
	for line := range strings.Lines(workflow) {
		if command, found := strings.CutPrefix(strings.TrimSpace(line), "- run: "); found {
			commands = append(commands, command)
		}
	}
	return commands
}

// pipx replaces pipx, which would download programs. Its last line does the work of build: the
// wheel is built from the sdist.
const pipx = `#!/bin/sh
set -eu
test "$1" = run
case "$2" in
dlpackgen | dlpackgen==*) shift 2; exec PROGRAM "$@" ;;
build) python -c "BUILD" && exec pip wheel --no-deps -w dist dist/*.tar.gz ;;
*) echo "pipx: $*" >&2; exit 1 ;;
esac
`

// machineOf creates the machine of a workflow: a Python environment with this machine's packages,
// and pipx.
func machineOf(t *testing.T, python, program string) (path string) {
	t.Helper()
	dir := t.TempDir()
	commands(t, dir, []string{python, "-m", "venv", "--without-pip", "env"})
	bin := filepath.Join(dir, "env", "bin")
	here := strings.TrimSpace(commands(t, dir,
		[]string{python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"}))
	there := strings.TrimSpace(commands(t, dir, []string{filepath.Join(bin, "python"), "-c",
		"import sysconfig; print(sysconfig.get_path('purelib'))"}))
	require.NoError(t, os.WriteFile(filepath.Join(there, "here.pth"), []byte(here+"\n"), 0o600))
	for name, text := range map[string]string{
		"pipx":   strings.NewReplacer("PROGRAM", program, "BUILD", buildSdist).Replace(pipx),
		"pip":    "#!/bin/sh\nexec python -m pip \"$@\"\n",
		"pytest": "#!/bin/sh\nexec python -m pytest -k 'not (torch or jax or paddle)' \"$@\"\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700))
	}
	return bin + string(os.PathListSeparator) + os.Getenv("PATH")
}

// The commands in init's workflow work verbatim, and failing ones are detected. pip uses this
// machine's packages instead of downloads.
func TestTheWorkflowOfAProject(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a package twice, and -short was given")
	}
	python := testtool.RequirePython(t)
	if !testtool.Has(python, "pytest", "setuptools", "hypothesis") {
		t.Skip("needs pytest, hypothesis and setuptools: make setup")
	}
	program, project := projectOf(t, "mylib")
	commands(t, project, []string{program, "generate"})
	t.Setenv("PATH", machineOf(t, python, program))
	t.Setenv("PIP_NO_INDEX", "1")
	t.Setenv("PIP_NO_BUILD_ISOLATION", "0") // pip interprets this as --no-build-isolation
	t.Setenv("PYTHONPATH", "")
	steps := stepsOf(read(t, filepath.Join(project, ".github/workflows/test.yml")))
	require.Equal(t, []string{"pipx run dlpackgen check", "pip install '.[test]'", "pytest", "pipx run build"}, steps)
	var printed []string
	for _, step := range steps {
		printed = append(printed, commands(t, project, []string{"sh", "-ec", step}))
	}
	assert.Contains(t, printed[1], "Successfully installed mylib-0.1.0")
	assert.Contains(t, printed[2], " passed")
	for _, pattern := range []string{"mylib-0.1.0.tar.gz", "mylib-0.1.0-cp311-abi3-*.whl"} {
		found, err := filepath.Glob(filepath.Join(project, "dist", pattern))
		require.NoError(t, err)
		assert.Len(t, found, 1, pattern)
	}
	for name, step := range map[string]string{"csrc/kernels.h": steps[0], "tests/test_scale.py": steps[2],
		"setup.py": steps[3]} {
		file := filepath.Join(project, name)
		was := read(t, file)
		require.NoError(t, os.WriteFile(file, []byte("wrong(\n"), 0o600))
		cmd := exec.Command("sh", "-ec", step)
		cmd.Dir = project
		assert.Error(t, cmd.Run(), "%s with a wrong %s", step, name)
		require.NoError(t, os.WriteFile(file, []byte(was), 0o600))
	}
}

const halve = `  halve:
    args: {x: "float32[...] inout"}
    devices: {kDLCPU: {symbol: halve}, kDLCUDA: {symbol: halve_cuda}, kDLCUDAManaged: {symbol: halve_cuda}}
`

// callOnCUDA is a program that calls a kernel with memory that declares CUDA.
const callOnCUDA = `#include <dlpackgen/message.h>
#include <kernels.h>
#include <stdio.h>
int main(void) {
  float data[4] = {0};
  int64_t extent = 4, stride = 1;
  DLTensor x = {data, {kDLCUDA, 0}, 1, {kDLFloat, 32, 1}, &extent, &stride, 0};
  char text[200];
  struct dlpackgen_message message = dlpackgen_message_in(text, sizeof text);
  printf("%d %s\n", dlpackgen_call_kernel_halve(&x, NULL, &message), text);
  return 0;
}
`

// A kernel with CUDA functions gets a source for nvcc, which a build switch compiles. Without the
// switch, CUDA is not needed, and calls report it.
func TestAProjectWithCUDA(t *testing.T) {
	tier.OnlyNightly(t)
	if testing.Short() {
		t.Skip("builds a package twice, and -short was given")
	}
	python := testtool.RequirePython(t)
	if !testtool.Has(python, "pytest", "setuptools") {
		t.Skip("needs pytest and setuptools: make setup")
	}
	program, project := projectOf(t, "mylib")
	config := filepath.Join(project, "dlpackgen.yaml")
	require.NoError(t, os.WriteFile(config, []byte(read(t, config)+halve), 0o600))
	commands(t, project, []string{program, "generate"}, []string{program, "check"})
	assert.Contains(t, read(t, filepath.Join(project, "csrc/halve_impl.cu")),
		"int halve_cuda(DLTensor* x, void* stream)")
	assert.NotContains(t, read(t, filepath.Join(project, "csrc/halve_impl.c")), "cuda")

	require.NoError(t, os.WriteFile(filepath.Join(project, "call.c"), []byte(callOnCUDA), 0o600))
	output := commands(t, project, []string{"sh", "-c", "gcc -std=c11 -Wall -Wextra -Werror -DDLPACKGEN_WITHOUT_CUDA " +
		"-Icsrc -o call call.c csrc/*.c && ./call"})
	assert.Regexp(t, `^[1-9]\d* halve\(\): this build has no functions for cuda\n$`, output)
	assert.Contains(t, installed(t, python, project), "mylib-0.1.0-cp311-abi3-")
	tested(t, python, project, "3 passed", "tests")

	if len(nvcc(t)) == 0 {
		t.Skip("needs nvcc: make setup installs NVIDIA's wheels")
	}
	t.Setenv("MYLIB_CUDA", "1")
	installed(t, python, project)
	tested(t, python, project, "3 passed", "tests")
	libraries, err := filepath.Glob(filepath.Join(project, "site/mylib/_kernels.*so"))
	require.NoError(t, err)
	require.Len(t, libraries, 1)
	assert.NotContains(t, commands(t, project, []string{"nm", "-D", "--defined-only", libraries[0]}), "halve")
	assert.Contains(t, commands(t, project, []string{"readelf", "-SW", libraries[0]}), ".nv_fatbin")
	assert.Subset(t, architectures(t, libraries[0]), []uint32{80, 90, 100})
	t.Setenv("MYLIB_CUDA_ARCH", "sm_90")
	installed(t, python, project)
	assert.Equal(t, []uint32{90}, architectures(t, libraries[0]))
	switched(t, python, project, libraries[0])
}

// A build in the folder of an earlier one detects that the switch was changed, as in the how-to
// about CUDA.
func switched(t *testing.T, python, project, library string) {
	t.Helper()
	for _, value := range []string{"0", "1"} {
		t.Setenv("MYLIB_CUDA", value)
		commands(t, project, []string{python, "-m", "pip", "--disable-pip-version-check", "install",
			"--no-build-isolation",
			"--no-deps", "--no-index", "--upgrade", "--target", "site", "."})
		sections := commands(t, project, []string{"readelf", "-SW", library})
		assert.Equal(t, value == "1", strings.Contains(sections, ".nv_fatbin"), "MYLIB_CUDA=%s", value)
	}
}

// architectures are the GPUs for which a library contains machine code, so that the driver need not
// compile: 90 is sm_90. The format of the section is from NVIDIA's fatbinary.h and nvcc.
func architectures(t *testing.T, library string) (found []uint32) {
	t.Helper()
	const magic, machineCode, archAt = 0xba55ed50, 2, 28
	file, err := elf.Open(library)
	require.NoError(t, err)
	defer file.Close()
	data, err := file.Section(".nv_fatbin").Data()
	require.NoError(t, err)
	in := binary.LittleEndian
	for len(data) >= 16 && in.Uint32(data) == magic {
		at := uint64(in.Uint16(data[6:]))
		end := at + in.Uint64(data[8:])
		for ; at < end; at += uint64(in.Uint32(data[at+4:])) + in.Uint64(data[at+8:]) {
			if in.Uint16(data[at:]) == machineCode {
				found = append(found, in.Uint32(data[at+archAt:]))
			}
		}
		data = bytes.TrimLeft(data[end:], "\x00")
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// nvcc returns the compiler in NVIDIA's wheels.
func nvcc(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("../../.venv/lib/python3*/site-packages/nvidia/cu*/bin/nvcc")
	require.NoError(t, err)
	return found
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// installed builds the sdist, and the wheel only from it, without a network; it returns the name of
// the wheel.
func installed(t *testing.T, python, project string) string {
	t.Helper()
	for _, dir := range []string{"dist", "wheels", "site"} {
		require.NoError(t, os.RemoveAll(filepath.Join(project, dir)))
	}
	pip := []string{python, "-m", "pip", "--disable-pip-version-check"}
	commands(t, project, []string{python, "-c", buildSdist},
		append(pip, "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w", "wheels",
			"dist/mylib-0.1.0.tar.gz"))
	wheels, err := filepath.Glob(filepath.Join(project, "wheels", "*.whl"))
	require.NoError(t, err)
	require.Len(t, wheels, 1)
	commands(t, project, append(pip, "install", "--no-deps", "--no-index", "--target", "site", wheels[0]))
	assert.FileExists(t, filepath.Join(project, "site/mylib/_kernels.pyi"))
	assert.FileExists(t, filepath.Join(project, "site/mylib/py.typed"))
	assert.NoFileExists(t, filepath.Join(project, "site/mylib/_kernels.c"))
	assert.NoDirExists(t, filepath.Join(project, "site/mylib/tests"))
	return filepath.Base(wheels[0])
}

// tested runs the project's tests with the installed package.
func tested(t *testing.T, python, project, want string, args ...string) {
	t.Helper()
	cmd := exec.Command(python, append([]string{"-m", "pytest", "-q", "-p", "no:cacheprovider"}, args...)...)
	cmd.Dir = project
	cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(project, "site"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), want)
}
