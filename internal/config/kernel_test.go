package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/kernel"
)

// withTorch is the least that a config with kernels holds.
const withTorch = "version: 1\ntargets: {c: {}, cpp: {}, torch: {}}\n"

func TestKernelsAreRead(t *testing.T) {
	cfg, found := decode(t, withTorch+`devices: {kDLAcme: {value: 1000}}
kernels:
  square:
    namespace: mylib
    symbol: mylib_square
    header: mylib/kernels.h
    error_string: mylib_error
    doc: "Squares  every element."
    schema: "(Tensor x) -> Tensor"
    like: x
    backward: square_backward
    devices: [kDLCUDA, kDLAcme]
    form: boxed_function
    layout: any
  square_backward: {namespace: mylib, schema: "(Tensor grad, Tensor x) -> Tensor", like: [x]}
  fill: {schema: "(Tensor(a!) out, float a) -> ()"}
`, Choice{})
	require.Empty(t, found)
	require.Len(t, cfg.Kernels, 3)
	square := cfg.Kernels[0]
	assert.Equal(t, kernel.Kernel{
		Name: "square", Namespace: "mylib", Symbol: "mylib_square", Header: "mylib/kernels.h", Error: "mylib_error",
		Doc: "Squares every element.", Backward: "square_backward", Form: "boxed_function", Strided: true,
		Devices: []kernel.Device{{Name: "kDLCUDA", Value: 2}, {Name: "kDLAcme", Value: 1000}},
		Schema:  kernel.Schema{Arguments: []kernel.Argument{{Name: "x"}}, Results: []kernel.Result{{Like: "x"}}},
	}, square)
	fill := cfg.Kernels[2]
	assert.Equal(t, []string{"dlpackgen", "fill", "function"}, []string{fill.Namespace, fill.Symbol, fill.Form},
		"defaults")
	assert.Equal(t, []kernel.Device{{Name: "kDLCPU", Value: 1}}, fill.Devices)
	for _, empty := range []string{"kernels:\n", "kernels: {}\n"} {
		cfg, found = decode(t, withTorch+empty, Choice{})
		assert.Empty(t, found)
		assert.Empty(t, cfg.Kernels)
	}
}

