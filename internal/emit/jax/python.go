package jax

import (
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/traced"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// viewPython fills the data of the JAX function and of kernels_jax.py.
func (v *kernelView) viewPython(k *contract.Kernel) {
	v.Target = k.Name
	if k.Namespace != "" {
		v.Target = k.Namespace + "." + k.Name
	}
	v.Signature = strings.Join(emit.PythonArguments(k), ", ")
	v.Doc = traced.Document(k, true, "jax.errors.JaxRuntimeError")
	v.Described = append(v.Described, "target="+traced.Quoted(v.Target)+",", "handlers={"+v.handlers()+"},",
		"batch="+traced.Quoted(batching(k))+",")
	v.Described = append(append(v.Described, traced.Described("jax", k)...), traced.Backward(k)...)
}

func (v *kernelView) handlers() string {
	var all []string
	for _, h := range v.Handlers {
		all = append(all, traced.Quoted(h.Platform)+": "+traced.Quoted(h.Symbol))
	}
	return strings.Join(all, ", ")
}

// batching returns how jax.vmap calls a kernel.
func batching(k *contract.Kernel) string {
	stays := func(p contract.Param) bool { return !k.Leads(p) }
	switch {
	case k.NoBatch:
		return "none"
	case k.Joins() && !slices.ContainsFunc(k.Written(), stays):
		return "joined"
	}
	return "each"
}
