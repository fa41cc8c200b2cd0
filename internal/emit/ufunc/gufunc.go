package ufunc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// The maximum number of operands in every NumPy, and of loops of one gufunc here.
const (
	maxOperands = 32
	maxLoops    = 256
)

// operand is an operand of the gufunc: an argument or a result.
type operand struct {
	contract.Param
	place int      // among the arguments, then the results
	dims  []string // of its core
}

// gufunc is a kernel as a generalized ufunc.
type gufunc struct {
	k               *contract.Kernel
	inputs, outputs []operand
	loops           [][]spec.DType // of all operands
	dtypes          map[string]spec.DType
}

// all are the operands in NumPy's order.
func (g *gufunc) all() []operand { return slices.Concat(g.inputs, g.outputs) }

// newGufunc returns the gufunc of a kernel, or the reason why there is none.
func newGufunc(r *spec.Release, k *contract.Kernel) (*gufunc, error) {
	g := &gufunc{k: k, dtypes: map[string]spec.DType{}}
	for _, d := range r.DTypes {
		g.dtypes[d.Name] = d
	}
	for i, p := range k.Args {
		switch {
		case p.Default != nil:
		case p.Kind == contract.Tensor && p.Access == contract.Out:
			g.outputs = append(g.outputs, operand{Param: p, place: i})
		default:
			g.inputs = append(g.inputs, operand{Param: p, place: i})
		}
	}
	for i, p := range k.Results {
		if !p.Saved {
			g.outputs = append(g.outputs, operand{Param: p, place: len(k.Args) + i})
		}
	}
	for _, check := range []func() error{g.unfitParam, g.unfit, g.unfitShape} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	g.loops = g.combine()
	if n := len(g.loops); n == 0 || n > maxLoops {
		return nil, emit.CannotMake(k.Name, "",
			"has %d combinations of dtypes that NumPy has: a gufunc has 1 to %d loops "+
				"here", n, maxLoops)
	}
	return g, nil
}

// unfit returns why a kernel as a whole cannot be a gufunc.
func (g *gufunc) unfit() error {
	n := len(g.inputs) + len(g.outputs)
	switch {
	case g.k.NoBatch:
		return emit.CannotMake(g.k.Name, "", "has batch: none, and a gufunc is a batched form")
	case !slices.ContainsFunc(g.k.Devices, func(d contract.Device) bool { return d.Name == "kDLCPU" }):
		return emit.CannotMake(g.k.Name, "", "has no function for kDLCPU: arrays of NumPy are in the host's memory")
	case len(g.inputs) == 0:
		return emit.CannotMake(g.k.Name, "", "has no argument without a default: a gufunc has inputs")
	case len(g.outputs) == 0:
		return emit.CannotMake(g.k.Name, "", "returns nothing: a gufunc has outputs")
	case n > maxOperands:
		return emit.CannotMake(g.k.Name, "", "has %d arguments and results: NumPy supports %d", n, maxOperands)
	}
	return nil
}

// unfitParam returns which argument or result cannot be an operand.
func (g *gufunc) unfitParam() error {
	for _, p := range g.inputs {
		switch {
		case p.Kind == contract.Str || p.Kind == contract.Ints || p.Kind == contract.Floats:
			return emit.CannotMake(g.k.Name, p.Name,
				"takes %s, %s, and operands of NumPy are arrays: give it a default",
				p.Name, p.Expected())
		case p.Kind == contract.Tensor && p.Writes():
			return emit.CannotMake(g.k.Name, p.Name,
				"reads and writes %s, and NumPy may pass copies of inputs: return it",
				p.Name)
		}
	}
	for _, p := range g.outputs {
		if p.Kind == contract.Number && p.Var != contract.None {
			return emit.CannotMake(g.k.Name, p.Name,
				"returns the scalar %s of a variable: write %s[] for a tensor of rank 0",
				p.Name, p.Expected())
		}
	}
	for _, p := range g.all() {
		switch {
		case len(served(p.Param)) > 0:
		case p.Kind == contract.Number && p.Var == contract.None:
			return emit.CannotMake(g.k.Name, p.Name, "has the scalar %s of %s, which C passes as float: write float",
				p.Name,
				p.Expected())
		default:
			return emit.CannotMake(g.k.Name, p.Name, "has %s, whose dtype NumPy does not have", p.Name)
		}
	}
	return nil
}

