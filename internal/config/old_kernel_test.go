package config

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/kernel"
)

// withTorch is a minimal config with kernels.
const withTorch = "version: 1\ntargets: {c: {}, cpp: {}, kernels: {}, torch: {}}\n"

// hinted is the text of a multi-line hint below its first line.
var hinted = regexp.MustCompile(`(?m)^      (.*)$`)

// The lines in the schema's hint replace it, and are accepted without a finding.
func TestSchemasAreTranslated(t *testing.T) {
	for keys, want := range map[string]string{
		`schema: "(Tensor x, float scale) -> Tensor", like: x, layout: c_contiguous`: `types:
  T: [float32, float64]
args:
  x: T[...x_dims] copied
  scale: float
returns:
  result0: T[...x_dims]`,
		`schema: "(Tensor(a!) out, float value) -> ()", layout: any`: `args:
  out: any[...out_dims] strided inout
  value: float`,
		`schema: "(Tensor? w, Tensor x, int n, bool on, Tensor(a!) out) -> (Tensor, Tensor y)", like: [x, x]`: `types:
  T: [float32, float64]
args:
  w: any[...w_dims]? copied
  x: T[...x_dims] copied
  n: int
  "on": bool
  to: any[...out_dims] inout
returns:
  result0: T[...x_dims]
  y: T[...x_dims]`,
		`schema: " ( Tensor x,Tensor z )->(Tensor,Tensor x)", like: [x, z], error_string: f_error, devices: [kDLCPU]`: `types:
  T: [float32, float64]
  U: [float32, float64]
args:
  x: T[...x_dims] copied
  z: U[...z_dims] copied
returns:
  result0: T[...x_dims]
  xx: U[...z_dims]
error: f_error
devices:
  kDLCPU: {}`,
	} {
		_, found := decode(t, withTorch+"kernels: {f: {"+keys+"}}", Choice{})
		assert.Contains(t, found, "error: kernel f has a schema: args and returns describe a kernel [kernel-form]",
			keys)
		assert.Contains(t, found, "hint: write this instead, and narrow the dtypes and the extents:", keys)
		var lines []string
		for _, line := range hinted.FindAllStringSubmatch(found, -1) {
			if !strings.Contains(line[1], "schema:") && strings.Trim(line[1], " ^") != "" {
				lines = append(lines, line[1])
			}
		}
		assert.Equal(t, want, strings.Join(lines, "\n"), keys)
		cfg, again := decode(t, withTorch+"kernels:\n  f:\n    "+strings.Join(lines, "\n    ")+"\n", Choice{})
		require.Empty(t, again, keys)
		assert.Len(t, cfg.Contracts, 1)
	}
}

// A kernel and the kernel of its gradients are translated consistently.
func TestTranslatedGradientsFit(t *testing.T) {
	const old = `kernels:
  f: {schema: "(Tensor x, float a, Tensor w) -> Tensor", like: x, backward: g}
  g: {schema: "(Tensor grad, Tensor x, float a, Tensor w) -> (Tensor, Tensor)", like: [x, w]}
`
	_, found := decode(t, withTorch+old, Choice{})
	assert.Equal(t, 2, strings.Count(found, "[kernel-form]"), found)
	assert.Contains(t, found, "      backward: {kernel: g, saves: [x, a, w], of: [x, w]}\n")
	text := withTorch + "kernels:\n"
	for i, part := range strings.Split(found, "hint: ")[1:] {
		text += fmt.Sprintf("  %c:\n", 'f'+i)
		for _, line := range hinted.FindAllStringSubmatch(part, -1) {
			if !strings.Contains(line[1], "schema:") && strings.Trim(line[1], " ^") != "" {
				text += "    " + line[1] + "\n"
			}
		}
	}
	_, again := decode(t, text, Choice{})
	assert.Empty(t, again, text)
}