// TestKernelFindings has one kernel f, whose keys stand in the third line.
func TestKernelFindings(t *testing.T) {
	const fine = `schema: "(Tensor x) -> ()"`
	const gives = `schema: "(Tensor x, int n, Tensor? w) -> Tensor"`
	for keys, want := range map[string]string{
		"":                                    `:3:14: error: kernel f has no "schema" [missing-key]`,
		`schema: "(Tensr x) -> ()"`:           `:3:25: error: expected a type, not "Tensr x) -> ()"`,
		`schema: (Tensor x -> ()`:             `:3:33: error: expected ",", not "-> ()" [invalid-schema]`,
		`schema: "(Tensor \x78 x) -> ()"`:     `:3:23: error: expected ",", not "x) -> ()" [invalid-schema]`,
		`schema: [a]`:                         `:3:23: error: schema must be a value, not a list [type-mismatch]`,
		fine + ", schem: x":                   `: error: kernel f has no key "schem" [unknown-key]`,
		fine + ", symbol: 1a":                 `: error: "1a" is no name for a symbol: it is not a name in C [invalid-name]`,
		fine + ", namespace: a__b":            `: error: "a__b" is no name for a namespace: it is reserved`,
		fine + ", namespace: aten":            `: error: the namespace aten is PyTorch's own [invalid-name]`,
		fine + ", namespace: load_library":    `: error: the namespace load_library is PyTorch's own [invalid-name]`,
		fine + ", namespace: NDEBUG":          `: error: the namespace NDEBUG may be a macro [invalid-name]`,
		fine + ", symbol: TORCH_CHECK":        `: error: the symbol TORCH_CHECK may be a macro`,
		fine + ", symbol: main":               `: error: the symbol main is taken in every program`,
		fine + ", error_string: std":          `: error: the function std is taken in every program`,
		fine + ", symbol: g, error_string: g": `: error: g is the symbol of kernel f [kernel-conflict]`,
		fine + ", error_string: [x]":          `: error: error_string must be a value, not a list [type-mismatch]`,
		fine + `, doc: "*/"`:                  `: error: doc must not contain comment marks`,
		fine + ", header: ../x.h":             `: error: "../x.h" is no name for a header [invalid-path]`,
		fine + `, header: "a\"b.h"`:           `is no name for a header [invalid-path]`,
		fine + ", devices: []":                `: error: devices lists none [type-mismatch]`,
		fine + ", devices: kDLCPU":            `: error: devices must be a list, not a value [type-mismatch]`,
		fine + ", devices: [kDLCPUU]":         `: error: no release that is made has a device "kDLCPUU" [unknown-device]`,
		fine + ", devices: [{}]":              `: error: a device must be a value, not a mapping [type-mismatch]`,
		fine + ", devices: [kDLCPU, kDLCPU]":  `: error: kDLCPU again [duplicate-key]`,
		fine + ", form: boxed": `: error: form must be one of function, pointer, lambda, functor, boxed_function, boxed_functor, not ` +
			`"boxed" [unknown-value]`,
		fine + ", layout: strided":       `: error: layout must be one of c_contiguous, any, not "strided" [unknown-value]`,
		fine + ", strided: true":         "hint: it was renamed to \"layout: any\"",
		fine + ", error: e":              "hint: it was renamed to \"error_string\"",
		fine + ", like: x":               `: error: the schema has no result to be like an argument [invalid-like]`,
		gives:                            `:3:14: error: a kernel with a result needs "like"`,
		gives + ", like: y":              `: error: "y" is no argument that is always a tensor [invalid-like]`,
		gives + ", like: n":              `: error: "n" is no argument that is always a tensor [invalid-like]`,
		gives + ", like: w":              `: error: "w" is no argument that is always a tensor [invalid-like]`,
		gives + ", like: [x, x]":         `: error: like lists 2 arguments for 1 results [invalid-like]`,
		gives + ", like: {}":             `: error: like must be a value, not a mapping [type-mismatch]`,
		gives + ", like: x, backward: g": `: error: there is no kernel "g" [unknown-kernel]`,
		gives + ", like: x, backward: f": `: error: f cannot compute the gradients of f: a kernel with a backward takes no optional tensor ` +
			`[invalid-backward]`,
	} {
		_, found := decode(t, withTorch+"kernels: {f: {"+keys+"}}", Choice{})
		assert.Contains(t, found, want, keys)
		assert.Equal(t, 1, strings.Count(found, ": error: "), "one finding is enough: %s", found)
	}
}

func TestKernelsAreComparedWithEachOther(t *testing.T) {
	for section, want := range map[string]string{
		"[f]":                        `:3:10: error: kernels must be a mapping, not a list [type-mismatch]`,
		"{f: 1}":                     `:3:14: error: kernel f must be a mapping, not a value [type-mismatch]`,
		"{f-g: {}}":                  `:3:11: error: "f-g" is no name for a kernel: it is not a name in C [invalid-name]`,
		"{NULL: {schema: () -> ()}}": `:3:11: error: the symbol NULL may be a macro: a C function has a small letter in its name [invalid-name]`,
		"{name: {schema: () -> ()}}": `:3:11: error: torch.ops has no room for a kernel name: its namespaces have that attribute [invalid-name]`,
		"{f: {schema: () -> ()}, f: {schema: () -> ()}}":            `the key "f" again`,
		"{f: {schema: () -> ()}, g: {schema: () -> (), symbol: f}}": `:3:64: error: f is the symbol of kernel f already [kernel-conflict]`,
		"{f: {schema: (Tensor x) -> Tensor, like: x, backward: g}, g: {schema: () -> ()}}": `: error: g cannot compute the gradients of f: the backward must take (Tensor grad0, Tensor x) -> ` +
			`Tensor`,
		"{f: {schema: (Tensor x) -> Tensor, like: x, backward: g}, g: {namespace: b, schema: '(Tensor g, Tensor " +
			"x) -> Tensor', like: x}}": `the backward must have the namespace of the kernel [invalid-backward]`,
	} {
		_, found := decode(t, withTorch+"kernels: "+section, Choice{})
		assert.Contains(t, found, want, section)
	}
	var many strings.Builder
	for i := range kernel.MaxKernels + 1 {
		fmt.Fprintf(&many, "  f%d: {schema: () -> ()}\n", i)
	}
	_, found := decode(t, withTorch+"kernels:\n"+many.String(), Choice{})
	assert.Contains(t, found, ":4:3: error: 1001 kernels, more than 1000 [too-many]")
}
