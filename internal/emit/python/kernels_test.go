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

// A stub contains the type of each argument and result; a result has the type of its first
// argument.
func TestTheStubHasTheTypes(t *testing.T) {
	texts, err := emittest.Emitted(t, Target, `f:
  types: {T: [float32, float64]}
  args: {x: "T[n]", n: int, deep: bool, sizes: "list[int, 2]", mask: "uint8[n]? = None", by: "T = 2", mode: str = "a"}
  returns: {y: "T[n]", count: int, part: float}
  symbol: f_{T}
`, map[string]string{"module": "m"})
	require.NoError(t, err)
	const head = `mask: SupportsDLPack | None = None, by: float = 2, mode: str = "a", *, `
	assert.Contains(t, texts["m.pyi"], `
@overload
def f(x: _Array, n: int, deep: bool, sizes: Sequence[int], `+head+`out: None = None) -> tuple[_Array, int, float]:
`)
	assert.Contains(t, texts["m.pyi"], `
@overload
def f(x: SupportsDLPack, n: int, deep: bool, sizes: Sequence[int], `+head+`out: _Out) -> tuple[_Out, int, float]:
`)
	assert.Contains(t, texts["m.pyi"], "from typing import Any, Protocol, TypeVar, overload\n")
}

// The texts that conditions allow are an argument's type, if every call must meet the conditions.
func TestTheStubListsTexts(t *testing.T) {
	for where, want := range map[string]string{
		`s in "a"|"b"`:                        `s: Literal["a", "b"] = "a"`,
		`s in "a"|"b'c\\"|"d" and n > 1`:      `s: Literal["a", "b'c\\", "d"] = "a"`,
		`n > 1 and s in "b"|"a" and s in "a"`: `s: Literal["a"] = "a"`,
		`s in "a"|"b" or n > 1`:               `s: str = "a"`,
		`n in 1|2`:                            `s: str = "a"`,
		`s in "a" and t in "b" or s in "b"`:   `s: str = "a"`,
		`t in "x"|"y" and s in "a"`:           `s: Literal["a"] = "a", t: Literal["x", "y"] | None = None`,
	} {
		text := "f:\n  args: {x: \"int8[n]\", s: str = \"a\", t: \"str? = None\"}\n  where:\n    - " + where + "\n"
		texts, err := emittest.Emitted(t, Target, text, map[string]string{"module": "m"})
		require.NoError(t, err, where)
		assert.Contains(t, texts["m.pyi"], want, where)
		imports := "from typing import Any, Protocol, TypeVar\n"
		if strings.Contains(want, "Literal") {
			imports = "from typing import Any, Literal, Protocol, TypeVar\n"
		}
		assert.Contains(t, texts["m.pyi"], imports, where)
	}
}

// Docstrings list the exception for each status.
func TestDocstringsHaveTheErrors(t *testing.T) {
	texts, err := emittest.Emitted(t, Target, `f:
  args: {x: "int8[n]", idx: "int64[n]"}
  errors:
    1: {raise: IndexError, arg: idx, text: an index is out of range}
    -2: {raise: MemoryError}
    3: {raise: ValueError, text: not so}
`, map[string]string{"module": "m"})
	require.NoError(t, err)
	assert.Contains(t, texts["m.pyi"], `
    idx: int64[n]

    Raises:
        IndexError: argument 'idx': an index is out of range
        MemoryError: the kernel failed with status -2
        ValueError: not so"""
`)
	assert.Contains(t, texts["m.c"], `"    IndexError: argument 'idx': an index is out of range\n"`)
	texts, err = emittest.Emitted(t, Target, "f: {args: {x: 'int8[n]'}}", map[string]string{"module": "m"})
	require.NoError(t, err)
	assert.NotContains(t, texts["m.pyi"], "Raises")
}

// The base limits the number of parameters, which includes out= and like=.
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

func TestResultsOnOtherDevicesAreALimit(t *testing.T) {
	limit := []string{"on devices other than the CPU, only PyTorch and CuPy allocate results: pass out= with others"}
	tensor := contract.Param{Name: "y", Kind: contract.Tensor}
	k := contract.Kernel{Devices: []contract.Device{{Name: "kDLCPU"}, {Name: "kDLCUDA"}},
		Results: []contract.Param{tensor}}
	assert.Equal(t, limit, limits(&k))
	k.Devices = k.Devices[:1]
	assert.Empty(t, limits(&k))
	k.Devices = []contract.Device{{Name: "kDLCUDA"}}
	assert.Equal(t, limit, limits(&k))
	k.Results[0].Kind = contract.Float
	assert.Empty(t, limits(&k))
	k.Results = nil
	assert.Empty(t, limits(&k))
}