// Constructs that are not translated are errors, whose hints contain the new form.
func TestOtherOlderKeys(t *testing.T) {
	const fine = `args: {x: "float32[n]"}`
	for keys, want := range map[string][2]string{
		"": {"3:11: error: kernel f has neither args nor returns [missing-key]",
			`as in ` + "`args: {x: \"float32[n]\"}`"},
		`schema: "(Tensr x) -> ()"`: {"3:23: error: kernel f has a schema",
			"write args and returns, as docs/kernels.md describes"},
		`schema: "(Tensor x) -> Tensor"`: {"3:23: error: kernel f has a schema",
			"write args and returns, as docs/kernels.md describes"},
		`schema: "(int x) -> Tensor", like: x`: {"3:23: error: kernel f has a schema",
			"write args and returns, as docs/kernels.md describes"},
		`schema: [a]`: {"3:23: error: kernel f has a schema",
			"write args and returns, as docs/kernels.md describes"},
		fine + `, schema: "(Tensor x) -> ()"`: {"error: kernel f has a schema", "omit it"},
		fine +
			", like: x": {"error: kernel f has like: args and returns describe a kernel [kernel-form]",
			"write the result as a line of returns"},
		fine + ", layout: any":     {"error: kernel f has layout", "write `strided`"},
		fine + ", strided: true":   {"error: kernel f has strided", "write `strided`"},
		fine + ", header: a.h":     {"error: kernel f has header", "kernels.h of target kernels"},
		fine + ", error_string: e": {"error: kernel f has error_string", "write error:"},
		fine + ", backward: g": {"error: backward must be a mapping, not a value [type-mismatch]",
			"write backward: {kernel: g"},
		fine + ", devices: [kDLCPU]": {"error: devices must be a mapping, not a list [type-mismatch]",
			"write `kDLCPU: {}`"},
		fine +
			", form: boxed": {"error: form must be one of function, pointer, lambda, functor, boxed_function, boxed_functor, not \"boxed\" [unknown-value]", ""},
	} {
		_, found := decode(t, withTorch+"kernels: {f: {"+keys+"}}", Choice{})
		assert.Contains(t, found, want[0], keys)
		assert.Contains(t, found, want[1], keys)
		assert.Equal(t, 1, strings.Count(found, ": error: "), "one finding is enough: %s", found)
	}
}

func TestSectionsOfKernels(t *testing.T) {
	for _, empty := range []string{"kernels:\n", "kernels: {}\n"} {
		cfg, found := decode(t, "version: 1\ntargets: {c: {}, cpp: {}, torch: {}}\n"+empty, Choice{})
		assert.Empty(t, found)
		assert.Empty(t, cfg.Contracts)
	}
	for section, want := range map[string]string{
		"[f]":                     `:3:10: error: kernels must be a mapping, not a list [type-mismatch]`,
		"{f: 1}":                  `:3:14: error: kernel f must be a mapping, not a value [type-mismatch]`,
		"{f-g: {args: {x: int}}}": `:3:11: error: "f-g" is not a name for a kernel: it is not a name in C [invalid-name]`,
		"{name: {args: {x: 'int8[n]'}}}": `:3:11: error: target torch: kernel name has a name that torch.ops.dlpackgen has as an attribute ` +
			`[unsupported-kernel]`,
		"{f: {namespace: aten, args: {x: 'int8[n]'}}}": `:3:11: error: target torch: kernel f is in the namespace aten, which is PyTorch's own`,
	} {
		_, found := decode(t, withTorch+"kernels: "+section, Choice{})
		assert.Contains(t, found, want, section)
	}
	var many strings.Builder
	for i := range kernel.MaxKernels + 1 {
		fmt.Fprintf(&many, "  f%d: {args: {x: int}}\n", i)
	}
	_, found := decode(t, withTorch+"kernels:\n"+many.String(), Choice{})
	assert.Contains(t, found, ":4:3: error: 1001 kernels, more than 1000 [too-many]")
}

// The forms in which target torch registers a kernel.
func TestForms(t *testing.T) {
	cfg, found := decode(t, withTorch+"kernels: {f: {args: {x: 'int8[n]'}}, g: {args: {x: 'int8[n]'}, form: pointer}}",
		Choice{})
	require.Empty(t, found)
	assert.Equal(t, []string{"function", "pointer"}, []string{cfg.Contracts[0].Form, cfg.Contracts[1].Form})
}
