package jax

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/hosts"
)

// emitted returns the files for descriptions of kernels, by path.
func emitted(t *testing.T, src string) (map[string]string, error) {
	t.Helper()
	return emittest.Emitted(t, Target, src, map[string]string{"module": "lib._kernels"})
}

func TestKernelsAreRendered(t *testing.T) {
	all, err := emitted(t, `plain:
  namespace: lib
  doc: 'Takes what "x" has.'
  types: {T: [float32, int32]}
  args:
    x: T[..., n]
    columns: float32[n, n]? column_major inout
    a: T
    Z: int
    tiny: uint8
    half: float16?
    names: list[int]
    mode: str = "b"
  returns:
    y: T[..., n]
  symbol: plain_{T}
  devices: {kDLCPU: {}, kDLCUDA: {symbol: "plain_cuda_{T}", graphs: true}}
  where: [n > 1]
  batch: none
`)
	require.NoError(t, err)
	c, python := all["kernels_jax.c"], all["kernels_jax.py"]
	for _, line := range []string{
		"  int status_ = dlpackgen_jax_begin(call_, 7);",
		"  status_ = dlpackgen_jax_mask(call_, &mask_);",
		"  if (mask_ >> 1 & 1) {",
		"    status_ = dlpackgen_jax_argument(call_, arguments_++, 2, true, &tensors_[1]);",
		"  status_ = dlpackgen_jax_read(call_, 2, DLPACKGEN_JAX_NUMBER, &values_[2]);",  // after "?" and "Z"
		"  status_ = dlpackgen_jax_read(call_, 1, DLPACKGEN_JAX_INTEGER, &values_[3]);", // capital letters come first
		"  status_ = dlpackgen_jax_fits(call_, &at_4_, DLPACKGEN_JAX_DTYPE(kDLUInt, 8), values_[4].integer);",
		"    status_ = dlpackgen_jax_written(call_, results_++, (const DLTensor*)values_[1].items);",
		"  if (values_[5].is_present) values_[5].narrow.as_float = (float)values_[5].real;",
		"  return dlpackgen_jax_handle_plain(frame_, 2, DLPACKGEN_XLA_FFI_COMMAND_BUFFERS);",
	} {
		assert.Contains(t, c, line+"\n")
	}
	for _, line := range []string{
		`    handlers={"cpu": "dlpackgen_jax_cpu_plain", "CUDA": "dlpackgen_jax_cuda_plain"},`,
		`        _Parameter("columns", "tensor", optional=True, written=True, column_major=True),`,
		`        _Parameter("a", "number", expected="T", binder=0, dtypes=("float32", "int32")),`,
		`    returned=(0,),`, `    batch="none",`, `    """Takes what "x" has.`,
	} {
		assert.Contains(t, python, line+"\n")
	}
	assert.Contains(t, python, "import lib._kernels as _module\n")
	assert.Contains(t, python, `"bfloat16": (4, 16),`)
}

func TestKernelsThatXLACannotExpress(t *testing.T) {
	for _, c := range [][2]string{
		{"  args: {x: 'float32[n]'}\n  returns: {norm: float}\n", "returns the scalar norm, which XLA cannot: write"},
		{"  args: {x: 'complex32[n]'}\n", "has x of complex32, a dtype that XLA lacks"},
		{"  args: {x: 'float32[n]'}\n  devices: {kDLVulkan: {}}\n", "is for kDLVulkan, which is not a platform of XLA"},
		{"  args: {x: 'float32[n]', y: 'float32[n] cpu'}\n  devices: {kDLCUDA: {}}\n", "has y in the host's memory"},
	} {
		_, err := emitted(t, "k:\n"+c[0])
		assert.ErrorContains(t, err, "kernel k "+c[1])
	}
}

// XLA reports every status with one class.
func TestDocstringsHaveTheErrors(t *testing.T) {
	texts, err := emitted(t, "k:\n  doc: Doubles x.\n  args: {x: 'float32[n]'}\n  returns: {y: 'float32[n]'}\n"+
		"  errors: {7: {raise: IndexError, arg: x, text: no scale}}\n")
	require.NoError(t, err)
	assert.Contains(t, texts["kernels_jax.py"], `    """Doubles x.

    x: float32[n]
    returns y: float32[n]

    Raises:
        jax.errors.JaxRuntimeError: argument 'x': no scale"""
`)
}

func TestOptionsAndDTypes(t *testing.T) {
	assert.Empty(t, moduleOption.Check("a.b_c"))
	assert.NotEmpty(t, moduleOption.Check("a-b"))
	all := dtypes(emittest.Release(t, "1.3"), hosts.Embedded(hostName))
	numbers := map[string]string{}
	for _, d := range all {
		numbers[d.Name] = strings.TrimPrefix(d.Number, "DLPACKGEN_XLA_FFI_DTYPE_")
	}
	assert.Equal(t, "F8E4M3B11FNUZ", numbers["float8_e4m3b11fnuz"])
	assert.Equal(t, "PRED", numbers["bool"])
	assert.Equal(t, "U4", numbers["uint4"])
	assert.NotContains(t, numbers, "complex32")
}
