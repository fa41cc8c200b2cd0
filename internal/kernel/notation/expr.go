package notation

import (
	"cmp"
	"slices"
	"strings"
)

// enter limits the nesting depth of expressions.
func (p *parser) enter() func() {
	if p.depth++; p.depth > depth {
		p.fail(p.peek().at, "remove redundant brackets", "expressions nest at most %d deep", depth)
	}
	return func() { p.depth-- }
}

// operator counts an operator.
func (p *parser) operator(at int, text string) {
	hint := "compute a part before the call, and pass it as an argument, such as size: int"
	if text == "and" {
		hint = "write several conditions, without and between them"
	}
	if p.count++; p.count > MaxOperators && p.err == nil {
		p.fail(at, hint, "more than %d operators in an extent or a condition", MaxOperators)
		p.err.TooMany = true
	}
}

func (p *parser) sum() *Expr {
	defer p.enter()()
	return p.chain((*parser).product, Add, Subtract)
}

func (p *parser) product() *Expr { return p.chain((*parser).unary, Multiply, FloorDiv, Remainder) }

// chain reads operands and operators of one precedence, from left to right.
func (p *parser) chain(operand func(*parser) *Expr, ops ...Op) *Expr {
	left := operand(p)
	for {
		t := p.peek()
		if t.sign != mark || !slices.Contains(ops, Op(t.text)) {
			return left
		}
		p.next()
		p.operator(t.at, t.text)
		left = &Expr{Op: Op(t.text), Operands: []*Expr{left, operand(p)}, At: t.at}
	}
}

func (p *parser) unary() *Expr {
	t := p.peek()
	if !p.accept("-") {
		return p.operand()
	}
	defer p.enter()()
	p.operator(t.at, t.text)
	return &Expr{Op: Negate, Operands: []*Expr{p.unary()}, At: t.at}
}

// reserved are words that are not numbers.
var reserved = []string{"and", "or", "in", "None", "True", "False", "list"}

func (p *parser) operand() *Expr {
	t := p.next()
	switch {
	case t.sign == integer:
		return &Expr{Op: Literal, Number: p.number(t, ""), At: t.at}
	case t.sign == real:
		p.fail(t.at, "write a whole number, such as 2", "extents are whole numbers, got %s", t.text)
	case t.sign == mark && t.text == "(":
		e := p.sum()
		p.expect(")", "after this expression", p.bracketHint())
		return e
	case t.sign != name || slices.Contains(reserved, t.text):
		hint := "write a symbol, such as n, or a number there"
		if t.text == "*" && inExtents(p.text, t.at) {
			hint = anyExtent
		}
		p.fail(t.at, hint, "expected a number or a name, got %s", show(t))
	case t.text == "min" || t.text == "max":
		return p.least(t)
	}
	return p.reference(t)
}

// bracketHint returns a hint for the token after an expression in brackets. Conditions have none.
func (p *parser) bracketHint() string {
	if t := p.peek(); slices.Contains(comparisons, t.text) || t.text == "in" {
		return "write conditions without brackets, and join them with and and or"
	}
	return "as in (m + n) // 2"
}

// least reads min(...) or max(...).
func (p *parser) least(t token) *Expr {
	e, example := &Expr{Op: Op(t.text), At: t.at}, "as in "+t.text+"(n, 8)"
	p.expect("(", "after "+t.text, example)
	for more := true; more; more = p.accept(",") {
		if len(e.Operands) > 0 {
			p.operator(p.peek().at, ",")
		}
		e.Operands = append(e.Operands, p.sum())
	}
	if len(e.Operands) < 2 {
		p.fail(t.at, example, "%s takes two operands or more", t.text)
	}
	p.expect(")", "after the operands of "+t.text, example)
	return e
}

