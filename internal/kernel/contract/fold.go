package contract

import (
	"math/big"

	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
)

// form is an expression as a number plus multiples of names, which may cancel out: n - n - 1 is -1.
type form struct {
	number  *big.Int
	factors map[string]*big.Int
}

func (f *form) constant() bool { return len(f.factors) == 0 }

// fold gives an expression as a sum, or nil where it cannot be written as one. It reports what
// fails in every call.
func (s *source) fold(e *notation.Expr) *form {
	f := s.combined(e)
	if f != nil && f.constant() && !f.number.IsInt64() {
		s.fail(e, "invalid-extent", "write smaller numbers", "%s needs more than 64 bits", cut(e.String()))
		return nil
	}
	return f
}

func (s *source) combined(e *notation.Expr) *form {
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

// extreme is the least or the greatest number.
func extreme(op notation.Op, parts []*form) *big.Int {
	found := parts[0].number
	for _, f := range parts[1:] {
		if less := f.number.Cmp(found) < 0; less == (op == notation.Min) {
			found = f.number
		}
	}
	return found
}

// scaled multiplies. It changes f, which has no other use.
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

// plus adds. It changes f, which has no other use.
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

// checkExtent reports an extent that is negative in every call.
func (s *source) checkExtent(e *notation.Expr) {
	if f := s.fold(e); f != nil && f.constant() && f.number.Sign() < 0 {
		s.fail(e, "invalid-extent", "write an extent of 0 or more, or _ for any extent", "this extent is always %s",
			f.number)
	}
}

// checkFalse reports a comparison that is false in every call, where it must hold.
func (s *source) checkFalse(c *notation.Cond, needed bool) {
	left, right := s.fold(c.Left), s.fold(c.Right)
	if !needed || left == nil || right == nil {
		return
	}
	difference := left.plus(right.scaled(big.NewInt(-1)))
	if difference == nil || !difference.constant() {
		return
	}
	sign := difference.number.Sign()
	holds := map[string]bool{"==": sign == 0, "!=": sign != 0, "<": sign < 0, "<=": sign <= 0, ">": sign > 0,
		">=": sign >= 0}
	if !holds[c.Op] {
		s.at.ErrorfAt(c.At, "invalid-condition", "compare it with another value, or remove the condition",
			"%s is false for every value", cut(c.String()))
	}
}
