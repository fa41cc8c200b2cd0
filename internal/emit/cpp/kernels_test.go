package cpp

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
)

// A kernel's name may contain the placeholder of the release's namespace.
func TestNamesOfKernelsStay(t *testing.T) {
	files, err := Target.Emit(&emit.Model{Release: emittest.Release(t, "1.3"),
		Contracts: emittest.Described(t, `conv0_0: {args: {v0_0: "float32[n]"}}`)})
	text := emittest.Texts(t, files, err)["kernels.hpp"]
	assert.Contains(t, text, "conv0_0(")
	assert.NotContains(t, text, "conv1_3")
}

// If a single header is requested, the functions include it.
func TestKernelsIncludeTheSingleHeader(t *testing.T) {
	files, err := Target.Emit(&emit.Model{Release: emittest.Release(t, "1.3"),
		Contracts: emittest.Described(t, `f: {args: {x: "int8[n]"}}`),
		Options:   map[string]string{optionSingle: "true"}})
	text := emittest.Texts(t, files, err)["kernels.hpp"]
	assert.Contains(t, text, `#include "dlpackgen.hpp"`)
	assert.NotContains(t, text, "builder.hpp")
}

// Names that would be equal in C++ are errors.
func TestKernelsThatCppCannotHave(t *testing.T) {
	for want, src := range map[string]string{
		"kernel Text would be Text in C++, a name of the header; rename one": `Text: {args: {x: "int8[n]"}}`,
		"kernel f_new would be f_new in C++, a name of kernel f; rename one": `{f: {returns: {y: "int8[3]"}}, ` +
			`f_new: {args: {x: "int8[n]"}}}`,
		"kernel f_results would be f_results in C++, a name of kernel f; rename one": `{f: {args: {x: "int8[n]"}, ` +
			`returns: {a: int, b: int}}, f_results: {args: {x: "int8[n]"}}}`,
	} {
		_, err := Target.Manifest(&emit.Model{Release: emittest.Release(t, "1.3"),
			Contracts: emittest.Described(t, src)})
		assert.ErrorContains(t, err, want)
	}
}

func TestDefaultsAreLiterals(t *testing.T) {
	assert.Equal(t, "INT64_C(-9223372036854775807) - 1", integerLiteral(math.MinInt64, "std::int64_t"))
	assert.Equal(t, "1.0F", integerLiteral(1, "float"))
	assert.Equal(t, "1e-06", realLiteral(1e-6, "double"))
}
