package checks

import (
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// stubView is the data of a starter file.
type stubView struct {
	Name      string
	Functions []stub
	symbols   []string
}

// stub is a function that returns a failure.
type stub struct {
	Head   string
	Unused []string // its parameters
}

// sources are the files that an author writes for a kernel. CUDA functions are in a separate file,
// because another compiler compiles it.
var sources = []struct {
	from, to string
	has      func(contract.Device) bool
}{
	{"kernels/impl.c.tmpl", "_impl.c", func(d contract.Device) bool { return !isOfCUDA(d) }},
	{"kernels/impl.cu.tmpl", "_impl.cu", isOfCUDA},
}

func isOfCUDA(d contract.Device) bool { return d.Platform() == "cuda" }

// Stubs lists the starter files of the author: for each kernel, and for each function that returns
// the texts of statuses. If kernels share a function, it is in the file of the first.
func Stubs(described []contract.Kernel) (all []emit.Asset) {
	defined := map[string]bool{}
	inC := contract.InC(described)
	for i := range inC {
		k := &inC[i]
		for _, s := range sources {
			if v := viewStubs(k, s.has, defined); len(v.Functions) > 0 {
				all = append(all, emit.Asset{From: s.from, To: k.Name + s.to, View: v, Once: true, Defines: v.symbols})
			}
		}
		if k.Error != "" && !defined[k.Error] {
			defined[k.Error] = true
			all = append(all, emit.Asset{From: "kernels/error.c.tmpl", To: k.Error + ".c", View: k.Error, Once: true,
				Defines: []string{k.Error}})
		}
	}
	return all
}

// viewStubs returns the stubs for the functions of some devices that no other source has.
func viewStubs(k *contract.Kernel, has func(contract.Device) bool, defined map[string]bool) stubView {
	v := stubView{Name: k.Name}
	unused := unusedOf(k)
	for _, d := range k.Devices {
		for _, f := range d.Functions {
			if has(d) && !defined[f.Symbol] {
				v.Functions = append(v.Functions, stub{head(k, f), unused})
				v.symbols = append(v.symbols, f.Symbol)
				defined[f.Symbol] = true
			}
		}
	}
	return v
}

// unusedOf names the parameters of a kernel's functions.
func unusedOf(k *contract.Kernel) (all []string) {
	for _, p := range k.Args {
		all = append(all, p.Name)
		if p.Kind == contract.Ints || p.Kind == contract.Floats {
			all = append(all, p.Name+"_count_")
		}
	}
	for _, p := range k.Results {
		all = append(all, p.Name)
	}
	return append(all, "stream")
}
