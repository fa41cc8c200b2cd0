package python

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

func TestModulesHaveNames(t *testing.T) {
	for value, fine := range map[string]bool{"_kernels": true, "a.b._c": true, "": false, "a-b": false,
		".a": false, "a.": false, "1a": false} {
		assert.Equal(t, fine, moduleOption.Check(value) == "", value)
	}
}

func TestTheModuleIsNamedByTheOption(t *testing.T) {
	k := contract.Kernel{Name: "f", Devices: []contract.Device{{Name: "kDLCPU", Value: 1,
		Functions: []contract.Function{{Symbol: "f"}}}}}
	files, err := Target.Emit(&emit.Model{Release: emittest.Release(t, "1.3"), Contracts: []contract.Kernel{k},
		Options: map[string]string{"module": "a.b"}})
	texts := emittest.Texts(t, files, err)
	assert.Contains(t, texts["b.c"], "PyMODINIT_FUNC PyInit_b(void)")
	assert.Contains(t, texts["b.pyi"], "def f() -> None:")
	assert.Contains(t, texts, "py.typed")
	for name, text := range texts {
		if name == "b.c" || name == "b.pyi" {
			assert.NotRegexp(t, `(?m)[ \t]+$|<no value>|\{\{\.`, text, name)
		}
	}
	files, err = Target.Emit(&emit.Model{Release: emittest.Release(t, "1.3")})
	assert.NotContains(t, emittest.Texts(t, files, err), "py.typed", "without a kernel")
}

// A stub has the type of each argument and result, and a result is like its first argument.
func TestTheStubHasTheTypes(t *testing.T) {
	texts, err := emittest.Emitted(t, Target, `f:
  types: {T: [float32, float64]}
  args: {x: "T[n]", n: int, deep: bool, sizes: "list[int, 2]", mask: "uint8[n]? = None", by: "T = 2", mode: str = "a"}
  returns: {y: "T[n]", count: int, part: float}
  symbol: f_{T}
`, map[string]string{"module": "m"})
	require.NoError(t, err)
	assert.Contains(t, texts["m.pyi"], `
def f(x: _Array, n: int, deep: bool, sizes: Sequence[int], mask: SupportsDLPack | None = None, by: float = 2, `+
		`mode: str = "a", *, out: SupportsDLPack | None = None) -> tuple[_Array, int, float]:
`)
}

// The base has room for a number of parameters, which out= and like= count among.
func TestTooManyParameters(t *testing.T) {
	k := contract.Kernel{Name: "f", Devices: []contract.Device{{Name: "kDLCPU", Value: 1}}}
	for i := range emit.MaxParameters {
		k.Args = append(k.Args, contract.Param{Name: "a" + strings.Repeat("b", i), Kind: contract.Int,
			Var: contract.None})
	}
	_, err := viewKernel(&k)
	require.NoError(t, err)
	k.Results = []contract.Param{{Name: "y", Kind: contract.Tensor, Var: contract.None}}
	_, err = viewKernel(&k)
	assert.ErrorContains(t, err, "kernel f has 34 arguments and results: modules of Python have room for 32")
}
