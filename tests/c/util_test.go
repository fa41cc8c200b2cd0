package c

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/need"
)

// build compiles a program of testdata against a folder of headers.
func build(t *testing.T, dir, source string, command ...string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "program")
	args := append(command[1:len(command):len(command)], "-I", dir, "-o", program, filepath.Join("testdata", source))
	out, err := exec.Command(command[0], args...).CombinedOutput()
	require.NoError(t, err, "%s %s\n%s", command[0], strings.Join(args, " "), out)
	return program
}

var sanitised = []string{"-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}

// The tables of testdata/util.c, under the sanitisers where they exist.
func TestHelpersAnswerRight(t *testing.T) {
	for _, version := range []string{"1.3", "1.2", "main"} {
		if testing.Short() && version != "1.3" {
			break
		}
		dir := headers(t, version)
		for _, args := range [][]string{
			append(command("gcc", "c", "c99", strict...), sanitised...),
			append(command("g++", "c++", "c++11", strict...), sanitised...),
		} {
			out, err := exec.Command(build(t, dir, "util.c", args...)).CombinedOutput()
			assert.NoError(t, err, "%s", out)
			assert.Regexp(t, `^\d{6} checks, 0 failed\n$`, string(out), "%s of %s", args[0], version)
		}
	}
}

// Where addresses have 32 bits, other sums overflow.
func TestHelpersAnswerRightOn32Bits(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second and a half, and -short was given")
	}
	need.Program(t, "i686-linux-gnu-gcc", "gcc-i686-linux-gnu")
	program := build(t, headers(t, "1.3"), "util.c", append(command("i686-linux-gnu-gcc", "c", "c99", strict...), "-O2", "-static")...)
	out, err := exec.Command(program).CombinedOutput()
	assert.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), " checks, 0 failed\n")
}

// helperMutants breaks each check of dlpack_util.h once.
var helperMutants = []struct{ old, new string }{
	{"if (b != 0 && a > DLPACK_UTIL_MOST / b) return 0;", ""},
	{"if (b > DLPACK_UTIL_MOST - a) return 0;", ""},
	{"return stride < 0 ? 0U - DLPACK_UTIL_CAST(uint64_t, stride) : ", "return "},
	{"return (bits + 7) / 8 * 8;", "return bits;"},
	{"(flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) == 0", "1"},
	{"dtype.code == kDLComplex || ", ""},
	{" || dtype.code == 18 ?", " ?"},
	{"case 256: return 16;", ""},
	{"case 32: return 2;", ""},
	{"(count % 8 * element_bits + 7) / 8", "count % 8 * element_bits / 8"},
	{"if (ndim < 0) return DLPACK_ERROR_NDIM;", ""},
	{"if (shape[i] < 0) return DLPACK_ERROR_EXTENT;", ""},
	{"if (shape[i] == 0) empty = 1;", ""},
	{"if (overflow && !empty) return DLPACK_ERROR_TOO_LARGE;", ""},
	{"if (overflow && !empty)", "if (overflow)"},
	{"if (ndim > 0 && !shape) return DLPACK_ERROR_SHAPE_NULL;", ""},
	{"if (ndim > 0 && !strides) return DLPACK_ERROR_STRIDES_NULL;", ""},
	{"if (shape[i] > 1 && !dlpack_multiply_(stride", "if (!dlpack_multiply_(stride"},
	{"if (tensor->shape[i] == 1) continue;", ""},
	{"if (!tensor->strides || count == 0) return 1;", "if (!tensor->strides) return 1;"},
	{"dlpack_magnitude_(tensor->strides[i]) == expected", "tensor->strides[i] == DLPACK_UTIL_CAST(int64_t, expected)"},
	{"if (count == 0) return DLPACK_OK;", ""},
	{"if (!tensor->strides) above =", "if (0) above ="},
	{"tensor->strides[i] < 0 ? &below : &above", "&above"},
	{"dlpack_bytes_of_(above + 1, ", "dlpack_bytes_of_(above, "},
	{"tensor->ndim < 0 || tensor->ndim > DLPACK_MAX_NDIM", "0"},
	{"(options & DLPACK_ACCEPT_NULL_STRIDES) == 0)", "0)"},
	{"(options & DLPACK_ACCEPT_UNKNOWN_CODE) == 0)", "0)"},
	{"(options & DLPACK_ACCEPT_UNKNOWN_DEVICE) == 0)", "0)"},
	{"dtype.bits == 0 || ", ""},
	{"(demanded != 0 && dtype.bits != demanded)", "0"},
	{"dtype.lanes == 0 ? DLPACK_ERROR_LANES : DLPACK_OK", "DLPACK_OK"},
	{"if (high == 0) return DLPACK_OK;", ""},
	{"if (!tensor->data) return DLPACK_ERROR_DATA_NULL;", ""},
	{"if (!dlpack_add_(DLPACK_UTIL_CAST(uint64_t, high), tensor->byte_offset, &end)) return DLPACK_ERROR_OUT_OF_RANGE;", ""},
	{"if (!dlpack_device_has_addresses(device_type))", "if (0)"},
	{"return tensor->byte_offset < dlpack_magnitude_(low) ? DLPACK_ERROR_OUT_OF_RANGE : DLPACK_OK;", "return DLPACK_OK;"},
	{"if (end > DLPACK_UTIL_CAST(uintptr_t, -1) - DLPACK_UTIL_ADDRESS(tensor->data)) return DLPACK_ERROR_OUT_OF_RANGE;", ""},
	{"if (DLPACK_UTIL_ADDRESS(tensor->data) + tensor->byte_offset < dlpack_magnitude_(low)) return DLPACK_ERROR_OUT_OF_RANGE;", ""},
	{"if (!tensor) return DLPACK_ERROR_NULL;", ""},
	{"if (!managed) return DLPACK_ERROR_NULL;", ""},
	{"if (managed->version.major != DLPACK_MAJOR_VERSION) return DLPACK_ERROR_VERSION;", ""},
	{"if (managed->version.minor < 2) options |= DLPACK_ACCEPT_NULL_STRIDES;", ""},
	{"managed->flags, options", "0, options"},
	{"if (!newest) return DLPACK_ERROR_NULL;", ""},
	{"header && visited < DLPACK_MAX_EXCHANGE_APIS", "header"},
	{"header && visited < DLPACK_MAX_EXCHANGE_APIS", "visited < DLPACK_MAX_EXCHANGE_APIS"},
	{"if (header->version.major == DLPACK_MAJOR_VERSION)", "if (1)"},
	{"!found->managed_tensor_allocator || ", ""},
	{"!found->managed_tensor_from_py_object_no_sync ||", ""},
	{"!found->managed_tensor_to_py_object_no_sync || ", ""},
	{" || !found->current_work_stream", ""},
	{"*api = DLPACK_CODES_NULL;", ""},
}

// A crash or an endless loop counts as noticed.
func TestHelperMutantsAreNoticed(t *testing.T) {
	for i, mutant := range helperMutants {
		t.Run(mutant.old, func(t *testing.T) {
			if testing.Short() && i%8 != 0 {
				t.Skip("builds a program for each mutant, and -short was given")
			}
			t.Parallel()
			dir := headers(t, "1.3")
			edit(t, dir, "dlpack_util.h", mutant.old, mutant.new)
			program := build(t, dir, "util.c", "gcc", "-std=c99", "-w")
			out, err := exec.CommandContext(t.Context(), "timeout", "5", program).CombinedOutput()
			assert.Error(t, err, "nothing fails without this check: %s", out)
		})
	}
}
