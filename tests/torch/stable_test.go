package torch

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// byStable makes a script use the module with the stable ABI.
var byStable = []string{"DLPACKGEN_CONSUMER=dlpackgen_torch_stable"}

// failingTorch makes the ABI's creation of tensors fail, with a library in a folder.
func failingTorch(dir string) []string {
	return append(slices.Clone(byStable), "LD_PRELOAD="+filepath.Join(dir, "helper.so"))
}

// stableFlags select the oldest torch whose ABI supports Python objects.
func (to torches) stableFlags(t *testing.T, headers string, target string) []string {
	return append(to.flags(headers, filepath.Join(golden.Root(t), "gen", "cpp"),
		filepath.Join(golden.Root(t), "gen", "c")), target,
		filepath.Join(headers, "dlpackgen_torch", "stable_module.cpp"))
}

// buildStable builds dlpackgen_torch_stable from the sources in a folder, in another one.
func (to torches) buildStable(t *testing.T, headers, dir string, flags ...string) error {
	t.Helper()
	if to.Minor < 14 {
		t.Skip("needs torch 2.14: the stable ABI of older ones makes no objects of Python")
	}
	args := append(to.stableFlags(t, headers, "-DTORCH_TARGET_VERSION=0x020E000000000000"), "-shared", "-o",
		filepath.Join(dir, "dlpackgen_torch_stable"+to.Suffix))
	args = append(append(args, flags...), "-L"+filepath.Join(to.Root, "lib"), "-ltorch_cpu")
	out, err := exec.Command(testtool.RequireCompiler(t, "g++", "g++"), args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

var (
	stableOnce sync.Once
	errStable  error
)

// stable returns the folder with the package and the module with the stable ABI.
func stable(t *testing.T) (torches, string) {
	t.Helper()
	to, dir := modules(t)
	stableOnce.Do(func() {
		errStable = to.buildStable(t, generated(t), dir, testkit.Level(), "-include", afterMacros(t, dir, true))
	})
	require.NoError(t, errStable)
	return to, dir
}

// The consumer with the stable ABI behaves like the other one.
func TestTheStableConsumer(t *testing.T) {
	to, dir := stable(t)
	eachPasses(t, to, dir, byStable, "consume.py", "rules.py", "attack.py", libraries, verdicts)
	t.Run("stable.py", func(t *testing.T) { passes(t, to, dir, failingTorch(dir), "stable.py") })
}

// It calls only torch's stable ABI.
func TestTheStableConsumerNeedsNoOtherSymbols(t *testing.T) {
	to, dir := stable(t)
	out, err := exec.Command(testtool.Require(t, "nm", "binutils"), "-D", "--undefined-only", "--format=just-symbols",
		filepath.Join(dir, "dlpackgen_torch_stable"+to.Suffix)).CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "torch_from_blob\n")
	assert.NotRegexp(t, `(?m)^_ZN?K?(3c10|2at|5torch)`, string(out))
	assert.NotContains(t, string(out), "THPVariable")
}

// Missing features of a version's ABI are reported when it is compiled for that version.
func TestOlderStableABIsAreRejected(t *testing.T) {
	tier.OnlyNightly(t)
	to := environment(t)
	for target, says := range map[string]string{
		"-DDLPACKGEN_NONE":                          "define TORCH_TARGET_VERSION",
		"-DTORCH_TARGET_VERSION=0x020A000000000000": "the consumer needs TORCH_TARGET_VERSION 2.13 or newer",
		"-DTORCH_TARGET_VERSION=0x020D000000000000": "objects of Python need TORCH_TARGET_VERSION 2.14 or newer",
	} {
		out, err := exec.Command(testtool.Require(t, "g++", "g++"),
			append(to.stableFlags(t, generated(t), target), "-fsyntax-only", "-fmax-errors=1")...).CombinedOutput()
		assert.Error(t, err)
		assert.Contains(t, string(out), says)
	}
}

// Each of these breaks code that only the stable form has, in one place.
var stableMutants = map[string]mutant{
	"devices are not checked": {"stable_import.hpp",
		"  static_cast<void>(current_stream(tensor.device));\n", "", "consume.py test_rejections_delete_once"},
	"devices other than CUDA are accepted": {"stable_import.hpp", "if (device.device_type != kDLCUDA) throw",
		"if (false) throw", "consume.py test_devices_of_others"},
	"pinned memory is synchronized with a stream": {"checked.hpp", "return is_host_memory(device.device_type);",
		"return device.device_type == kDLCPU;", "consume.py test_other_streams"},
	"tensors are never deleted": {"stable_import.hpp", "if (context != being_made) deleter(context);",
		"static_cast<void>(context);", "consume.py test_capsules"},
	"a failed import deletes the tensor twice": {"stable_import.hpp", "if (context != being_made) deleter(context);",
		"deleter(context);", "stable.py test_what_torch_deletes_itself"},
	"a failed import does not delete the tensor": {"stable_import.hpp", "  deleter(context);\n  throw error;",
		"  throw error;", "stable.py test_what_torch_deletes_itself"},
	"deleters are skipped after an import": {"stable_import.hpp", "being_made = nullptr;\nif (failed", "if (failed",
		"consume.py test_tables"},
	"copies ignore strides": {"stable_import.hpp", "from + i * step",
		"from + i * static_cast<std::int64_t>(size)", "consume.py test_copies_are_made_below_the_modes"},
	"copies contain only the last element": {"stable_import.hpp", "  return to + size;", "  return to;",
		"consume.py test_read_only_memory"},
	"null data is passed to torch": {"stable_import.hpp",
		"return source.data != nullptr ? source.data : &nothing;", "return source.data;",
		"consume.py test_strides_that_lead_nowhere"},
	"requires_grad is ignored": {"stable_object.hpp",
		"  if (!aoti_torch_grad_mode_is_enabled()) return;\n", "  return;\n",
		"consume.py test_tensors_of_torch_become_an_alias"},
	"requires_grad is rejected without grad mode": {"stable_object.hpp",
		"  if (!aoti_torch_grad_mode_is_enabled()) return;\n", "", "consume.py test_tensors_of_torch_become_an_alias"},
	"layouts are not checked": {"stable_object.hpp", "if (layout != aoti_torch_layout_strided())",
		"if (false)", "stable.py test_layouts_are_named"},
	"meta tensors are accepted": {"stable_object.hpp",
		"if (device != aoti_torch_device_type_cpu() && device != aoti_torch_device_type_cuda())", "if (false)",
		"rules.py test_tensors_of_torch_that_are_rejected"},
	"dtypes without a DLPack equivalent are accepted": {"stable_object.hpp", "if (!has_name(dtype)) throw",
		"if (false) throw",
		"rules.py test_tensors_of_torch_that_are_rejected"},
	"storage sizes are not checked": {"stable_object.hpp",
		"if (needed > static_cast<std::uint64_t>(bytes)) throw", "if (false) throw",
		"rules.py test_tensors_of_torch_that_are_rejected"},
	"subclasses with __torch_dispatch__ are accepted": {"stable_object.hpp",
		"  pytorch::detail::reject_dispatch(Py_TYPE(object), torch.tensor.ptr());\n", "",
		"rules.py test_tensors_of_torch_that_are_rejected"},
	"the negative bit of subclasses is ignored": {"stable_object.hpp",
		"if (pytorch::detail::is_true(torch.is_neg(py::handle(object)))) throw", "if (false) throw",
		"rules.py test_tensors_of_torch_that_are_rejected"},
	"the conjugate bit of subclasses is ignored": {"stable_object.hpp",
		"if (pytorch::detail::is_true(torch.is_conj(py::handle(object)))) throw", "if (false) throw",
		"rules.py test_tensors_of_torch_that_are_rejected"},
	"subclasses without readable memory are accepted": {"stable_object.hpp",
		"  typed.require_same_type();\n  reject_derived(object);\n",
		"  typed.require_same_type();\n", "rules.py test_derived_types_are_queried_by_their_own_method"},
	"__class__ is believed": {"stable_object.hpp",
		"if (PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(torch.base.ptr())) == 0)",
		"if (PyObject_IsInstance(object, torch.base.ptr()) == 0)",
		"rules.py test_what_only_says_that_it_is_a_tensor"},
	"plain tensors are treated as subclasses": {"stable_object.hpp",
		"found.is(torch.tensor) || found.is(torch.parameter)", "false",
		"consume.py test_tensors_of_torch_become_an_alias"},
	"TypeError is not converted": {"stable_module.cpp",
		"  } catch (const pytorch::TypeError& e) {\n    PyErr_SetString(PyExc_TypeError, e.what());\n", "",
		"consume.py test_what_is_no_tensor"},
}

func TestStableMutantsAreSeen(t *testing.T) {
	tier.OnlyNightly(t)
	t.Parallel()
	to, whole := stable(t)
	headers, dir := t.TempDir(), t.TempDir()
	require.NoError(t, to.buildStable(t, headers, dir, withMutants(t, headers, stableMutants)...))
	areSeen(t, stableMutants, to, dir, append(failingTorch(whole), "PYTHONPATH="+dir+":"+whole))
}
