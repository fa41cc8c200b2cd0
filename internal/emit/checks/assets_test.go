package checks

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
)

// target has only the assets.
var target = emit.Target{Manifest: func(m *emit.Model) (emit.Manifest, error) {
	header, source := Assets(m.Release, m.Contracts)
	return emit.Manifest{Assets: []emit.Asset{header, source}}, nil
}}

const two = `scale:
  args: {x: "float32[m, n] strided inout", by: "float32[]"}
silu_and_mul:
  doc: Halves the last dimension.
  types: {T: [float32, float64]}
  args: {x: "T[..., m]", mask: "bool[m]? = None"}
  returns: {y: "T[..., m // 2]"}
  where: [m % 2 == 0]
  symbol: silu_{T}
  devices: {kDLCPU: {}, kDLCUDA: {symbol: silu_cuda}}
  serial: true
`

// A symbol may be only in an optional argument, and compilers must not warn that it is unused.
func TestASymbolOfOnePlace(t *testing.T) {
	files, err := target.Emit(&emit.Model{Release: emittest.Release(t, "1.3"),
		Contracts: emittest.Described(t, "f: {args: {x: 'float32[2 * m]?'}}")})
	require.NoError(t, err)
	assert.Contains(t, emittest.Texts(t, files, err)["kernels.c"], "    bound_0 = 1;\n    (void)bound_0;\n")
}

// The lock is included only if a kernel needs it, because it requires threads.
func TestOnlySerialKernelsHaveALock(t *testing.T) {
	files, err := target.Emit(&emit.Model{Release: emittest.Release(t, "1.3"),
		Contracts: emittest.Described(t, two[:strings.Index(two, "silu")])})
	require.NoError(t, err)
	assert.False(t, strings.Contains(string(files[1].Data), "dlpackgen_lock"))
}

// Names that may be macros are not used as members.
func TestMembersAreNoMacros(t *testing.T) {
	files, err := target.Emit(&emit.Model{Release: emittest.Release(t, "1.3"),
		Contracts: emittest.Described(t, `f: {types: {TYPE: [int8]}, args: {x: "TYPE[NULL]"}}`)})
	require.NoError(t, err)
	assert.Contains(t, string(files[0].Data), "int64_t NULL_;")
	assert.Contains(t, string(files[0].Data), "int TYPE_;")
	assert.Contains(t, string(files[1].Data), "call->dims.NULL_ = call->args.x->shape[0];")
}
