package notation

import (
	"fmt"
	"strconv"
	"strings"
)

// String formats a line in normalized form, which ParseLine reads as the same line.
func (l Line) String() string {
	text := l.Type.String()
	if l.Optional {
		text += "?"
	}
	for _, w := range l.Modifiers {
		text += " " + w.String()
	}
	if l.Default != nil {
		text += " = " + l.Default.String()
	}
	return text
}

// String formats a type.
func (t Type) String() string {
	var names, extents []string
	for _, e := range t.Elements {
		names = append(names, e.Text)
	}
	for _, e := range t.Extents {
		extents = append(extents, e.String())
	}
	text := strings.Join(names, "|")
	switch {
	case t.Kind == Tensor:
		return text + "[" + strings.Join(extents, ", ") + "]"
	case t.Kind == List && t.Count > 0:
		return fmt.Sprintf("list[%s, %d]", text, t.Count)
	case t.Kind == List:
		return "list[" + text + "]"
	}
	return text
}

// String formats an extent.
func (e Extent) String() string {
	switch e.Form {
	case Unnamed:
		return "_"
	case Ellipsis:
		return "..." + e.Name
	}
	return e.Size.String()
}

// String formats a modifier with its operand.
func (w Modifier) String() string {
	switch {
	case w.Number > 0:
		return fmt.Sprintf("%s %d", w.Text, w.Number)
	case w.Of != "":
		return w.Text + " " + w.Of
	}
	return w.Text
}

// String formats an expression with the necessary brackets.
func (e *Expr) String() string {
	var parts []string
	for _, o := range e.Operands {
		parts = append(parts, o.String())
	}
	switch e.Op {
	case Literal:
		return strconv.FormatInt(e.Number, 10)
	case Symbol:
		return e.Name
	case Size:
		return e.Name + ".size"
	case Shape:
		return e.Name + ".shape[" + parts[0] + "]"
	case Item:
		return e.Name + "[" + parts[0] + "]"
	case Min, Max:
		return string(e.Op) + "(" + strings.Join(parts, ", ") + ")"
	case Negate:
		return "-" + bracketed(parts[0], e.Operands[0].rank() < e.rank())
	}
	left := bracketed(parts[0], e.Operands[0].rank() < e.rank())
	return left + " " + string(e.Op) + " " + bracketed(parts[1], e.Operands[1].rank() <= e.rank())
}

// rank returns the precedence of an expression.
func (e *Expr) rank() int {
	switch e.Op {
	case Add, Subtract:
		return 1
	case Multiply, FloorDiv, Remainder:
		return 2
	}
	return 3
}

func bracketed(text string, needed bool) string {
	if needed {
		return "(" + text + ")"
	}
	return text
}

// String formats a condition, whose grammar has no brackets.
func (c *Cond) String() string {
	var parts []string
	switch {
	case c.Op == "in":
		for _, v := range c.In {
			parts = append(parts, v.String())
		}
		return c.Left.String() + " in " + strings.Join(parts, "|")
	case c.Left != nil:
		return c.Left.String() + " " + c.Op + " " + c.Right.String()
	}
	for _, one := range c.Conds {
		parts = append(parts, one.String())
	}
	return strings.Join(parts, " "+c.Op+" ")
}

// Real returns a number as a float, or 0 for a value that is not a number.
func (v Value) Real() float64 { return float64(v.Int) + float64(v.Natural) + v.Float }

// String formats a value as in Python.
func (v Value) String() string {
	switch v.Kind {
	case Bool:
		return map[bool]string{true: "True", false: "False"}[v.Bool]
	case Int:
		return strconv.FormatInt(v.Int, 10)
	case Natural:
		return strconv.FormatUint(v.Natural, 10)
	case Float:
		text := strconv.FormatFloat(v.Float, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return text
	case Text:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(v.Text) + `"`
	case Bare:
		return v.Text
	}
	return "None"
}
