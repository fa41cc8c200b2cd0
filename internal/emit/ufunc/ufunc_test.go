package ufunc

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/hosts"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

var cpu = []contract.Device{{Name: "kDLCPU", Value: 1}}

// kernel returns a kernel with a symbol n and `...`, with x: float32[..., n] and y: float32[...,
// n].
func kernel(change func(*contract.Kernel)) *contract.Kernel {
	tensor := func(name string) contract.Param {
		return contract.Param{Name: name, Var: contract.None, Types: []spec.DType{{Name: "float32"}},
			Extents: []contract.Extent{{Form: contract.Ellipsis}, {Form: contract.Symbol}}}
	}
	k := &contract.Kernel{Name: "f", Devices: cpu, Dims: []contract.Dim{{Name: "n"}},
		Ellipses: []contract.Dim{{}}, Args: []contract.Param{tensor("x")}, Results: []contract.Param{tensor("y")}}
	change(k)
	return k
}

func scalar(kind contract.Kind, line, dtype string) contract.Param {
	return contract.Param{Name: "s", Line: line, Kind: kind, Var: contract.None, Types: []spec.DType{{Name: dtype}}}
}

// A kernel that cannot be a gufunc is reported by name, with a hint.
func TestInexpressibleKernels(t *testing.T) {
	take := func(p contract.Param) func(*contract.Kernel) {
		return func(k *contract.Kernel) { k.Args = append(k.Args, p) }
	}
	for want, change := range map[string]func(*contract.Kernel){
		"has batch: none":            func(k *contract.Kernel) { k.NoBatch = true },
		"has no function for kDLCPU": func(k *contract.Kernel) { k.Devices = []contract.Device{{Name: "kDLCUDA"}} },
		"has no argument without": func(k *contract.Kernel) {
			k.Args[0].Default = &notation.Value{Kind: notation.None}
		},
		"returns nothing": func(k *contract.Kernel) { k.Results = nil },
		"has 40 arguments": func(k *contract.Kernel) {
			k.Args = append(k.Args, make([]contract.Param, 38)...)
		},
		"takes s, str":                take(scalar(contract.Str, "str", "")),
		"takes s, a list of int":      take(scalar(contract.Ints, "list[int]", "")),
		"reads and writes x":          func(k *contract.Kernel) { k.Args[0].Access = contract.InOut },
		"has the scalar s of float16": take(scalar(contract.Number, "float16", "float16")),
		"has x, whose dtype NumPy":    func(k *contract.Kernel) { k.Args[0].Types = []spec.DType{{Name: "bfloat16"}} },
		"has x, and NumPy broadcasts": func(k *contract.Kernel) {
			k.Args[0].Extents[0], k.Args[0].Extents[1] = k.Args[0].Extents[1], k.Args[0].Extents[0]
		},
		"has y, and NumPy broadcasts": func(k *contract.Kernel) { k.Ellipses[0].Name, k.Args[0].Extents = "rows", nil },
		"returns y once":              func(k *contract.Kernel) { k.Results[0].Extents = k.Results[0].Extents[1:] },
		"returns y, and NumPy computes no extents": func(k *contract.Kernel) {
			k.Results[0].Extents[1] = contract.Extent{Form: contract.Computed}
		},
		"returns the scalar s of a variable": func(k *contract.Kernel) {
			k.Vars = []contract.Var{{Name: "T"}}
			p := scalar(contract.Number, "T", "float32")
			p.Var = 0
			k.Results = append(k.Results, p)
		},
		"has 1372 combinations": func(k *contract.Kernel) {
			for _, name := range []string{"a", "b"} {
				k.Args = append(k.Args, contract.Param{Name: name, Var: contract.None})
			}
			k.Args[0].Types = nil
			for _, name := range emit.NumPyDTypes[:7] {
				k.Args[0].Types = append(k.Args[0].Types, spec.DType{Name: name})
			}
		},
		"has 0 combinations": func(k *contract.Kernel) {
			k.Args[0].Var, k.Results[0].Var = 0, 0
			k.Results[0].Types = []spec.DType{{Name: "float64"}}
		},
	} {
		_, err := newGufunc(emittest.Release(t, "1.3"), kernel(change))
		require.Error(t, err, want)
		require.Len(t, emit.Rejected(err), 1)
		assert.Contains(t, err.Error(), "kernel f "+want)
	}
	_, err := newGufunc(emittest.Release(t, "1.3"), kernel(func(*contract.Kernel) {}))
	assert.NoError(t, err)
}

// A kernel that cannot be a gufunc is omitted if others can; if none can, it is an error.
func TestKernelsThatAreNoGufuncsAreLeftOut(t *testing.T) {
	fits := kernel(func(*contract.Kernel) {})
	other := kernel(func(k *contract.Kernel) { k.Name, k.NoBatch = "g", true })
	made, err := manifest(&emit.Model{Release: emittest.Release(t, "1.3"), Contracts: []contract.Kernel{*fits, *other}})
	require.NoError(t, err)
	shown := made.Assets[0].View.(view)
	assert.Len(t, shown.Kernels, 1)
	assert.Equal(t, []string{"kernel g has batch: none, and a gufunc is a batched form"}, shown.LeftOut)
	assert.Len(t, emit.Rejected(made.LeftOut), 1)
	_, err = manifest(&emit.Model{Release: emittest.Release(t, "1.3"), Contracts: []contract.Kernel{*other}})
	assert.Len(t, emit.Rejected(err), 1)
}

// Loops are in the order of NumPy's search, and each assigns one dtype to a variable.
func TestLoops(t *testing.T) {
	g, err := newGufunc(emittest.Release(t, "1.3"), kernel(func(k *contract.Kernel) {
		k.Vars = []contract.Var{{Name: "T"}}
		types := []spec.DType{{Name: "float64"}, {Name: "bfloat16"}, {Name: "int8"}}
		k.Args[0].Var, k.Args[0].Types, k.Results[0].Var, k.Results[0].Types = 0, types, 0, types
		k.Args = append(k.Args, contract.Param{Name: "i", Var: contract.None, Types: []spec.DType{{Name: "int64"},
			{Name: "int32"}}})
	}))
	require.NoError(t, err)
	var all [][]string
	for _, loop := range g.loops {
		var names []string
		for _, d := range loop {
			names = append(names, d.Name)
		}
		all = append(all, names)
	}
	assert.Equal(t, [][]string{{"int8", "int32", "int8"}, {"int8", "int64", "int8"}, {"float64", "int32", "float64"},
		{"float64", "int64", "float64"}}, all)
	assert.Equal(t, "(n),()->(n)", g.signature())
}

// A dimension without a symbol gets a name that no symbol has.
func TestNamesOfDimensions(t *testing.T) {
	g, err := newGufunc(emittest.Release(t, "1.3"), kernel(func(k *contract.Kernel) {
		k.Dims[0].Name = "d0"
		k.Args[0].Extents = append(k.Args[0].Extents, contract.Extent{Form: contract.Any},
			contract.Extent{Form: contract.Fixed, Number: 3}, contract.Extent{Form: contract.Fixed})
	}))
	require.NoError(t, err)
	assert.Equal(t, "(d0,d1,3,d2)->(d0)", g.signature())
}

// The host's description has a constant for each dtype.
func TestTypesAreTheHosts(t *testing.T) {
	declared := map[string]bool{"int64": true, "uint64": true} // which loop.h chooses
	for _, c := range hosts.Embedded("numpy").Constants {
		declared[c.Name] = true
	}
	for _, name := range emit.NumPyDTypes {
		assert.True(t, declared[name], name)
	}
}
