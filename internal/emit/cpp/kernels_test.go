package cpp

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/golden"
)

const goldenKernels = "out/cpp/kernels.txt"

const everyForm = `scale:
  types: {T: [float32, int8]}
  args: {x: "T[m, n] strided inout", by: T = 2, mask: "uint8[m]? out = None"}
  symbol: scale_{T}
  devices: {kDLCPU: {}, kDLCUDA: {symbol: "scale_cuda_{T}"}}
f:
  doc: |
    Takes everything there is.

    Twice.
  types: {T: [bfloat16, float64]}
  args:
    x: T[n]? copied
    Text: T[n]
    mode: str
    sizes: list[int]
    weights: list[float]? = None
    name: str = "a \"b\""
    flag: bool? = False
    half: bfloat16 = 1
    limit: float32? = 0.1
    eps: float = 1e-6
    count: int8 = -3
    other: T = 0.25
  returns: {y: "T[n]", kept: "T[n] saved", first: T, rows: int}
  symbol: f_{T}
  backward: {kernel: g, saves: [kept], of: [Text]}
g:
  types: {T: [bfloat16, float64]}
  args: {of_y: "T[n]", kept: "T[n]"}
  returns: {to: "T[n]"}
  symbol: g_c
`

// The golden has what the descriptions decide, without the part that is a copy.
func TestKernelsAreRendered(t *testing.T) {
	files, err := Target.Emit(&emit.Model{Release: emittest.Release(t, "1.3"),
		Contracts: emittest.Described(t, everyForm)})
	text := emittest.Texts(t, files, err)["kernels.hpp"]
	assert.NotRegexp(t, `(?m)[ \t]+$|\n\n\n|<no value>|\{\{[.-]|v0_0|V0_0`, text)
	for line := range strings.SplitSeq(text, "\n") {
		assert.LessOrEqual(t, len(line), 120, line)
	}
	_, own, found := strings.Cut(text, "\nnamespace kernels {\n")
	require.True(t, found)
	golden.Assert(t, goldenKernels, []byte(own))
}

// A kernel's name may hold the word that stands for the release's namespace.
func TestNamesOfKernelsStay(t *testing.T) {
	files, err := Target.Emit(&emit.Model{Release: emittest.Release(t, "1.3"),
		Contracts: emittest.Described(t, `conv0_0: {args: {v0_0: "float32[n]"}}`)})
	text := emittest.Texts(t, files, err)["kernels.hpp"]
	assert.Contains(t, text, "conv0_0(")
	assert.NotContains(t, text, "conv1_3")
}

// Where one header is asked for, the functions include it.
func TestKernelsIncludeTheSingleHeader(t *testing.T) {
	files, err := Target.Emit(&emit.Model{Release: emittest.Release(t, "1.3"),
		Contracts: emittest.Described(t, everyForm), Options: map[string]string{optionSingle: "true"}})
	text := emittest.Texts(t, files, err)["kernels.hpp"]
	assert.Contains(t, text, `#include "dlpackgen.hpp"`)
	assert.NotContains(t, text, "builder.hpp")
}

// Names that C++ could not tell apart are errors.
func TestKernelsThatCppCannotHave(t *testing.T) {
	for want, src := range map[string]string{
		"kernel Text would be Text in C++, a name of the header; rename one": `Text: {args: {x: "int8[n]"}}`,
		"kernel f_new would be f_new in C++, a name of kernel f; rename one": `{f: {returns: {y: "int8[3]"}}, ` +
			`f_new: {args: {x: "int8[n]"}}}`,
		"kernel f_results would be f_results in C++, a name of kernel f; rename one": `{f: {args: {x: "int8[n]"}, ` +
			`returns: {a: int, b: int}}, f_results: {args: {x: "int8[n]"}}}`,
	} {
		_, err := Target.Manifest(&emit.Model{Release: emittest.Release(t, "1.3"), Contracts: emittest.Described(t, src)})
		assert.ErrorContains(t, err, want)
	}
}

func TestDefaultsAreLiterals(t *testing.T) {
	assert.Equal(t, "INT64_C(-9223372036854775807) - 1", integerLiteral(math.MinInt64, "std::int64_t"))
	assert.Equal(t, "1.0F", integerLiteral(1, "float"))
	assert.Equal(t, "1e-06", realLiteral(1e-6, "double"))
}
