package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What a target cannot make of a description that is in order is a finding with a position, before
// anything is generated.
func TestKernelsThatTargetsCannotMake(t *testing.T) {
	const head = "version: 1\ntargets: {c: {}, kernels: {}, %s: {}}\nkernels:\n"
	var many []string
	for i := range 32 {
		many = append(many, fmt.Sprintf("a%d: int", i))
	}
	for _, tt := range []struct{ target, kernels, want string }{
		{"cpp", "  f: {args: {x: \"float32[n]\"}}\n  Managed: {args: {x: \"float32[n]\"}}",
			"5:3: error: target cpp: the header and kernel Managed would both be Managed in C++; rename one [kernel-conflict]"},
		{"cpp", "  TensorIn: {args: {x: \"float32[n]\"}}", "4:3: error: target cpp: the header and kernel TensorIn"},
		{"go", "  a_b: {args: {x: \"float32[n]\"}}\n  aB: {args: {x: \"float32[n]\"}}",
			"5:3: error: target go: kernel a_b and kernel aB would both be AB in Go; rename one [kernel-conflict]"},
		{"go", "  f: {args: {x: \"float32[n]\", a_b: int = 1, aB: int = 2}}",
			"4:3: error: target go: kernel f: argument a_b and argument aB would both be the option AB in Go"},
		{"python", "  f: {args: {" + strings.Join(many, ", ") + "}, returns: {y: \"float32[3]\"}}",
			"4:3: error: target python: kernel f has 34 arguments and results: modules of Python have room for 32"},
		{"cpp", "  KernelCheck: {args: {x: \"float32[n]\"}}", ""},
	} {
		_, found := decode(t, fmt.Sprintf(head, tt.target)+tt.kernels+"\n", Choice{})
		first, rest, _ := strings.Cut(found, "\n")
		if tt.want == "" {
			assert.Empty(t, found, tt.kernels)
			continue
		}
		assert.Contains(t, first, tt.want, tt.kernels)
		assert.Contains(t, rest, "hint: rename the kernel or its argument; `symbol:` keeps", tt.kernels)
	}
	const unaware = "version: 1\ntargets: {c: {}, kernels: {}}\nkernels: {Managed: {args: {x: \"float32[n]\"}}}\n"
	_, found := decode(t, unaware, Choice{})
	assert.Empty(t, found, "no target has that name")
}
