package c

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// build compiles a program of testdata with a folder of headers.
func build(t *testing.T, dir, source string, command ...string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "program")
	args := append(command[1:len(command):len(command)], "-I", dir, "-o", program, filepath.Join("testdata", source))
	out, err := exec.Command(command[0], args...).CombinedOutput()
	require.NoError(t, err, "%s %s\n%s", command[0], strings.Join(args, " "), out)
	return program
}

var sanitised = []string{"-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}

// The tables of testdata/util.c, under the sanitizers where they exist.
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

// With 32-bit addresses, other sums overflow.
func TestHelpersAnswerRightOn32Bits(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second and a half, and -short was given")
	}
	testtool.Require(t, "i686-linux-gnu-gcc", "gcc-i686-linux-gnu")
	program := build(t, headers(t, "1.3"), "util.c",
		append(command("i686-linux-gnu-gcc", "c", "c99", strict...), "-O2", "-static")...)
	out, err := exec.Command(program).CombinedOutput()
	assert.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), " checks, 0 failed\n")
}

// helperMutants breaks each check of the helpers once, and each rule of their tables.
var helperMutants = []struct{ file, old, new string }{
	{"rules", "#define DLPACKGEN_PACKED_BELOW 8", "#define DLPACKGEN_PACKED_BELOW 4"},
	{"rules", "#define DLPACKGEN_PADDED_FLAG 4U", "#define DLPACKGEN_PADDED_FLAG 2U"},
	{"rules", "case 5: /* kDLComplex */", ""},
	{"rules", "case 18: /* kDLBcomplex */", ""},
	{"rules", "case 128: return 16;", ""},
	{"rules", "case 16: return 2;", ""},
	{"rules", "case 6: /* kDLBool */", ""},
	{"rules", "case 15: /* kDLFloat6_e2m3fn */", ""},
	{"rules", "case 17: /* kDLFloat4_e2m1fn */", ""},
	{"codes", "case kDLROCMHost: return kDLROCM;", ""},
	{"codes", "return minor < 2;", "return minor < 3;"},
	{"codes", "return minor < 2;", "return 0;"},
	{"rules", "if (((a | b) >> 31) != 0 && b != 0 && a > DLPACKGEN_RULES_MAX / b) return 0;", ""},
	{"rules", "((a | b) >> 31) != 0", "((a | b) >> 33) != 0"},
	{"rules", "if (b > DLPACKGEN_RULES_MAX - a) return 0;", ""},
	{"rules", "return stride < 0 ? 0U - DLPACKGEN_RULES_CAST(uint64_t, stride) : ", "return "},
	{"rules", "return (bits + 7) / 8 * 8;", "return bits;"},
	{"rules", "(flags & DLPACKGEN_PADDED_FLAG) == 0", "1"},
	{"rules", "(count % 8 * element_bits + 7) / 8", "count % 8 * element_bits / 8"},
	{"rules", "empty = 0; int32_t i = 0; if (ndim < 0)", "empty = 0; int32_t i = 0; if (0)"},
	{"rules", "stride = 1; int32_t i = 0; if (ndim < 0)", "stride = 1; int32_t i = 0; if (0)"},
	{"rules", "++i) { if (shape[i] < 0)", "++i) { if (0)"},
	{"rules", "i-- > 0;) { if (shape[i] < 0)", "i-- > 0;) { if (0)"},
	{"rules", "if (shape[i] == 0) empty = 1;", ""},
	{"rules", "if (!fits && !empty) return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_TOO_LARGE, 0, 0, -1);", ""},
	{"rules", "if (!fits && !empty)", "if (!fits)"},
	{"rules", "if (ndim > 0 && !shape) return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_SHAPE_NULL, 0, ndim, -1); for (",
		"for ("},
	{"rules", "if (ndim > 0 && !shape) return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_SHAPE_NULL, 0, ndim, -1); if (",
		"if ("},
	{"rules", "if (ndim > 0 && !strides) return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_STRIDES_NULL, 0, ndim, -1);",
		""},
	{"rules", "return extent < 2 || dlpackgen_multiply_(", "return dlpackgen_multiply_("},
	{"rules", " || tensor->shape[i] == 1;", ";"},
	{"rules", "return fits || expected == 0;", "return 1;"},
	{"rules", "|| tensor->shape[last] < 2 ||", "||"},
	{"rules", "tensor->strides[last] == 1) return 1;", "0) return 1;"},
	{"rules", "&count) == DLPACKGEN_OK && count == 0;", "&count) == DLPACKGEN_OK && 0;"},
	{"rules", "  if (!tensor->strides) return 1;", ""},
	{"rules", "dlpackgen_magnitude_(tensor->strides[i]) == expected",
		"tensor->strides[i] == DLPACKGEN_RULES_CAST(int64_t, expected)"},
	{"rules", "if (expected == before) return 0;", "if (expected == before) return 1;"},
	{"rules", "if (count == 0) return DLPACKGEN_OK;", ""},
	{"rules", "tensor->strides ? 0 : DLPACKGEN_RULES_CAST(uint64_t, count) - 1", "0"},
	{"rules", "tensor->strides[i] < 0 ? below : above", "above"},
	{"rules", "dlpackgen_bytes_of_(above + 1, ", "dlpackgen_bytes_of_(above, "},
	{"rules", "step < last || (step == last && i <= after)", "step <= last"},
	{"rules", "step < last || (step == last && i <= after)", "step < last"},
	{"rules", "&count) == DLPACKGEN_OK && count < 2)) return 0;", "&count) == DLPACKGEN_OK && 0)) return 0;"},
	{"rules", "if (step <= covered) return 1;", "if (step < covered) return 1;"},
	{"rules", "if (steps > (most - covered) / step) return 1;", ""},
	{"rules", "tensor->ndim < 0 || tensor->ndim > most", "0"},
	{"rules", "!tensor->strides && !null_strides)", "!tensor->strides)"},
	{"rules", "!tensor->strides && !null_strides)", "0)"},
	{"rules", "dtype.bits == 0 || ", ""},
	{"rules", "(demanded != 0 && dtype.bits != demanded)", "0"},
	{"rules", "dtype.lanes == 0 ? dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_LANES, 1, 0, -1) : DLPACKGEN_OK",
		"DLPACKGEN_OK"},
	{"rules", "if (!known) return", "if (0) return"},
	{"rules", "if (high == 0) return DLPACKGEN_OK;", ""},
	{"rules", "if (!tensor->data) return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_DATA_NULL, 0, 0, -1);", ""},
	{"rules", "tensor->byte_offset, &end) || end > most)", "tensor->byte_offset, &end))"},
	{"rules", "has_addresses ? DLPACKGEN_RULES_ADDRESS(tensor->data) : 0", "DLPACKGEN_RULES_ADDRESS(tensor->data)"},
	{"rules", "if (base + tensor->byte_offset < dlpackgen_magnitude_(low))", "if (0)"},
	{"tensor", "(options & DLPACKGEN_ACCEPT_NULL_STRIDES) != 0", "0"},
	{"tensor", " || (options & DLPACKGEN_ACCEPT_UNKNOWN_CODE) != 0", ""},
	{"tensor", "(options & DLPACKGEN_ACCEPT_UNKNOWN_DEVICE) != 0", "1"},
	{"tensor", "if (!tensor) return DLPACKGEN_ERROR_NULL;", ""},
	{"tensor", "if (!managed) return DLPACKGEN_ERROR_NULL;", ""},
	{"tensor", "if (managed->version.major != DLPACK_MAJOR_VERSION) return DLPACKGEN_ERROR_VERSION;", ""},
	{"tensor", "if (dlpackgen_strides_may_be_null(managed->version.minor)) options", "if (0) options"},
	{"tensor", "managed->flags, options", "0, options"},
	{"tensor", "if (!newest) return DLPACKGEN_ERROR_NULL;", ""},
	{"tensor", "header && visited < DLPACKGEN_MAX_EXCHANGE_APIS", "header"},
	{"tensor", "header && visited < DLPACKGEN_MAX_EXCHANGE_APIS", "visited < DLPACKGEN_MAX_EXCHANGE_APIS"},
	{"tensor", "if (header->version.major == DLPACK_MAJOR_VERSION)", "if (1)"},
	{"tensor", "!found->managed_tensor_allocator || ", ""},
	{"tensor", "!found->managed_tensor_from_py_object_no_sync ||", ""},
	{"tensor", "!found->managed_tensor_to_py_object_no_sync || ", ""},
	{"tensor", " || !found->current_work_stream", ""},
	{"tensor", "*api = DLPACKGEN_CODES_NULL;", ""},
}

