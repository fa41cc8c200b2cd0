package cpp

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// noExceptions is the build mode of those who have neither.
var noExceptions = []string{"-fno-exceptions", "-fno-rtti"}

// Two texts of one rule, in C and in C++, must not drift apart.
func TestValidatorsOfCAndOfCppAgree(t *testing.T) {
	for _, version := range []string{"1.2", "1.3", "main"} {
		dir := headers(t, version)
		passes(t, build(t, gcc, []string{"agree.cpp"}, flags([]string{"-O1", "-I", dir}, strict)...), `\d{6,}`)
		if testing.Short() {
			break
		}
	}
}

// coreMutants breaks each rule of the core once.
var coreMutants = []struct{ header, old, new string }{
	{"validate", "if (b != 0 && a > most / b) return false;", ""},
	{"validate", "if (b > most - a) return false;", ""},
	{"validate", "return stride < 0 ? 0U - unsign(stride) : unsign(stride);", "return unsign(stride);"},
	{"validate", "(set & flags::is_subbyte_type_padded) == 0", "true"},
	{"validate", "if (tensor.ndim < 0 || tensor.ndim > max_ndim)", "if (tensor.ndim < 0)"},
	{"validate", "if (ndim > 0 && shape == nullptr) return Error(Code::shape_null, 0, ndim);", ""},
	{"validate", "if (shape[i] < 0) return Error(Code::extent, 0, shape[i], i);", ""},
	{"validate", "if (!fits) return Code::too_large;", ""},
	{"validate", "if (empty) return std::int64_t{0};", ""},
	{"validate", "if (*elements == 0) return Reach{};", ""},
	{"validate", "tensor.strides[i] < 0 ? below : above", "above"},
	{"validate", "if (tensor.shape[i] == 1) continue;", ""},
	{"validate", "if (tensor.data == nullptr) return Code::data_null;", ""},
	{"validate", "if (end > UINTPTR_MAX - address) return Error(Code::out_of_range, 0, touched->high);", ""},
	{"validate", "if (address + tensor.byte_offset < before) return Error(Code::out_of_range, 0, touched->low);", ""},
	{"validate", "if (!error) error = detail::check_dtype(tensor->dtype, accept);", ""},
	{"validate", "!detail::allows(accept, Accept::unknown_device)", "false"},
	{"validate", "!allows(accept, Accept::unknown_code)", "false"},
	{"validate", "if (tensor == nullptr) return Code::null;", ""},
	{"managed", "if (managed.version.major != current.major)", "if (managed.version.major > current.major)"},
	{"managed", "if (managed.version.minor < 2) accept", "if (managed.version.minor < 3) accept"},
	{"managed", "if (managed.version.minor < 2) accept", "if (false) accept"},
	{"managed", "validate(&managed.dl_tensor, 0, accept | Accept::null_strides)", "validate(&managed.dl_tensor, 0, accept)"},
	{"managed", "~BasicManaged() { reset(); }", "~BasicManaged() {}"},
	{"managed", "managed_(other.release())", "managed_(other.get())"},
	{"managed", "if (old != nullptr && old->deleter != nullptr)", "if (old != nullptr)"},
	{"managed", "return managed.flags;", "return 0;"},
	{"managed", "if (managed == nullptr) return Code::null;", ""},
	{"tensor_view", "+ tensor_.byte_offset;", ";"},
	{"tensor_view", "if (write && is_read_only()) return Code::read_only;", ""},
	{"tensor_view", "is_read_only() ? nullptr : address()", "address()"},
	{"tensor_view", "if (misfit != 0)", "if (false)"},
	{"tensor_view", "if (!same(tensor_.dtype, wanted))", "if (false)"},
	{"tensor_view", "if (tensor_.data == nullptr || !has_addresses(tensor_.device.device_type)) return nullptr;", ""},
	{"tensor_view", "if (!has_addresses(tensor_.device.device_type)) return Error", "if (false) return Error"},
	{"tensor_view", "if (tensor_.strides != nullptr) return", "return"},
}

// A crash counts as noticed.
func TestCoreMutantsAreNoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program for each mutant")
	}
	for _, mutant := range coreMutants {
		t.Run(mutant.old, func(t *testing.T) {
			t.Parallel()
			dir := headers(t, "1.3")
			edit(t, dir, "dlpackgen/"+mutant.header+".hpp", mutant.old, mutant.new)
			program := build(t, gcc, []string{"core.cpp"}, "-I", dir, "-w", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
			out, err := exec.CommandContext(t.Context(), "timeout", "20", program).CombinedOutput()
			assert.Error(t, err, "nothing fails without this: %s", out)
			require.NotEmpty(t, out)
		})
	}
}
