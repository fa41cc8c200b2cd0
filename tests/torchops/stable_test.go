package torchops

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
)

// oldest is the torch that the library of the stable ABI serves, and newer ones.
const oldest = "0x020A000000000000"

// stablePackage makes the package that loads the library in a folder, wrong by a mutant
// or not.
func stablePackage(t *testing.T, headers, dir string, wrong mutant) {
	t.Helper()
	pkg := filepath.Join(dir, "stable_package")
	require.NoError(t, os.MkdirAll(pkg, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(pkg, "__init__.py"), nil, 0o600))
	for _, name := range []string{"operators.py", "stable_kernels.py"} {
		text, err := os.ReadFile(filepath.Join(headers, "dlpackgen_torch", name))
		require.NoError(t, err)
		if name == wrong.file {
			text = []byte(mutation.Once(t, string(text), wrong.old, wrong.replacement))
		}
		require.NoError(t, os.WriteFile(filepath.Join(pkg, name), text, 0o600))
	}
}

// stableLibrary compiles the kernels by the stable ABI, and gives the folder with the
// library and the package that loads it.
func (p places) stableLibrary(t *testing.T, headers, dir string, more ...string) string {
	t.Helper()
	stablePackage(t, headers, dir, mutant{})
	lib := filepath.Join(p.torch, "lib")
	flags := append(p.flags(headers), "-Wno-shadow", "-Wno-error=pedantic", "-DTORCH_TARGET_VERSION="+oldest,
		"-shared", "-o", filepath.Join(dir, "kernels.so"),
		filepath.Join(headers, "dlpackgen_torch", "stable_kernels.cpp"), filepath.Join(scratch, "kernels.so.c.o"),
		"-L", lib, "-ltorch_cpu", "-Wl,-rpath,"+lib)
	require.NoError(t, command("", p.gxx, append(flags, more...)...))
	return dir
}

var (
	stableOnce sync.Once
	stableDir  string
)

// stableOf gives the folder with the library and the package that most tests of the stable ABI use.
func (p places) stableOf(t *testing.T) string {
	t.Helper()
	stableOnce.Do(func() {
		stableDir = p.stableLibrary(t, filepath.Join(scratch, "generated"), filepath.Join(scratch, "stable"))
	})
	require.NotEmpty(t, stableDir, "the library could not be built")
	return stableDir
}

// stableScript runs functions of stable.py.
func (p places) stableScript(dir string, functions ...string) (string, error) {
	cmd := exec.Command(p.python, append([]string{"-W", "ignore", "stable.py"}, functions...)...)
	cmd.Env = append(os.Environ(), "STABLE=1", "LIBRARY="+filepath.Join(dir, "kernels.so"), "PYTHONPATH="+dir,
		"PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestTheStableABI(t *testing.T) {
	p, _ := library(t)
	dir := p.stableOf(t)
	text, err := os.ReadFile("stable.py")
	require.NoError(t, err)
	out, err := p.stableScript(dir)
	assert.NoError(t, err, "%s", out)
	assert.Equal(t, strings.Count(string(text), "\ndef test_"), strings.Count(out, "ok test_"), "%s", out)
}

// One library serves many versions of torch: it takes no symbol of C++ from it.
func TestTheStableLibraryTakesCAlone(t *testing.T) {
	p, _ := library(t)
	dir := p.stableOf(t)
	out, err := exec.Command("nm", "-DC", "--undefined-only", filepath.Join(dir, "kernels.so")).Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), " aoti_torch_")
	assert.NotRegexp(t, `\b(at|c10|torch)::`, string(out))
}

// Devices need 2.13, for the handle of a stream: here it is only compiled.
func TestTheStableSourcesForDevices(t *testing.T) {
	p, _ := library(t)
	headers := filepath.Join(scratch, "generated")
	require.NoError(t, command("", p.gxx, append(p.flags(headers), "-Wno-shadow", "-Wno-error=pedantic",
		"-DTORCH_TARGET_VERSION=0x020D000000000000",
		"-fsyntax-only", filepath.Join(headers, "dlpackgen_torch", "stable_kernels.cpp"))...))
}