// A crash or an endless loop counts as detected.
func TestHelperMutantsAreNoticed(t *testing.T) {
	tier.OnlyNightly(t)
	gcc, all := testtool.RequireCompiler(t, "gcc", "gcc"), []mutation.Mutant(nil)
	for _, m := range helperMutants {
		all = append(all, mutation.Mutant{File: "dlpackgen/" + m.file + ".h", Old: m.old, New: m.new})
	}
	programOf := mutation.Programs(t, headers(t, "1.3"), all, func(dir string, flags ...string) string {
		return build(t, dir, "util.c", append([]string{gcc, "-std=c99", "-w"}, flags...)...)
	})
	whole, env := programOf(t, len(all)-1)
	require.Equal(t, mutation.Env(len(all)), env, "the last mutant is in the program that has many")
	out, err := with(t, whole, mutation.Env(0))
	require.NoError(t, err, "without a mutant: %s", out)
	for i, mutant := range helperMutants {
		t.Run(mutant.old, func(t *testing.T) {
			t.Parallel()
			program, env := programOf(t, i)
			out, err := with(t, program, env)
			assert.Error(t, err, "nothing fails without this check: %s", out)
		})
	}
}

// with runs a program that may be broken, with a variable set.
func with(t *testing.T, program, env string) (string, error) {
	t.Helper()
	cmd := testkit.Limited(program)
	cmd.Env = append(os.Environ(), env)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
