package checks

import (
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// stubView is the beginning of an author's file.
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

// Stubs lists the beginnings of the files that the author writes, one a kernel and one for each
// function that gives the texts of statuses. Of kernels that share a function the first has it.
func Stubs(described []contract.Kernel) (all []emit.Asset) {
	defined := map[string]bool{}
	inC := contract.InC(described)
	for i := range inC {
		k := &inC[i]
		if v := viewStubs(k, defined); len(v.Functions) > 0 {
			all = append(all, emit.Asset{From: "kernels/impl.c.tmpl", To: k.Name + "_impl.c", View: v, Once: true,
				Defines: v.symbols})
		}
		if k.Error != "" && !defined[k.Error] {
			defined[k.Error] = true
			all = append(all, emit.Asset{From: "kernels/error.c.tmpl", To: k.Error + ".c", View: k.Error, Once: true,
				Defines: []string{k.Error}})
		}
	}
	return all
}

func viewStubs(k *contract.Kernel, defined map[string]bool) stubView {
	v := stubView{Name: k.Name}
	unused := unusedOf(k)
	for _, d := range k.Devices {
		for _, f := range d.Functions {
			if !defined[f.Symbol] {
				v.Functions = append(v.Functions, stub{wrap(head(k, f)), unused})
				v.symbols = append(v.symbols, f.Symbol)
			}
			defined[f.Symbol] = true
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
