package onnxruntime

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/hosts"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

func tensor(name string, change func(*contract.Param)) contract.Param {
	p := contract.Param{Name: name, Var: contract.None, Types: []spec.DType{{Name: "float32"}}}
	if change != nil {
		change(&p)
	}
	return p
}

func scalar(name string, kind contract.Kind) contract.Param {
	return contract.Param{Name: name, Line: "int8", Kind: kind, Var: contract.None, Types: []spec.DType{{Name: "int8"}}}
}

// Kernels that ONNX cannot express are all reported at once.
func TestInexpressibleKernels(t *testing.T) {
	cpu := []contract.Device{{Name: "kDLCPU", Value: 1}}
	x, y := tensor("x", nil), tensor("y", nil)
	for _, c := range []struct {
		want          string
		args, results []contract.Param
		devices       []contract.Device
	}{
		{"", []contract.Param{x, scalar("n", contract.Int)}, []contract.Param{y, scalar("m", contract.Float)}, cpu},
		{"has no function for kDLCPU", []contract.Param{x}, []contract.Param{y}, []contract.Device{{Name: "kDLCUDA"}}},
		{"takes no tensor", []contract.Param{scalar("n", contract.Int)}, []contract.Param{y}, cpu},
		{"returns nothing", []contract.Param{x}, nil, cpu},
		{"writes to x", []contract.Param{tensor("x", func(p *contract.Param) { p.Access = contract.InOut })},
			[]contract.Param{y}, cpu},
		{"takes x column_major", []contract.Param{tensor(
			"x", func(p *contract.Param) { p.Layout = contract.ColumnMajor })},
			[]contract.Param{y}, cpu},
		{"takes x, whose dtype ONNX Runtime does not have", []contract.Param{tensor("x", func(p *contract.Param) {
			p.Types = []spec.DType{{Name: "int4"}}
		})}, []contract.Param{y}, cpu},
		{"returns y, whose dtype ONNX Runtime does not have", []contract.Param{x}, []contract.Param{tensor("y",
			func(p *contract.Param) { p.Types = []spec.DType{{Name: "int4"}} })}, cpu},
		{"takes the scalar n of a dtype", []contract.Param{x, scalar("n", contract.Number)}, []contract.Param{y}, cpu},
		{"returns the scalar m of a dtype: write int8[]", []contract.Param{x},
			[]contract.Param{scalar("m", contract.Number)}, cpu},
	} {
		k := contract.Kernel{Name: "f", Namespace: "n", Args: c.args, Results: c.results, Devices: c.devices}
		_, err := manifest(&emit.Model{Release: emittest.Release(t, "1.3"), Contracts: []contract.Kernel{k}})
		if c.want == "" {
			assert.NoError(t, err)
			continue
		}
		require.Error(t, err, c.want)
		assert.Contains(t, err.Error(), "kernel f "+c.want)
	}
}

func TestDTypesThatONNXRuntimeLacksAreLimits(t *testing.T) {
	x := tensor("x", func(p *contract.Param) {
		p.Types = []spec.DType{{Name: "float32"}, {Name: "complex64"}, {Name: "complex128"}, {Name: "int4"}}
	})
	k := contract.Kernel{Name: "f", Args: []contract.Param{x}, Results: []contract.Param{x},
		Devices: []contract.Device{{Name: "kDLCPU", Value: 1}}}
	assert.Equal(t, []string{"ONNX Runtime has no complex64, complex128 or int4"}, limits(&k))
}

// The host's description has a constant for each supported dtype.
func TestTypesAreTheHosts(t *testing.T) {
	declared := map[string]bool{}
	for _, c := range hosts.Embedded(host).Constants {
		declared[c.Name] = true
	}
	for _, name := range types {
		assert.True(t, declared[name], name)
	}
}

// Names of kernels do not clash with names of the source, such as dlpackgen_ort_fail().
func TestNamesOfKernelsAreTheirOwn(t *testing.T) {
	described := emittest.Described(t, `fail: {args: {x: "float32[n]"}, returns: {y: "float32[n]"}}`)
	files, err := Target.Emit(&emit.Model{Release: emittest.Release(t, "1.3"), Contracts: described})
	text := emittest.Texts(t, files, err)["kernels_onnxruntime.c"]
	assert.Contains(t, text, "void* dlpackgen_ort_fail(")
	assert.NotContains(t, text, "dlpackgen_ort_fail = {")
}
