package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
)

// operators are the C functions for operators that may fail.
var operators = map[notation.Op]string{
	notation.Add: "dlpackgen_add", notation.Subtract: "dlpackgen_subtract", notation.Multiply: "dlpackgen_multiply",
	notation.FloorDiv: "dlpackgen_floor_divide", notation.Remainder: "dlpackgen_modulo",
}

// expr formats an expression in C. The C variable `bad` is set if it has no value.
func (c *checker) expr(e *notation.Expr) string {
	switch e.Op {
	case notation.Literal:
		return fmt.Sprintf("INT64_C(%d)", e.Number)
	case notation.Symbol:
		return "call->dims." + contract.Member(e.Name)
	case notation.Size:
		return fmt.Sprintf("dlpackgen_elements_of(call->args.%s)", e.Name)
	case notation.Shape:
		return c.shape(e)
	case notation.Item:
		return fmt.Sprintf("call->args.%s.items[%s]", e.Name, e.Operands[0])
	case notation.Negate:
		return fmt.Sprintf("dlpackgen_negate(%s, &bad)", c.expr(e.Operands[0]))
	case notation.Min, notation.Max:
		return c.least(e)
	}
	return fmt.Sprintf("%s(%s, %s, &bad)", operators[e.Op], c.expr(e.Operands[0]), c.expr(e.Operands[1]))
}

func (c *checker) shape(e *notation.Expr) string {
	at := "call->args." + e.Name
	if d := e.Operands[0]; d.Op == notation.Negate {
		return fmt.Sprintf("%s->shape[%s->ndim - %s]", at, at, d.Operands[0])
	}
	return fmt.Sprintf("%s->shape[%s]", at, e.Operands[0])
}

func (c *checker) least(e *notation.Expr) string {
	name := map[notation.Op]string{notation.Min: "dlpackgen_least", notation.Max: "dlpackgen_greatest"}[e.Op]
	text := c.expr(e.Operands[0])
	for _, o := range e.Operands[1:] {
		text = fmt.Sprintf("%s(%s, %s)", name, text, c.expr(o))
	}
	return text
}

// where writes a condition. The message of a failure contains the values of its symbols.
func (c *checker) where(cond *notation.Cond) {
	status := "VALUE_ERROR"
	n := names{c: c}
	text := c.cond(cond, &n)
	if n.dtype {
		status = "TYPE_ERROR"
	}
	c.begin(emit.CComment(cond.String()), "")
	c.line("bad = 0;")
	c.line("if (DLPACKGEN_RARE(!(%s) || bad)) {", text)
	c.line("status = dlpackgen_unmet(message, %s, %s, bad, DLPACKGEN_STATUS_%s);", emit.CLiteral(c.k.Name),
		emit.CLiteral(cond.String()), status)
	if len(n.put) > 0 {
		c.line("int first = 1;")
	}
	for _, put := range n.put {
		c.line("%s", put)
	}
	c.line("return status;")
	c.line("}")
}

// names are the names in a condition, without duplicates.
type names struct {
	c     *checker
	seen  []string
	put   []string // lines of C
	dtype bool
}

func (n *names) add(name, format string, args ...any) {
	if slices.Contains(n.seen, name) {
		return
	}
	n.seen = append(n.seen, name)
	n.put = append(n.put, strings.TrimPrefix(fmt.Sprintf(format, args...), "if (1) "))
}

// of adds the names in an expression, and returns the condition under which the expression has a
// value.
func (n *names) of(e *notation.Expr, there []string) []string {
	k := n.c.k
	switch e.Op {
	case notation.Symbol:
		i := k.Dim(e.Name)
		n.add(e.Name, "if (%s) dlpackgen_put_value(message, &first, %s, call->dims.%s);", n.c.bound(i),
			emit.CLiteral(e.Name), contract.Member(e.Name))
		if !k.Dims[i].Always {
			there = append(there, n.c.bound(i))
		}
	case notation.Size, notation.Shape, notation.Item:
		there = n.tensor(e, there)
	default:
		for _, o := range e.Operands {
			there = n.of(o, there)
		}
	}
	return there
}

