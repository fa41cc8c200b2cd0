package contract

import (
	"cmp"
	"fmt"

	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// source is the position of an expression.
type source struct {
	at       *yaml.Node // nil: checked already
	of       *Param     // nil: in a condition, which is true if an argument is absent
	isResult bool
	omitted  *Param // nil, or an argument that has its default
}

func (s *source) fail(e *notation.Expr, code, hint, format string, args ...any) {
	if s.at == nil {
		return
	}
	s.at.ErrorfAt(e.At, code, hint, format, args...)
}

// checkExpr checks the names in an expression.
func (r *reader) checkExpr(s *source, e *notation.Expr) {
	switch e.Op {
	case notation.Symbol:
		r.checkSymbol(s, e)
	case notation.Size, notation.Shape:
		r.checkTensor(s, e)
		return // a dimension is not a separate expression
	case notation.Item:
		r.checkItem(s, e)
		return
	}
	for _, o := range e.Operands {
		r.checkExpr(s, o)
	}
}

func (r *reader) checkSymbol(s *source, e *notation.Expr) {
	i := r.Dim(e.Name)
	if i == None {
		if r.lost.once(e.Name) {
			r.noSymbol(s, e)
		}
		return
	}
	if s.of != nil && !r.Dims[i].Always && !r.lost.shapes && !(s.of.binds(i) && s.of.Optional) && r.lost.once(e.Name) {
		s.fail(e, "unbound-symbol", "bind it with an argument that is never None", "%s has no value where %s is None",
			e.Name, r.Args[r.Dims[i].Arg].Name)
	}
}

// noSymbol reports a name that is not an integer.
func (r *reader) noSymbol(s *source, e *notation.Expr) {
	switch {
	case r.Arg(e.Name) != None && r.Args[r.Arg(e.Name)].Kind == Tensor:
		s.fail(e, "unknown-name", "write "+e.Name+".size or "+e.Name+".shape[0]", "%s is a tensor", e.Name)
	case r.Arg(e.Name) != None && r.Args[r.Arg(e.Name)].Kind == Str:
		s.fail(e, "unknown-name", `as in `+e.Name+` in "a"|"b"`, "%s is a string, and strings are compared with in",
			e.Name)
	case r.Arg(e.Name) != None:
		s.fail(e, "unknown-name", "name an argument of type int", "%s is not an int argument", e.Name)
	case s.isResult && r.Result(e.Name) != None:
		s.fail(e, "unknown-name", "name an argument instead", "%s is a result", e.Name)
	case !r.lost.shapes:
		s.fail(e, "unbound-symbol", r.unbound(e.Name), "no argument binds %s", e.Name)
	}
}

// checkTensor checks x.size and x.shape[i].
func (r *reader) checkTensor(s *source, e *notation.Expr) {
	i := r.Arg(e.Name)
	if i == None || r.Args[i].Kind != Tensor {
		if !r.lost.once(e.Name) {
			return
		}
		s.fail(e, "unknown-name", r.tensorHint(e.Name), "%s is not a tensor among the arguments", e.Name)
		return
	}
	x := &r.Args[i]
	if s.of != nil && x.Optional && s.of != x {
		s.fail(e, "unbound-symbol", "use one that is never None", "%s may be None", e.Name)
	}
	if e.Op == notation.Size {
		return
	}
	d, fixed := constant(e.Operands[0])
	rank, _ := x.Rank()
	if !fixed || d < -int64(rank) || d >= int64(rank) {
		s.fail(e.Operands[0], "invalid-extent", dimensionHint(e.Name, rank),
			"%s is not a dimension of %s, which has at least %d", e.Operands[0], e.Name, rank)
	}
}

// tensorHint returns a hint for x.size and x.shape[i] if x is not a tensor.
func (r *reader) tensorHint(name string) string {
	if i := r.Arg(name); i != None && r.Args[i].Kind == Int {
		return "write " + name
	}
	return cmp.Or(oneOf(name, r.tensors()), "add a tensor to the arguments, as in "+name+": float32[n]")
}

// dimensionHint returns a hint with the dimensions of a tensor that an expression can use.
func dimensionHint(name string, rank int) string {
	switch rank {
	case 0:
		return "write " + name + ".size, or list the extents of " + name
	case 1:
		return "write " + name + ".shape[0] or " + name + ".shape[-1]"
	}
	return fmt.Sprintf("write %s.shape[0] to %s.shape[%d], or %s.shape[-1] to %s.shape[-%d]", name, name, rank-1, name,
		name, rank)
}

// constant returns the value of a number, negative or not.
func constant(e *notation.Expr) (int64, bool) {
	if e.Op == notation.Negate {
		n, fixed := constant(e.Operands[0])
		return -n, fixed
	}
	return e.Number, e.Op == notation.Literal
}

// checkItem checks sizes[i], and records the minimum length of the list.
func (r *reader) checkItem(s *source, e *notation.Expr) {
	i := r.Arg(e.Name)
	if i == None || r.Args[i].Kind != Ints {
		if !r.lost.once(e.Name) {
			return
		}
		s.fail(e, "unknown-name", "name an argument of type list[int]", "%s is not a list of ints among the arguments",
			e.Name)
		return
	}
	list := &r.Args[i]
	n, fixed := constant(e.Operands[0])
	if !fixed || n < 0 || list.Count > 0 && n >= list.Count {
		hint := "count from 0"
		if !fixed {
			hint = "write a number, as in " + e.Name + "[0]"
		}
		s.fail(e.Operands[0], "invalid-extent", hint, "%s has no item %s", e.Name, e.Operands[0])
		return
	}
	if s.of != nil && list.Optional {
		s.fail(e, "unbound-symbol", "use one that is never None", "%s may be None", e.Name)
	}
	list.Least = max(list.Least, n+1)
}

// condition is one of where:.
type condition struct {
	*notation.Cond
	at *yaml.Node
}

// conditions reads where:.
func (r *reader) conditions() (all []condition) {
	section := r.m.Get("where")
	if section == nil || isEmpty(section) {
		return nil
	}
	if section.Kind == yaml.Scalar {
		section.Errorf("type-mismatch", "write `- "+section.Value+"`, on a line of its own",
			"where must be a list, not a value")
		return nil
	}
	for _, n := range section.List("where") {
		if n.Kind != yaml.Scalar {
			n.Errorf("type-mismatch", "put the condition in quotes", "a condition must be a value, not %s", n.Kind)
			continue
		}
		c, err := notation.ParseCond(n.Value)
		if err != nil {
			reportLine(n, err, "invalid-condition")
			continue
		}
		all = append(all, condition{c, n})
	}
	return all
}

// where checks the names in conditions.
func (r *reader) where(all []condition) {
	met := map[string][]notation.Value{}
	for _, c := range all {
		s := &source{at: c.at}
		s.narrow(c.Cond, met)
		if !r.checkCond(c.at, c.Cond, true) {
			r.checkDefaults(c.Cond)
		}
		r.Where = append(r.Where, c.Cond)
	}
}

// checkCond checks a condition, and reports whether it is false in every call. needed: the
// condition must be true, so this is a mistake.
func (r *reader) checkCond(at *yaml.Node, c *notation.Cond, needed bool) bool {
	s := &source{at: at}
	if len(c.Conds) > 0 {
		return r.checkConds(s, c, needed)
	}
	before := r.diags.Len()
	if c.Op == "in" {
		r.checkIn(s, c)
	} else if !r.comparesWords(s, c) {
		r.checkExpr(s, c.Left)
		r.checkExpr(s, c.Right)
	}
	holds, known := r.verdict(s, c)
	if never := known && !holds; !never || r.diags.Len() > before {
		return never
	}
	if needed {
		s.never(c, r.neverHint(c))
	}
	return true
}

// checkConds checks the parts of "and" and "or".
func (r *reader) checkConds(s *source, c *notation.Cond, needed bool) bool {
	never := 0
	for _, part := range c.Conds {
		if r.checkCond(s.at, part, needed && c.Op == "and") {
			never++
		}
	}
	if c.Op == "and" {
		return never > 0
	}
	if needed && never == len(c.Conds) {
		s.never(c, compareHint)
	}
	return never == len(c.Conds)
}

// comparesWords reports == where only "in" is supported.
func (r *reader) comparesWords(s *source, c *notation.Cond) bool {
	for _, e := range []*notation.Expr{c.Left, c.Right} {
		if e.Op == notation.Symbol && r.Var(e.Name) != None {
			s.fail(e, "invalid-condition", "write "+e.Name+" in float16|bfloat16", "dtypes are compared with in")
			return true
		}
	}
	return false
}

// checkIn checks that the left side can have the values of the alternatives.
func (r *reader) checkIn(s *source, c *notation.Cond) {
	want, what := notation.Int, "whole numbers"
	variable, text := None, None
	if c.Left.Op == notation.Symbol {
		variable, text = r.Var(c.Left.Name), r.Arg(c.Left.Name)
	}
	switch {
	case variable != None:
		want, what = notation.Bare, "dtypes"
	case text != None && r.Args[text].Kind == Str:
		want, what = notation.Text, "strings in quotes"
	default:
		if r.checkExpr(s, c.Left); c.Left.Op == notation.Symbol && r.lost.has(c.Left.Name) {
			return
		}
	}
	for _, v := range c.In {
		if want == notation.Int && v.Kind == notation.Natural {
			s.at.ErrorfAt(v.At, "invalid-condition", "write 9223372036854775807 or less", "%s needs more than 63 bits",
				v)
		} else if v.Kind != want {
			s.at.ErrorfAt(v.At, "invalid-condition", lineHints["invalid-condition"], "%s are expected here, got %s",
				what, v)
		} else if _, known := r.dtype(v.Text); variable != None && !known {
			s.at.ErrorfAt(v.At, "unknown-dtype", r.unknownDType(v.Text), "there is no dtype %q", v.Text)
		}
	}
}
