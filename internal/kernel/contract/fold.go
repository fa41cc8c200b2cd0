package contract

import (
	"math/big"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
)

// form is an expression as a number plus multiples of names, which may cancel out: n - n - 1 is -1.
type form struct {
	number  *big.Int
	factors map[string]*big.Int
}

func (f *form) constant() bool { return len(f.factors) == 0 }

// fold returns an expression as a sum, or nil if it is not one. It reports expressions that fail in
// every call.
func (s *source) fold(e *notation.Expr) *form {
	f := s.combined(e)
	if f != nil && f.constant() && !f.number.IsInt64() {
		s.fail(e, "invalid-extent", "write smaller numbers", "%s does not fit in 64 bits", cut(e.String()))
		return nil
	}
	return f
}

func (s *source) combined(e *notation.Expr) *form {
	if v := s.ifOmitted(e, notation.Int); v != nil {
		return &form{number: big.NewInt(v.Int)}
	}
	switch e.Op {
	case notation.Literal:
		return &form{number: big.NewInt(e.Number)}
	case notation.Symbol, notation.Size, notation.Shape, notation.Item:
		return &form{big.NewInt(0), map[string]*big.Int{e.String(): big.NewInt(1)}}
	}
	var parts []*form
	known := true
	for _, o := range e.Operands {
		f := s.fold(o)
		parts, known = append(parts, f), known && f != nil
	}
	if by := parts[len(parts)-1]; divides(e.Op) && by != nil && by.constant() && by.number.Sign() == 0 {
		s.fail(e.Operands[1], "invalid-extent", "write a divisor other than 0", "a division by 0")
		return nil
	}
	if !known {
		return nil
	}
	return calculated(e.Op, parts)
}

func divides(op notation.Op) bool { return op == notation.FloorDiv || op == notation.Remainder }

// calculated applies an operator.
func calculated(op notation.Op, parts []*form) *form {
	first, last := parts[0], parts[len(parts)-1]
	switch {
	case op == notation.Negate:
		return first.scaled(big.NewInt(-1))
	case op == notation.Add:
		return first.plus(last)
	case op == notation.Subtract:
		return first.plus(last.scaled(big.NewInt(-1)))
	case op == notation.Multiply && first.constant():
		return last.scaled(first.number)
	case op == notation.Multiply && last.constant():
		return first.scaled(last.number)
	}
	for _, f := range parts {
		if !f.constant() {
			return nil
		}
	}
	switch op {
	case notation.FloorDiv:
		return &form{number: floorDiv(first.number, last.number)}
	case notation.Remainder:
		whole := floorDiv(first.number, last.number)
		return &form{number: whole.Sub(first.number, whole.Mul(whole, last.number))}
	case notation.Min, notation.Max:
		return &form{number: extreme(op, parts)}
	}
	return nil
}

// floorDiv rounds down.
func floorDiv(a, b *big.Int) *big.Int {
	whole, rest := new(big.Int).QuoRem(a, b, new(big.Int))
	if rest.Sign()*b.Sign() < 0 {
		whole.Sub(whole, big.NewInt(1))
	}
	return whole
}

// extreme returns the smallest or the greatest number.
func extreme(op notation.Op, parts []*form) *big.Int {
	found := parts[0].number
	for _, f := range parts[1:] {
		if less := f.number.Cmp(found) < 0; less == (op == notation.Min) {
			found = f.number
		}
	}
	return found
}

// scaled multiplies f by a number, in place.
func (f *form) scaled(by *big.Int) *form {
	f.number = new(big.Int).Mul(f.number, by)
	for name, factor := range f.factors {
		if factor = new(big.Int).Mul(factor, by); factor.Sign() == 0 {
			delete(f.factors, name)
		} else if f.factors[name] = factor; !factor.IsInt64() {
			return nil
		}
	}
	return f
}

// plus adds to f, in place.
func (f *form) plus(other *form) *form {
	if other == nil {
		return nil
	}
	f.number = new(big.Int).Add(f.number, other.number)
	if f.factors == nil {
		f.factors = other.factors
		return f
	}
	for name, factor := range other.factors {
		sum := new(big.Int).Set(factor)
		if before := f.factors[name]; before != nil {
			sum.Add(sum, before)
		}
		if f.factors[name] = sum; sum.Sign() == 0 {
			delete(f.factors, name)
		}
	}
	return f
}

// checkExtent reports an extent that is negative in every call, or in those that omit an argument.
func (r *reader) checkExtent(s *source, e *notation.Expr) {
	if f := s.fold(e); f != nil && f.constant() {
		if f.number.Sign() < 0 {
			s.fail(e, "invalid-extent", "write an extent of 0 or more, or _ for any extent", "this extent is always %s",
				f.number)
		}
		return
	}
	for i := range r.Args {
		p := &r.Args[i]
		if p.Default == nil || s.of.Optional {
			continue
		}
		if f := (&source{omitted: p}).fold(e); f != nil && f.constant() && f.number.Sign() < 0 {
			r.args[i].at.ErrorfAt(p.Default.At, "invalid-default", "write a default for which it is 0 or more",
				"the extent %s of %s is %s where %s is %s", cut(e.String()), s.of.Name, f.number, p.Name, p.Default)
		}
	}
}

