package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A valid description that a target does not support results in a finding with a position, before
// files are generated.
func TestKernelsThatTargetsCannotMake(t *testing.T) {
	const head = "version: 1\ntargets: {c: {}, kernels: {}, %s: {}}\nkernels:\n"
	var many []string
	for i := range 32 {
		many = append(many, fmt.Sprintf("a%d: int", i))
	}
	rename := "rename the kernel or its argument; `symbol:` keeps the name of the C function"
	other := "describe the kernel differently, or in a config that does not list the target; see " +
		"`dlpackgen list callers --kernel f`"
	for _, tt := range []struct {
		target, kernels string
		want            []string // each followed by its hint
	}{
		{"cpp", "  f: {args: {x: \"float32[n]\"}}\n  Managed: {args: {x: \"float32[n]\"}}\n  List: {args: {x: \"int8[n]\"}}",
			[]string{"5:3: error: target cpp: kernel Managed would be Managed in C++, a name of the header; rename one " +
				"[kernel-conflict]", rename,
				"6:3: error: target cpp: kernel List would be List in C++, a name of the header; rename one " +
					"[kernel-conflict]", rename}},
		{"go", "  a_b: {args: {x: \"float32[n]\"}}\n  aB: {args: {x: \"float32[n]\"}}",
			[]string{"5:3: error: target go: kernel aB would be AB in Go, a name of kernel a_b; rename one [kernel-conflict]",
				rename}},
		{"go", "  f: {args: {x: \"float32[n]\", a_b: int = 1, aB: int = 2}}",
			[]string{"4:45: error: target go: kernel f would have two options AB in Go, argument a_b and argument aB; " +
				"rename one [kernel-conflict]", rename}},
		{"python", "  f: {args: {" + strings.Join(many, ", ") + "}, returns: {y: \"float32[3]\"}}",
			[]string{"4:3: error: target python: kernel f has 34 arguments and results: modules of Python have room for 32 " +
				"[unsupported-kernel]", other}},
		{"cpp: {}, torch", "  f: {args: {n: int}, returns: {m: int}}",
			[]string{"4:3: error: target torch: kernel f takes no tensor: PyTorch finds the backend of an operator by its " +
				"tensors [unsupported-kernel]", other,
				"4:33: error: target torch: kernel f returns the scalar m, which PyTorch cannot compute for a graph: " +
					"write int64[] for a tensor of rank 0 [unsupported-kernel]", other}},
		{"torchshim", "  f: {args: {x: \"int8[n]\", y: \"int8[n]? inout\"}}",
			[]string{"4:28: error: target torchshim: kernel f writes to y, which may be None: PyTorch has no such argument " +
				"[unsupported-kernel]", other}},
		{"python: {}, jax", "  f: {args: {x: \"complex32[n]\"}}",
			[]string{"4:14: error: target jax: kernel f has x of complex32, a dtype that XLA lacks [unsupported-kernel]",
				other}},
		{"onnxruntime", "  g: {args: {x: \"int8[n]\"}, returns: {y: \"int8[n]\"}}\n" +
			"  f: {args: {x: \"int8[n] inout\"}}",
			[]string{"5:3: error: target onnxruntime: kernel f returns nothing: an operator of ONNX has outputs " +
				"[unsupported-kernel]", other,
				"5:14: error: target onnxruntime: kernel f writes to x, and operators of ONNX only read their inputs: " +
					"return it [unsupported-kernel]", other}},
		{"cpp", "  KernelCheck: {args: {x: \"float32[n]\"}}", nil},
	} {
		_, found := decode(t, fmt.Sprintf(head, tt.target)+tt.kernels+"\n", Choice{})
		var got []string
		for line := range strings.Lines(found) {
			for _, prefix := range []string{"dlpackgen.yaml:", "    hint: "} {
				if text, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), prefix); ok {
					got = append(got, text)
				}
			}
		}
		assert.Equal(t, tt.want, got, tt.kernels)
		cfg, found := decode(t, fmt.Sprintf(head, tt.target)+tt.kernels+"\n", Choice{AnyKernels: true})
		assert.Empty(t, found, tt.kernels)
		assert.NotEmpty(t, cfg.Contracts, tt.kernels)
	}
	const unaware = "version: 1\ntargets: {c: {}, kernels: {}}\nkernels: {Managed: {args: {x: \"float32[n]\"}}}\n"
	_, found := decode(t, unaware, Choice{})
	assert.Empty(t, found, "no target has that name")
}
