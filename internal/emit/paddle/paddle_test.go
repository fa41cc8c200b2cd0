package paddle

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// emitted returns the files for descriptions of kernels, by path.
func emitted(t *testing.T, src string) (map[string]string, []contract.Kernel, error) {
	t.Helper()
	diags := &diag.List{}
	root := yaml.Parse("k.yaml", []byte(src), diags)
	require.NotNil(t, root)
	scope := contract.Scope{DTypes: emittest.Release(t, "1.3").DTypes, MaxNDim: 64,
		Devices: map[string]int64{"kDLCPU": 1}}
	m := &emit.Model{Release: emittest.Release(t, "1.3"), Options: map[string]string{"module": "lib._kernels"}}
	for _, e := range root.Entries {
		m.Contracts = append(m.Contracts, contract.Read(e, scope, diags).Kernel)
	}
	require.Empty(t, diag.Text(diags.Sorted(), false))
	files, err := Target.Emit(m)
	all := map[string]string{}
	for _, f := range files {
		all[f.Path] = string(f.Data)
	}
	return all, m.Contracts, err
}

const plain = `plain:
  doc: 'Takes what "x" has.'
  types: {T: [float32, int32]}
  args:
    x: T[..., n]
    host: float32[n - 1]? cpu
    k: int
    a: T
    mode: str = "b"
  returns: {y: "T[..., max(n, k) // 2]", z: "bool[x.size, -n % 2]"}
  symbol: plain_{T}
`

func TestKernelsAreRendered(t *testing.T) {
	all, _, err := emitted(t, plain)
	require.NoError(t, err)
	for _, line := range []string{
		`from lib.dlpackgen_paddle import (`,
		`def plain(x, host, k, a, mode="b", *, out=None):`,
		`    """Takes what "x" has.`,
		`    check="dlpackgen_paddle_check_plain",`,
		`        _Parameter("host", "tensor", optional=True, cpu=True),`,
		`        _Parameter("a", "number", expected="T", binder=0, dtypes=("float32", "int32")),`,
		`    n_dim_ = _extent(arguments["x"], 1, -1)`,
		`        ([*_leading(arguments["x"], 0, 1), _floor_divide(_greatest(n_dim_, k_dim_), 2)], arguments["x"].dtype),`,
		`        ([_size(arguments["x"]), _floor_remainder((-n_dim_), 2)], "bool"),`,
	} {
		assert.Contains(t, all["kernels_paddle.py"], line+"\n")
	}
	assert.Contains(t, all["dlpackgen_paddle.py"], "import lib._kernels as _module\n")
	assert.Contains(t, all["kernels_paddle.c"], "int dlpackgen_paddle_check_plain(")
}

func TestKernelsThatPaddleCannotExpress(t *testing.T) {
	for _, c := range [][2]string{
		{"  args: {x: 'uint32[n]'}\n", "has x of uint32, a dtype that Paddle lacks"},
		{"  args: {x: 'float32[n]'}\n  returns: {y: 'int4[n]'}\n", "has y of int4, a dtype that Paddle lacks"},
	} {
		_, _, err := emitted(t, "k:\n"+c[0])
		assert.ErrorContains(t, err, "kernel k "+c[1])
		assert.Len(t, emit.Rejected(err), 1)
	}
}

func TestTooManySavedValues(t *testing.T) {
	k := &contract.Kernel{Name: "k", Backward: &contract.Backward{}, Results: []contract.Param{{Saved: true}}}
	k.Args = make([]contract.Param, emit.MaxParameters-1)
	for i := range k.Args {
		k.Args[i].Kind = contract.Int
	}
	k.Results[0].Kind = contract.Int
	assert.Empty(t, inexpressible(k))
	k.Args = append(k.Args, k.Args[0])
	require.Len(t, inexpressible(k), 1)
	assert.ErrorContains(t, inexpressible(k)[0], "kernel k has 33 arguments and results, with those that its backward")
}

func TestLimits(t *testing.T) {
	for src, want := range map[string][]string{
		"k:\n  args: {x: 'float32[n]'}\n":                           {"no paddle.jit.save of graphs"},
		"k:\n  args: {x: 'float32[n] out'}\n":                       {"no static graph: it writes to x"},
		"k:\n  args: {x: 'float32[n, m] column_major'}\n":           {"no static graph: x is column_major"},
		"k:\n  args: {x: 'float32[n]'}\n  returns: {norm: float}\n": {"no static graph: it returns the scalar norm"},
	} {
		_, kernels, err := emitted(t, src)
		require.NoError(t, err)
		assert.Equal(t, want, limits(&kernels[0]), src)
	}
}

func TestDevicesWithoutTensorsAreLimits(t *testing.T) {
	k := contract.Kernel{}
	for _, name := range []string{"kDLCPU", "kDLCUDA", "kDLCUDAHost", "kDLOneAPI"} {
		k.Devices = append(k.Devices, contract.Device{Name: name})
	}
	assert.Equal(t, []string{"no paddle.jit.save of graphs"}, limits(&k))
	k.Devices = append(k.Devices, contract.Device{Name: "kDLOpenCL"})
	assert.Equal(t, []string{"Paddle has no tensors on kDLOpenCL", "no paddle.jit.save of graphs"}, limits(&k))
}
