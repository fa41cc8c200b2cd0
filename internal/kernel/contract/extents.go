package contract

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
)

// extents resolves the shapes: first the extents that determine symbols, then the computed extents.
func (r *reader) extents() {
	bare := r.bareSymbols()
	r.bindIntegers(bare)
	for i, l := range r.args {
		r.bareExtents(l, &r.Args[i], i)
	}
	for i, l := range r.args {
		r.solvedExtents(l, &r.Args[i], i)
	}
	for i, l := range r.gives {
		r.bareExtents(l, &r.Results[i], None)
	}
	for i, l := range r.args {
		r.checkExtents(l, &r.Args[i])
	}
	for i, l := range r.gives {
		r.checkExtents(l, &r.Results[i])
	}
}

// bareSymbols returns the names that expressions use.
func (r *reader) bareSymbols() map[string]bool {
	used := map[string]bool{}
	for _, l := range slices.Concat(r.args, r.gives) {
		for _, e := range l.Type.Extents {
			walk(e.Size, func(e *notation.Expr) { used[e.Name] = used[e.Name] || e.Op == notation.Symbol })
		}
	}
	if n := r.m.Get("where"); n != nil {
		for _, item := range n.Items {
			if c, err := notation.ParseCond(item.Value); err == nil {
				walkCond(c, func(e *notation.Expr) { used[e.Name] = used[e.Name] || e.Op == notation.Symbol })
			}
		}
	}
	return used
}

// walk visits an expression and its operands.
func walk(e *notation.Expr, visit func(*notation.Expr)) {
	if e == nil {
		return
	}
	visit(e)
	for _, o := range e.Operands {
		walk(o, visit)
	}
}

// walkCond visits the expressions of a condition.
func walkCond(c *notation.Cond, visit func(*notation.Expr)) {
	for _, part := range c.Conds {
		walkCond(part, visit)
	}
	walk(c.Left, visit)
	walk(c.Right, visit)
}

// bindIntegers adds a symbol for each int argument that an expression uses.
func (r *reader) bindIntegers(used map[string]bool) {
	for i, p := range r.Args {
		if p.Kind == Int && used[p.Name] {
			r.Dims = append(r.Dims, Dim{Name: p.Name, Arg: i, Flagged: p.Optional, Always: !p.Optional})
		}
	}
}

// bareExtents reads the extents of a parameter, and binds the symbols that are whole extents.
func (r *reader) bareExtents(l line, p *Param, arg int) {
	if most := r.scope.MaxNDim; p.Kind == Tensor && most > 0 && len(l.Type.Extents) > most {
		l.at.Errorf("too-many", "write ... for several dimensions", "%d dimensions, more than %d",
			len(l.Type.Extents), most)
	}
	for _, e := range l.Type.Extents {
		made := Extent{Form: Computed, Dim: None, Size: e.Size}
		switch {
		case e.Form == notation.Unnamed:
			made.Form = Any
		case e.Form == notation.Ellipsis:
			made.Form, made.Dim = Ellipsis, bind(&r.Ellipses, e.Name, arg, p)
			if problem := misnamed(e.Name, "dimensions"); e.Name != "" && problem != "" && r.lost.once("..."+e.Name) {
				l.at.ErrorfAt(e.At+len("..."), "invalid-name", nameHint(e.Name), "%s", problem)
			}
		case e.Size.Op == notation.Literal:
			made.Form, made.Number = Fixed, e.Size.Number
		case e.Size.Op == notation.Symbol && r.maySymbol(l, e.Size, arg):
			made.Form, made.Dim = Symbol, bind(&r.Dims, e.Size.Name, arg, p)
		}
		p.Extents = append(p.Extents, made)
	}
}

// maySymbol reports whether a name can be a symbol, and adds a finding if it already has another
// meaning.
func (r *reader) maySymbol(l line, e *notation.Expr, arg int) bool {
	what, taken := r.taken[e.Name]
	switch {
	case r.Dim(e.Name) != None:
	case arg == None:
		return false // results bind nothing
	case r.lost.has(e.Name) && (taken || r.lost.all):
		return false
	case taken:
		r.lost.add(e.Name)
		l.at.ErrorfAt(e.At, "duplicate-name", "give the symbol a different name, or that of an int argument",
			"%s is the name of %s, which is not an int", e.Name, what)
		return false
	default:
		if problem := misnamed(e.Name, "a symbol"); problem != "" {
			if !r.lost.once(e.Name) {
				return false
			}
			hint := nameHint(e.Name)
			if e.Name == "_" {
				hint = "give the extent a name to compute with it, such as n"
			}
			l.at.ErrorfAt(e.At, "invalid-name", hint, "%s", problem)
			return false
		}
	}
	return true
}