// Each of these makes the sources wrong in one place, which the named test sees.
var stableMutants = map[string]mutant{
	"data may be gone": {"stable_kernel.hpp", "out.data == nullptr && elements > 0", "false",
		"stable.py test_data_that_is_gone"},
	"no elements need data": {"stable_kernel.hpp", "out.data == nullptr && elements > 0", "out.data == nullptr",
		"stable.py test_all_kinds_of_arguments"},
	"overlaps are written": {"arguments.hpp", "may_overlap(tensor)", "false",
		"stable.py test_overlaps_are_not_written"},
	"elements lie anywhere": {"arguments.hpp", "return dlpackgen_is_misaligned(&tensor);",
		"return (void)tensor, false;", "stable.py test_elements_that_lie_between"},
	"strides are read through": {"stable_kernel.hpp", "!site.strided && !from.is_contiguous()", "false",
		"stable.py test_strides"},
	"strides are written to": {"arguments.hpp",
		"if (!site.strided) return dlpackgen_check_density(sentence.at(), &tensor, " +
			"DLPACKGEN_LAYOUT_C_CONTIGUOUS, sentence.message());", "if (!site.strided) return DLPACKGEN_STATUS_OK;",
		"stable.py test_strides"},
	"a storage is smaller": {"stable_kernel.hpp", "elements > 0 && !fits(from, elements)", "false",
		"stable.py test_storage_that_was_made_smaller"},
	"a storage begins there": {"stable_kernel.hpp", "tensor.storage_offset() + elements", "elements",
		"stable.py test_storage_that_was_made_smaller"},
	"inference is everywhere": {"operators.py", "elif not torch.is_inference_mode_enabled():", "elif False:",
		"stable.py test_inference_tensors_are_written_in_their_mode_alone"},
	"reading materialises": {"stable_kernel.hpp", "const_cast<void*>(from.const_data_ptr())",
		"from.mutable_data_ptr()", "stable.py test_copy_on_write"},
	"any type is lent": {"stable_kernel.hpp", "DLDataType{0, 0, 0}", "DLDataType{kDLOpaqueHandle, 8, 1}",
		"stable.py test_types_without_a_name"},
	"errors are ignored": {"stable_kernel.hpp", "code != 0", "false", "stable.py test_errors_of_the_kernel"},
	"versions stay": {"operators.py", "            if not arguments[place].is_inference():",
		"            if False:", "stable.py test_versions"},
	"gradients are dropped": {"operators.py",
		"if tensor is not None and tensor.requires_grad and torch.is_grad_enabled():", "if False:",
		"stable.py test_gradients_that_are_refused"},
	"gradients without the mode": {"operators.py", "tensor.requires_grad and torch.is_grad_enabled()",
		"tensor.requires_grad", "stable.py test_gradients_that_are_refused"},
	"tangents are dropped": {"operators.py", ".tangent is not None", ".tangent is 0",
		"stable.py test_gradients_that_are_refused"},
	"tangents meet a backward": {"operators.py", "            _refuse_tangents(self.kernel, arguments)\n", "",
		"stable.py test_forward_mode_is_refused_where_there_is_a_backward"},
	"meta is among others": {"operators.py", "        _refuse_other_devices(kernel, arguments)\n", "",
		"stable.py test_meta_tensors_are_alone"},
	"shapes are numbers": {"operators.py",
		"torch.empty_like(arguments[like], memory_format=torch.contiguous_format)",
		"torch.empty([int(n) for n in arguments[like].shape])", "stable.py test_one_graph_for_all_shapes"},
}

func TestStableMutants(t *testing.T) {
	p, _ := library(t)
	headers, packages := t.TempDir(), t.TempDir()
	generate(t, "module/dlpackgen.yaml", headers)
	switched(t, headers, stableMutants)
	dir := p.stableLibrary(t, headers, t.TempDir(), append(choosing(t, headers), "-Wno-error")...)
	numbers := numbered(stableMutants)
	for name, m := range stableMutants {
		if strings.HasSuffix(m.file, ".py") {
			stablePackage(t, headers, filepath.Join(packages, strconv.Itoa(numbers[name])), m)
		}
	}
	p.areSeen(t, stableMutants, "STABLE=1", "MUTANTS="+packages, "LIBRARY="+filepath.Join(dir, "kernels.so"),
		"PYTHONPATH="+dir)
}