// reference reads the parts that may follow a name.
func (p *parser) reference(t token) *Expr {
	e := &Expr{Op: Symbol, Name: t.text, At: t.at}
	switch {
	case p.accept("["):
		e.Op, e.Operands = Item, []*Expr{p.sum()}
		p.expect("]", "after the index", "as in "+t.text+"[0]")
	case p.accept("."):
		p.attribute(e)
	case p.peek().text == "(":
		p.fail(t.at, "write min(a, b), max(a, b), or an operator",
			"there is no function %s: expressions have min and max", t.text)
	}
	return e
}

func (p *parser) attribute(e *Expr) {
	switch t := p.next(); {
	case t.sign == name && t.text == "size":
		e.Op = Size
	case t.sign == name && t.text == "shape":
		e.Op = Shape
		p.expect("[", "after shape", "as in "+e.Name+".shape[0]")
		e.Operands = []*Expr{p.sum()}
		p.expect("]", "after the dimension", "as in "+e.Name+".shape[0]")
	default:
		p.fail(t.at, cmp.Or(nearest(t.text), "write "+e.Name+".size or "+e.Name+".shape[0]"),
			"a tensor has .size and .shape[i] here, got %s", show(t))
	}
}

// comparisons are the comparison operators.
var comparisons = []string{"==", "!=", "<", "<=", ">", ">="}

// misspelled are comparisons of other languages, and what they mean.
var misspelled = map[string]string{"<>": "!=", "!==": "!=", "===": "==", "=>": ">=", "=<": "<="}

// ParseCond reads a condition: "and" binds closer than "or".
func ParseCond(text string) (*Cond, *Error) { return parse(text, (*parser).or) }

func (p *parser) or() *Cond {
	return p.several("or", func(p *parser) *Cond { return p.several("and", (*parser).comparison) })
}

func (p *parser) several(word string, part func(*parser) *Cond) *Cond {
	c := &Cond{Op: word, At: p.peek().at, Conds: []*Cond{part(p)}}
	for at := p.peek().at; p.accept(word); at = p.peek().at {
		p.operator(at, word)
		c.Conds = append(c.Conds, part(p))
	}
	if len(c.Conds) == 1 {
		return c.Conds[0]
	}
	return c
}

func (p *parser) comparison() *Cond {
	left := p.sum()
	t := p.next()
	c := &Cond{Op: t.text, Left: left, At: t.at}
	foreign := t.text + p.peek().text
	switch {
	case misspelled[foreign] != "" && !p.apart():
		p.fail(t.at, "write "+misspelled[foreign], "%s is not an operator", foreign)
	case t.sign == name && t.text == "in":
		c.In = p.alternatives()
	case t.sign == mark && t.text == "=":
		p.fail(t.at, "write == to compare", "= begins a default; it is not a comparison")
	case t.sign != mark || !slices.Contains(comparisons, t.text):
		p.fail(t.at, "as in n > 0, n % 8 == 0 or n in 64|128",
			"expected a comparison (==, !=, <, <=, >, >=, in), got %s", show(t))
	case p.peek().sign == quoted:
		p.fail(t.at, p.inHint(left, t.text), "strings are compared with in, not with %s", t.text)
	default:
		c.Right = p.sum()
		if next := p.peek(); next.sign == mark && slices.Contains(comparisons, next.text) {
			p.fail(next.at, "write two comparisons with and between them", "comparisons are not chained")
		}
	}
	return c
}

// inHint returns a hint with the comparison of the left side with the next text.
func (p *parser) inHint(left *Expr, op string) string {
	if op == "==" {
		return "write " + left.String() + " in " + strings.ReplaceAll(p.peek().text, "'", `"`)
	}
	return "list the allowed strings, as in " + left.String() + ` in "a"|"b"`
}

// alternatives reads the values after "in".
func (p *parser) alternatives() []Value {
	if t := p.peek(); t.sign == mark && (t.text == "(" || t.text == "[") {
		p.fail(t.at, "write 64|128", "alternatives are written without brackets, with | between them")
	}
	all := []Value{p.value()}
	for p.accept("|") {
		all = append(all, p.value())
	}
	return all
}