// unfitShape returns which shape NumPy's signatures cannot express.
func (g *gufunc) unfitShape() error {
	leads := slices.ContainsFunc(g.inputs, func(p operand) bool { return g.k.Leads(p.Param) })
	for _, p := range g.all() {
		if _, at := p.Rank(); p.Kind == contract.Tensor && at != contract.None && !g.k.Leads(p.Param) {
			return emit.CannotMake(g.k.Name, p.Name,
				"has %s, and NumPy broadcasts over leading dimensions: write `...` first, "+
					"without a name, and without column_major", p.Name)
		}
	}
	g.name()
	for _, p := range g.outputs {
		if leads && !g.k.Leads(p.Param) {
			return emit.CannotMake(g.k.Name, p.Name,
				"returns %s once for all of `...`: a gufunc returns it for each index",
				p.Name)
		}
		if !g.known(p) {
			return emit.CannotMake(g.k.Name, p.Name,
				"returns %s, and NumPy computes no extents: write numbers above 0, and "+
					"symbols that stand bare in an argument without a default", p.Name)
		}
	}
	return nil
}

// known reports whether NumPy can determine the extents of an output: each is a number, or an
// extent of an input.
func (g *gufunc) known(output operand) bool {
	return !slices.ContainsFunc(output.dims, func(dim string) bool {
		_, err := strconv.Atoi(dim)
		return err != nil &&
			!slices.ContainsFunc(g.inputs, func(p operand) bool { return slices.Contains(p.dims, dim) })
	})
}

// name returns the name of a core dimension. One that is not a symbol has a unique name, because
// the generated check compares it.
func (g *gufunc) name() {
	fresh := 0
	next := func() string {
		for ; ; fresh++ {
			name := fmt.Sprintf("d%d", fresh)
			if g.k.Dim(name) == contract.None {
				fresh++
				return name
			}
		}
	}
	for _, list := range [][]operand{g.inputs, g.outputs} {
		for i := range list {
			for _, e := range list[i].Extents {
				switch {
				case e.Form == contract.Ellipsis:
				case e.Form == contract.Symbol:
					list[i].dims = append(list[i].dims, g.k.Dims[e.Dim].Name)
				case e.Form == contract.Fixed && e.Number > 0:
					list[i].dims = append(list[i].dims, strconv.FormatInt(e.Number, 10))
				default:
					list[i].dims = append(list[i].dims, next())
				}
			}
		}
	}
}

// signature returns the gufunc signature.
func (g *gufunc) signature() string {
	core := func(list []operand) string {
		var all []string
		for _, p := range list {
			all = append(all, "("+strings.Join(p.dims, ",")+")")
		}
		return strings.Join(all, ",")
	}
	return core(g.inputs) + "->" + core(g.outputs)
}

// scalars are the dtypes of scalars whose kind has no dtype.
var scalars = map[contract.Kind]string{contract.Int: "int64", contract.Float: "float64", contract.Bool: "bool"}

// served returns the names of the NumPy dtypes that a parameter may have.
func served(p contract.Param) (all []string) {
	for _, name := range emit.NumPyDTypes {
		switch only, ok := scalars[p.Kind]; {
		case ok && only != name:
		case p.Kind == contract.Number && name == "float16": // C has a float
		case ok, len(p.Types) == 0, slices.ContainsFunc(p.Types, func(t spec.DType) bool { return t.Name == name }):
			all = append(all, name)
		}
	}
	return all
}

// combine lists the dtypes of the operands for each loop, smaller ones first. It stops if there are
// too many.
func (g *gufunc) combine() (loops [][]spec.DType) {
	loops = [][]spec.DType{nil}
	all := g.all()
	for i, p := range all {
		var longer [][]spec.DType
		for _, loop := range loops {
			for _, name := range served(p.Param) {
				d, known := g.dtypes[name]
				if first := sameVar(all[:i], p.Var); known && (first == contract.None || loop[first].Name == name) {
					longer = append(longer, append(slices.Clone(loop), d))
				}
			}
		}
		if loops = longer; len(loops) > 1<<16 {
			return loops
		}
	}
	return loops
}

// sameVar returns the first operand of a variable, or none.
func sameVar(all []operand, v int) int {
	if v == contract.None {
		return contract.None
	}
	return slices.IndexFunc(all, func(p operand) bool { return p.Var == v })
}