// bind returns the index of a symbol, which the argument binds unless an earlier one does.
func bind(all *[]Dim, name string, arg int, p *Param) int {
	i := slices.IndexFunc(*all, func(d Dim) bool { return d.Name == name })
	switch {
	case i == None && arg == None:
		return None
	case i == None:
		*all = append(*all, Dim{Name: name, Arg: arg, Flagged: p.Optional, Always: !p.Optional})
		return len(*all) - 1
	case arg != None:
		(*all)[i].Always = (*all)[i].Always || !p.Optional
	}
	return i
}

// solvedExtents binds the symbols that occur only in n + c, n - c or c * n.
func (r *reader) solvedExtents(l line, p *Param, arg int) {
	for i := range p.Extents {
		e := &p.Extents[i]
		if e.Form != Computed {
			continue
		}
		symbol, solve := solvable(e.Size)
		if symbol == nil || r.Dim(symbol.Name) != None || p.Optional && r.requiredSolves(symbol.Name) ||
			!r.maySymbol(l, symbol, arg) {
			continue
		}
		e.Form, e.Dim = Solved, bind(&r.Dims, symbol.Name, arg, p)
		r.Dims[e.Dim].Solve = solve
	}
}

// requiredSolves reports whether a required tensor determines a symbol.
func (r *reader) requiredSolves(name string) bool {
	return slices.ContainsFunc(r.Args, func(p Param) bool {
		return !p.Optional && slices.ContainsFunc(p.Extents, func(e Extent) bool {
			symbol, _ := solvable(e.Size)
			return e.Form == Computed && symbol != nil && symbol.Name == name
		})
	})
}

// solvable returns the symbol that an expression can be solved for: n + c, c + n, n - c, c * n or
// n * c.
func solvable(e *notation.Expr) (*notation.Expr, *Solve) {
	if e == nil || len(e.Operands) != 2 {
		return nil, nil
	}
	a, b := e.Operands[0], e.Operands[1]
	if a.Op == notation.Literal && e.Op != notation.Subtract {
		a, b = b, a
	}
	known := e.Op == notation.Add || e.Op == notation.Subtract || e.Op == notation.Multiply && b.Number > 0
	if !known || a.Op != notation.Symbol || b.Op != notation.Literal {
		return nil, nil
	}
	return a, &Solve{e.Op, b.Number}
}

// checkExtents checks the names in computed extents, and that the extents of results are known in
// every call.
func (r *reader) checkExtents(l line, p *Param) {
	isResult := r.Arg(p.Name) == None
	for i, e := range p.Extents {
		at := l.Type.Extents[i]
		switch e.Form {
		case Any:
			if isResult {
				l.at.ErrorfAt(at.At, "invalid-extent", "write an expression over symbols of the arguments",
					"nothing determines this extent of the result")
			}
		case Ellipsis:
			r.checkEllipsis(l, e, at, isResult)
		case Computed, Symbol, Solved:
			s := &source{at: l.at, of: p, isResult: isResult}
			r.checkExpr(s, e.Size)
			r.checkExtent(s, e.Size)
		}
	}
}

func (r *reader) checkEllipsis(l line, e Extent, at notation.Extent, isResult bool) {
	if isResult && (e.Dim == None || !r.Ellipses[e.Dim].Always) && !r.lost.shapes &&
		!r.lost.has(cmp.Or(at.Name, "...")) {
		l.at.ErrorfAt(at.At, "unbound-symbol", "write it in an argument that is never None",
			"no argument determines ...%s", at.Name)
	}
}

// binds reports whether an argument alone determines the value of a symbol.
func (p Param) binds(dim int) bool {
	return slices.ContainsFunc(p.Extents, func(e Extent) bool {
		return (e.Form == Symbol || e.Form == Solved) && e.Dim == dim
	})
}

// unbound returns a hint with the symbol that was probably meant.
func (r *reader) unbound(name string) string {
	var all []string
	for _, d := range r.Dims {
		all = append(all, d.Name)
	}
	if name == "" {
		return "name a symbol: " + strings.Join(all, ", ")
	}
	if name == "_" {
		return "_ is any extent: give the extent a name to use it"
	}
	if hint := diag.DidYouMean(name, all); hint != "" {
		return hint
	}
	return fmt.Sprintf("bind it by an argument: x: float32[%s], or %s: int", name, name)
}