// bound reports whether a symbol has a value.
func (c *checker) bound(dim int) string {
	if c.k.Dims[dim].Flagged {
		return fmt.Sprintf("bound_%d", dim)
	}
	return "1"
}

func (n *names) tensor(e *notation.Expr, there []string) []string {
	p := n.c.k.Args[n.c.k.Arg(e.Name)]
	at := "call->args." + e.Name
	if p.Kind == contract.Ints {
		at += ".items"
	}
	value := n.c.expr(e)
	guard := "1"
	if p.Optional {
		there, guard = append(there, at), at
	}
	n.add(e.String(), "if (%s) dlpackgen_put_value(message, &first, %s, %s);", guard, emit.CLiteral(e.String()), value)
	return there
}

var connectives = map[string]string{"and": " && ", "or": " || "}

// cond formats a condition in C.
func (c *checker) cond(cond *notation.Cond, n *names) string {
	if len(cond.Conds) > 0 {
		var parts []string
		for _, part := range cond.Conds {
			parts = append(parts, "("+c.cond(part, n)+")")
		}
		return strings.Join(parts, connectives[cond.Op])
	}
	if cond.Op == "in" {
		return c.in(cond, n)
	}
	there := n.of(cond.Right, n.of(cond.Left, nil))
	return absent(there) + fmt.Sprintf("%s %s %s", c.expr(cond.Left), cond.Op, c.expr(cond.Right))
}

// absent begins a comparison that is true if an argument is None.
func absent(there []string) string {
	text := ""
	for _, at := range there {
		text += "!" + at + " || "
	}
	return text
}

// in formats the alternatives of a dtype, a text or an integer.
func (c *checker) in(cond *notation.Cond, n *names) string {
	name := cond.Left.Name
	if i := c.k.Var(name); cond.Left.Op == notation.Symbol && i != contract.None {
		n.dtype = true
		binder := "call->args." + c.k.Args[c.k.Vars[i].Arg].Name
		n.add(name, "dlpackgen_put_variable(message, &first, %s, dlpackgen_dtype_of(%s));", emit.CLiteral(name), binder)
		return c.inTypes(cond, i)
	}
	if i := c.k.Arg(name); cond.Left.Op == notation.Symbol && i != contract.None && c.k.Args[i].Kind == contract.Str {
		at := "call->args." + name
		n.add(name, "if (%s) dlpackgen_put_text(message, &first, %s, %s);", at, emit.CLiteral(name), at)
		there := []string{}
		if c.k.Args[i].Optional {
			there = append(there, at)
		}
		return absent(there) + alternatives(cond, func(v notation.Value) string {
			return fmt.Sprintf("strcmp(%s, %s) == 0", at, emit.CLiteral(v.Text))
		})
	}
	there := n.of(cond.Left, nil)
	left := c.expr(cond.Left)
	return absent(there) + alternatives(cond,
		func(v notation.Value) string { return left + " == " + emit.CInt64(v.Int) })
}

func alternatives(cond *notation.Cond, spell func(notation.Value) string) string {
	var all []string
	for _, v := range cond.In {
		all = append(all, spell(v))
	}
	return strings.Join(all, " || ")
}

// inTypes compares the number of a dtype. Dtypes that the variable cannot have are omitted.
func (c *checker) inTypes(cond *notation.Cond, variable int) string {
	var all []string
	for i, d := range c.k.Vars[variable].Types {
		if slices.ContainsFunc(cond.In, func(v notation.Value) bool { return v.Text == d.Name }) {
			all = append(all, fmt.Sprintf("call->types.%s == %d", contract.Member(c.k.Vars[variable].Name), i))
		}
	}
	return strings.Join(append(all, "0"), " || ")
}