// compareHint is the hint for a condition that is false in every call.
const compareHint = "compare it with another value, or remove the condition"

// never reports a condition that is false in every call.
func (s *source) never(c *notation.Cond, hint string) {
	s.at.ErrorfAt(c.At, "invalid-condition", hint, "%s is false for every value", cut(c.String()))
}

// neverHint returns a hint for a comparison that is false in every call.
func (r *reader) neverHint(c *notation.Cond) string {
	if v := r.variableOf(c); v != nil {
		return "write a dtype of " + v.Name + ", such as " + v.Types[0].Name
	}
	return compareHint
}

// variableOf returns the variable whose dtype a condition compares, or nil.
func (r *reader) variableOf(c *notation.Cond) *Var {
	if c.Op != "in" || c.Left.Op != notation.Symbol || r.Var(c.Left.Name) == None {
		return nil
	}
	return &r.Vars[r.Var(c.Left.Name)]
}

// verdict reports whether a condition is true in every call, or in none, if that is known.
func (r *reader) verdict(s *source, c *notation.Cond) (holds, known bool) {
	switch c.Op {
	case "and", "or":
		return r.joint(s, c)
	case "in":
		return r.verdictIn(s, c)
	}
	left, right := s.fold(c.Left), s.fold(c.Right)
	if left == nil || right == nil {
		return false, false
	}
	difference := left.plus(right.scaled(big.NewInt(-1)))
	if difference == nil || !difference.constant() {
		return false, false
	}
	sign := difference.number.Sign()
	return map[string]bool{"==": sign == 0, "!=": sign != 0, "<": sign < 0, "<=": sign <= 0, ">": sign > 0,
		">=": sign >= 0}[c.Op], true
}

// joint returns the verdict on several conditions: a false one decides "and", a true one "or".
func (r *reader) joint(s *source, c *notation.Cond) (holds, known bool) {
	known = true
	for _, part := range c.Conds {
		one, sure := r.verdict(s, part)
		if sure && one == (c.Op == "or") {
			return one, true
		}
		known = known && sure
	}
	return c.Op == "and", known
}

// verdictIn compares a number, the text of a default, or the dtypes of a variable with the
// alternatives.
func (r *reader) verdictIn(s *source, c *notation.Cond) (holds, known bool) {
	if v := r.variableOf(c); v != nil {
		among := 0
		for _, d := range v.Types {
			if slices.ContainsFunc(c.In, func(one notation.Value) bool { return one.Text == d.Name }) {
				among++
			}
		}
		return among > 0, len(v.Types) > 0 && (among == 0 || among == len(v.Types))
	}
	if text := s.ifOmitted(c.Left, notation.Text); text != nil {
		return slices.ContainsFunc(c.In, func(one notation.Value) bool { return one.Text == text.Text }), true
	}
	left := s.fold(c.Left)
	if left == nil || !left.constant() {
		return false, false
	}
	return slices.ContainsFunc(c.In, func(one notation.Value) bool {
		return one.Kind == notation.Int && big.NewInt(one.Int).Cmp(left.number) == 0
	}), true
}

// ifOmitted returns the default of an expression that is the omitted argument of the source.
func (s *source) ifOmitted(e *notation.Expr, kind notation.ValueKind) *notation.Value {
	if s.omitted == nil || e.Op != notation.Symbol || e.Name != s.omitted.Name || s.omitted.Default.Kind != kind {
		return nil
	}
	return s.omitted.Default
}

// checkDefaults reports the defaults for which a condition is false.
func (r *reader) checkDefaults(c *notation.Cond) {
	for i := range r.Args {
		p := &r.Args[i]
		if p.Default == nil {
			continue
		}
		if holds, known := r.verdict(&source{omitted: p}, c); known && !holds {
			r.args[i].at.ErrorfAt(p.Default.At, "invalid-default", "write a default for which it holds",
				"%s is false where %s is %s", cut(c.String()), p.Name, p.Default)
		}
	}
}

// narrow intersects the allowed values of each name with those of a condition. It reports a
// condition whose intersection is empty.
func (s *source) narrow(c *notation.Cond, met map[string][]notation.Value) {
	if c.Op == "and" {
		for _, part := range c.Conds {
			s.narrow(part, met)
		}
	}
	if c.Op != "in" || c.Left.Op != notation.Symbol {
		return
	}
	before, known := met[c.Left.Name]
	if !known {
		met[c.Left.Name] = c.In
		return
	}
	met[c.Left.Name] = common(before, c.In)
	if len(met[c.Left.Name]) == 0 {
		s.at.ErrorfAt(c.At, "invalid-condition", "write a value that the conditions before it allow, or remove it",
			"no %s meets %s and the conditions before it", c.Left.Name, cut(c.String()))
		met[c.Left.Name] = c.In
	}
}

// common returns the values that are in both lists.
func common(some, others []notation.Value) []notation.Value {
	return slices.DeleteFunc(slices.Clone(some), func(v notation.Value) bool {
		return !slices.ContainsFunc(others, func(other notation.Value) bool { return other.String() == v.String() })
	})
}
