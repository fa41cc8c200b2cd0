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

// helperMutants breaks each check of the helpers once, and each rule of their tables.
var helperMutants = []struct{ file, old, new string }{
	{"elements", "#define DLPACK_PACKED_BELOW 8", "#define DLPACK_PACKED_BELOW 4"},
	{"elements", "#define DLPACK_PADDED_FLAG 4U", "#define DLPACK_PADDED_FLAG 2U"},
	{"elements", "case 5: /* kDLComplex */", ""},
	{"elements", "case 18: /* kDLBcomplex */", ""},
	{"elements", "case 128: return 16;", ""},
	{"elements", "case 16: return 2;", ""},
	{"elements", "case 6: /* kDLBool */", ""},
	{"elements", "case 15: /* kDLFloat6_e2m3fn */", ""},
	{"elements", "case 17: /* kDLFloat4_e2m1fn */", ""},
	{"codes", "case kDLROCMHost: return kDLROCM;", ""},
	{"codes", "return minor < 2;", "return minor < 3;"},
	{"codes", "return minor < 2;", "return 0;"},
	{"rules", "if (((a | b) >> 31) != 0 && b != 0 && a > DLPACK_RULES_MOST / b) return 0;", ""},
	{"rules", "((a | b) >> 31) != 0", "((a | b) >> 33) != 0"},
	{"rules", "if (b > DLPACK_RULES_MOST - a) return 0;", ""},
	{"rules", "return stride < 0 ? 0U - DLPACK_RULES_CAST(uint64_t, stride) : ", "return "},
	{"rules", "return (bits + 7) / 8 * 8;", "return bits;"},
	{"rules", "(flags & DLPACK_PADDED_FLAG) == 0", "1"},
	{"rules", "(count % 8 * element_bits + 7) / 8", "count % 8 * element_bits / 8"},
	{"rules", "if (ndim < 0) return dlpack_fail_(fault, DLPACK_ERROR_NDIM, 0, ndim, -1);", ""},
	{"rules", "if (shape[i] < 0) return dlpack_fail_(fault, DLPACK_ERROR_EXTENT, 0, shape[i], i);", ""},
	{"rules", "if (shape[i] == 0) empty = 1;", ""},
	{"rules", "if (!fits && !empty) return dlpack_fail_(fault, DLPACK_ERROR_TOO_LARGE, 0, 0, -1);", ""},
	{"rules", "if (!fits && !empty)", "if (!fits)"},
	{"rules", "if (ndim > 0 && !shape) return dlpack_fail_(fault, DLPACK_ERROR_SHAPE_NULL, 0, ndim, -1);", ""},
	{"rules", "if (ndim > 0 && !strides) return dlpack_fail_(fault, DLPACK_ERROR_STRIDES_NULL, 0, ndim, -1);", ""},
	{"rules", "if (shape[i] > 1 && !dlpack_multiply_(stride", "if (!dlpack_multiply_(stride"},
	{"rules", " || tensor->shape[i] == 1;", ";"},
	{"rules", "return fits || expected == 0;", "return 1;"},
	{"rules", "|| tensor->shape[last] < 2 ||", "||"},
	{"rules", "tensor->strides[last] == 1) return 1;", "0) return 1;"},
	{"rules", "&count) == DLPACK_OK && count == 0;", "&count) == DLPACK_OK && 0;"},
	{"rules", "  if (!tensor->strides) return 1;", ""},
	{"rules", "dlpack_magnitude_(tensor->strides[i]) == expected", "tensor->strides[i] == DLPACK_RULES_CAST(int64_t, expected)"},
	{"rules", "if (expected == before) return 0;", "if (expected == before) return 1;"},
	{"rules", "if (count == 0) return DLPACK_OK;", ""},
	{"rules", "tensor->strides ? 0 : DLPACK_RULES_CAST(uint64_t, count) - 1", "0"},
	{"rules", "tensor->strides[i] < 0 ? below : above", "above"},
	{"rules", "dlpack_bytes_of_(above + 1, ", "dlpack_bytes_of_(above, "},
	{"rules", "step < last || (step == last && i <= after)", "step <= last"},
	{"rules", "step < last || (step == last && i <= after)", "step < last"},
	{"rules", "&count) == DLPACK_OK && count < 2)) return 0;", "&count) == DLPACK_OK && 0)) return 0;"},
	{"rules", "if (step <= covered) return 1;", "if (step < covered) return 1;"},
	{"rules", "if (steps > (most - covered) / step) return 1;", ""},
	{"rules", "tensor->ndim < 0 || tensor->ndim > most", "0"},
	{"rules", "!tensor->strides && !null_strides)", "!tensor->strides)"},
	{"rules", "!tensor->strides && !null_strides)", "0)"},
	{"rules", "dtype.bits == 0 || ", ""},
	{"rules", "(demanded != 0 && dtype.bits != demanded)", "0"},
	{"rules", "dtype.lanes == 0 ? dlpack_fail_(fault, DLPACK_ERROR_LANES, 1, 0, -1) : DLPACK_OK", "DLPACK_OK"},
	{"rules", "if (!known) return", "if (0) return"},
	{"rules", "if (high == 0) return DLPACK_OK;", ""},
	{"rules", "if (!tensor->data) return dlpack_fail_(fault, DLPACK_ERROR_DATA_NULL, 0, 0, -1);", ""},
	{"rules", "tensor->byte_offset, &end) || end > most)", "tensor->byte_offset, &end))"},
	{"rules", "has_addresses ? DLPACK_RULES_ADDRESS(tensor->data) : 0", "DLPACK_RULES_ADDRESS(tensor->data)"},
	{"rules", "if (base + tensor->byte_offset < dlpack_magnitude_(low))", "if (0)"},
	{"util", "(options & DLPACK_ACCEPT_NULL_STRIDES) != 0", "0"},
	{"util", " || (options & DLPACK_ACCEPT_UNKNOWN_CODE) != 0", ""},
	{"util", "(options & DLPACK_ACCEPT_UNKNOWN_DEVICE) == 0)", "0)"},
	{"util", "if (!tensor) return DLPACK_ERROR_NULL;", ""},
	{"util", "if (!managed) return DLPACK_ERROR_NULL;", ""},
	{"util", "if (managed->version.major != DLPACK_MAJOR_VERSION) return DLPACK_ERROR_VERSION;", ""},
	{"util", "if (dlpack_strides_may_be_null(managed->version.minor)) options", "if (0) options"},
	{"util", "managed->flags, options", "0, options"},
	{"util", "if (!newest) return DLPACK_ERROR_NULL;", ""},
	{"util", "header && visited < DLPACK_MAX_EXCHANGE_APIS", "header"},
	{"util", "header && visited < DLPACK_MAX_EXCHANGE_APIS", "visited < DLPACK_MAX_EXCHANGE_APIS"},
	{"util", "if (header->version.major == DLPACK_MAJOR_VERSION)", "if (1)"},
	{"util", "!found->managed_tensor_allocator || ", ""},
	{"util", "!found->managed_tensor_from_py_object_no_sync ||", ""},
	{"util", "!found->managed_tensor_to_py_object_no_sync || ", ""},
	{"util", " || !found->current_work_stream", ""},
	{"util", "*api = DLPACK_CODES_NULL;", ""},
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
			edit(t, dir, "dlpack_"+mutant.file+".h", mutant.old, mutant.new)
			program := build(t, dir, "util.c", "gcc", "-std=c99", "-w")
			out, err := exec.CommandContext(t.Context(), "timeout", "5", program).CombinedOutput()
			assert.Error(t, err, "nothing fails without this check: %s", out)
		})
	}
}
