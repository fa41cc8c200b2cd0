package torchshim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/golden"
)

// emitted returns the files for descriptions of kernels by their paths.
func emitted(t *testing.T, src string, options map[string]string) (map[string]string, error) {
	t.Helper()
	return emittest.Emitted(t, Target, src, options)
}

func TestDescribedKernelsAreRendered(t *testing.T) {
	all, err := emitted(t, `plain:
  namespace: lib
  doc: 'Takes what "x" has.'
  types: {T: [float32, float64]}
  args:
    x: T[..., n + 1]
    table: any[rows, _, ...rest] strided
    a: T
    sizes: list[int, 2]
    to: T[_]? = None
    mode: str = "a?"
    heads: int = 3
    tiny: int8? = None
    exact: bool = True
  returns:
    y: T[..., -min(-n, -3), sizes[1] * heads]
    kept: int64[x.size // 2, table.shape[0] % 3] saved
  symbol: plain_{T}
  devices: {kDLCPU: {}, kDLCUDA: {}, kDLROCM: {}}
  backward: {kernel: plain_backward, saves: [table, to, a, sizes, mode, kept], of: [x, to]}
plain_backward:
  namespace: lib
  types: {T: [float32, float64]}
  args:
    grad: T[...]
    table: any[...rest] strided
    to: T[_]?
    a: T
    sizes: list[int, 2]
    mode: str
    kept: int64[...]
  returns: {dx: "T[...]", dto: "T[sizes[0]]"}
  symbol: plain_backward_{T}
  devices: {kDLCPU: {}, kDLCUDA: {}, kDLROCM: {}}
fill:
  args: {by: float16, out: "float32[...] out"}
  batch: none
`, map[string]string{"module": "lib.sub._kernels"})
	require.NoError(t, err)
	_, rendered, found := strings.Cut(all["kernels_torch.c"], "/* lib::plain(")
	require.True(t, found)
	text := rendered + all["kernels_torch.py"]
	assert.NotRegexp(t, `(?m)[ \t]+$|\n\n\n\n|<no value>|\{\{\.`, text)
	golden.Assert(t, "out/torchshim/described.txt", []byte(text))
}

func TestWhatPyTorchHasNoWordsForIsNamed(t *testing.T) {
	_, err := emitted(t, `{f: {args: {n: int}}, i: {args: {x: "float32[n]"}, devices: {kDLVulkan: {}}}}`, nil)
	require.Error(t, err)
	assert.Equal(t, []string{
		"kernel f takes no tensor: PyTorch finds the backend of an operator by its tensors",
		"kernel i is for kDLVulkan, which PyTorch has no backend for",
	}, strings.Split(err.Error(), "\n"))
}

func TestTheModule(t *testing.T) {
	for module, text := range map[string]string{
		"":             "\nimport dlpackgen_torchshim as shim\n",
		"_other":       "\nimport dlpackgen_torchshim as shim\n",
		"lib._kernels": "\nfrom lib import dlpackgen_torchshim as shim\n",
	} {
		all, err := emitted(t, `{f: {args: {x: "float32[n]"}}}`, map[string]string{"module": module})
		require.NoError(t, err)
		assert.Contains(t, all["kernels_torch.py"], text, module)
	}
	assert.Empty(t, Target.Options[0].Check("lib._kernels"))
	assert.Contains(t, Target.Options[0].Check("lib/kernels"), "is not the name of a module")
}
