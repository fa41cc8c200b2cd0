package modeldoc

import (
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// Kernel is a described kernel.
type Kernel struct {
	Name      string        `json:"name"`
	Namespace string        `json:"namespace"`
	Doc       string        `json:"doc"`
	Lang      string        `json:"lang"`
	Error     string        `json:"error"`
	Types     []Variable    `json:"types"`
	Args      []KernelParam `json:"args"`
	Returns   []KernelParam `json:"returns"`
	Functions []Function    `json:"functions"`
}

// Variable is a name for one dtype per call.
type Variable struct {
	Name   string   `json:"name"`
	DTypes []string `json:"dtypes"`
}

// KernelParam is an argument or a result of a kernel.
type KernelParam struct {
	Name     string   `json:"name"`
	Line     string   `json:"line"`
	Kind     string   `json:"kind"`
	Variable string   `json:"variable"`
	DTypes   []string `json:"dtypes"`
	Access   string   `json:"access"`
	Layout   string   `json:"layout"`
	Optional bool     `json:"optional"`
	Count    int64    `json:"count"`
}

// Function is a C function for a device and a choice of dtypes.
type Function struct {
	Symbol string            `json:"symbol"`
	Device string            `json:"device"`
	Types  map[string]string `json:"types"`
}

func kernelsOf(all []contract.Kernel) []Kernel {
	out := []Kernel{}
	for i := range all {
		out = append(out, kernelOf(&all[i]))
	}
	return out
}

func kernelOf(k *contract.Kernel) Kernel {
	made := Kernel{Name: k.Name, Namespace: k.Namespace, Doc: k.Doc, Lang: "c", Error: k.Error, Types: []Variable{},
		Args: params(k, k.Args), Returns: params(k, k.Results), Functions: []Function{}}
	if k.GoFunc != "" {
		made.Lang = "go"
	}
	for _, v := range k.Vars {
		made.Types = append(made.Types, Variable{v.Name, names(v.Types)})
	}
	for _, d := range k.Devices {
		for _, f := range d.Functions {
			made.Functions = append(made.Functions, Function{f.Symbol, d.Name, chosen(k, f)})
		}
	}
	return made
}

// chosen returns the dtypes of a function by variable. A variable that the function supports in
// general has no entry.
func chosen(k *contract.Kernel, f contract.Function) map[string]string {
	out := map[string]string{}
	for i, t := range f.Types {
		if t != contract.None {
			out[k.Vars[i].Name] = k.Vars[i].Types[t].Name
		}
	}
	return out
}

func names(types []spec.DType) []string {
	out := []string{}
	for _, t := range types {
		out = append(out, t.Name)
	}
	return out
}

var (
	paramKinds = map[contract.Kind]string{contract.Tensor: "tensor", contract.Int: "int", contract.Float: "float",
		contract.Bool: "bool", contract.Str: "str", contract.Number: "number", contract.Ints: "ints",
		contract.Floats: "floats"}
	accesses = map[contract.Access]string{contract.In: "in", contract.InOut: "inout", contract.Out: "out"}
	layouts  = map[contract.Layout]string{contract.Contiguous: "contiguous", contract.Strided: "strided",
		contract.Inner: "inner", contract.AnyOrder: "any_order", contract.ColumnMajor: "column_major"}
)

func params(k *contract.Kernel, all []contract.Param) []KernelParam {
	out := []KernelParam{}
	for _, p := range all {
		made := KernelParam{Name: p.Name, Line: p.Line, Kind: paramKinds[p.Kind], DTypes: names(p.Types),
			Optional: p.Optional, Count: p.Count}
		if p.Var != contract.None && (p.Kind == contract.Tensor || p.Kind == contract.Number) {
			made.Variable = k.Vars[p.Var].Name
		}
		if p.Kind == contract.Tensor {
			made.Access, made.Layout = accesses[p.Access], layouts[p.Layout]
		}
		out = append(out, made)
	}
	return out
}
