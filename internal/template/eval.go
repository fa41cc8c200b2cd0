package template

import (
	"fmt"
	"reflect"
	"strings"
	"text/template/parse"
)

// pipe evaluates a pipeline, and declares its variables.
func (s *state) pipe(dot any, p *parse.PipeNode) (any, error) {
	v, err := s.commands(dot, p)
	if err != nil || p == nil {
		return nil, err
	}
	for _, name := range p.Decl {
		s.bind(p, name, v)
	}
	return v, nil
}

// commands evaluates a pipeline: each result is the last argument of the next command.
func (s *state) commands(dot any, p *parse.PipeNode) (v any, err error) {
	if p == nil { // of a template that is included without data
		return nil, nil
	}
	for i, c := range p.Cmds {
		if i == 0 {
			v, err = s.command(dot, c)
		} else {
			v, err = s.command(dot, c, v)
		}
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

// command evaluates one command of a pipeline, with the result of the one before it, if any.
func (s *state) command(dot any, c *parse.CommandNode, piped ...any) (any, error) {
	first := c.Args[0]
	if name, ok := first.(*parse.IdentifierNode); ok {
		return s.call(dot, c, name.Ident, c.Args[1:], piped)
	}
	if len(c.Args) > 1 || len(piped) > 0 {
		return nil, s.failf(first, "can't give argument to non-function %s", first)
	}
	if first.Type() == parse.NodeNil {
		return nil, s.failf(first, "nil is not a command")
	}
	return s.operand(dot, first)
}

// operand evaluates an operand of a command.
func (s *state) operand(dot any, n parse.Node) (any, error) {
	if err := s.step(n, 1); err != nil {
		return nil, err
	}
	switch n := n.(type) {
	case *parse.DotNode:
		return dot, nil
	case *parse.BoolNode:
		return n.True, nil
	case *parse.StringNode:
		return n.Text, nil
	case *parse.NumberNode:
		return s.number(n)
	case *parse.FieldNode:
		return s.fields(n, dot, n.Ident)
	case *parse.VariableNode:
		return s.fields(n, s.variable(n.Ident[0]).value, n.Ident[1:])
	case *parse.ChainNode:
		of, err := s.operand(dot, n.Node)
		if err != nil {
			return nil, err
		}
		return s.fields(n, of, n.Field)
	case *parse.PipeNode:
		return s.pipe(dot, n)
	case *parse.IdentifierNode:
		return s.call(dot, n, n.Ident, nil, nil)
	}
	return nil, nil // the word nil
}

// number is a constant: an int, or a float64 if it is written as one.
func (s *state) number(n *parse.NumberNode) (any, error) {
	switch {
	case n.IsComplex:
		return n.Complex128, nil
	case n.IsFloat && fractional(n.Text):
		return n.Float64, nil
	case n.IsInt && int64(int(n.Int64)) == n.Int64:
		return int(n.Int64), nil
	}
	return nil, s.failf(n, "%s overflows int", n.Text)
}

// fractional reports whether a number is written with a fraction or an exponent.
func fractional(text string) bool {
	if strings.HasPrefix(strings.ToLower(text), "0x") {
		return strings.ContainsAny(text, "pP")
	}
	return text[0] != '\'' && strings.ContainsAny(text, ".eE")
}

// fields follows names into a value.
func (s *state) fields(at parse.Node, v any, names []string) (any, error) {
	if err := s.step(at, len(names)); err != nil {
		return nil, err
	}
	for _, name := range names {
		var err error
		if v, err = field(v, name); err != nil {
			return nil, s.fail(at, err)
		}
	}
	return v, nil
}

// field is a member of a map or a struct.
func field(of any, name string) (any, error) {
	if of == nil {
		return nil, fmt.Errorf("nil data; no entry for key %q", name)
	}
	v := reflect.ValueOf(of)
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil, fmt.Errorf("nil pointer evaluating %T.%s", of, name)
		}
		v = v.Elem()
	}
	switch {
	case v.Kind() == reflect.Struct:
		if f, ok := v.Type().FieldByName(name); ok && f.IsExported() {
			member, err := v.FieldByIndexErr(f.Index)
			if err != nil {
				return nil, err
			}
			return member.Interface(), nil
		}
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		if member := v.MapIndex(reflect.ValueOf(name).Convert(v.Type().Key())); member.IsValid() {
			return member.Interface(), nil
		}
		return nil, fmt.Errorf("map has no entry for key %q", name)
	}
	return nil, fmt.Errorf("can't evaluate field %s in type %T", name, of)
}

// call runs a function. The value that is piped to it, if any, is its last argument.
func (s *state) call(dot any, at parse.Node, name string, words []parse.Node, piped []any) (any, error) {
	if name == "and" || name == "or" {
		return s.shortcut(dot, at, name, words, piped)
	}
	var args []any
	for _, word := range words {
		v, err := s.operand(dot, word)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	f, ok := s.Functions[name]
	if !ok {
		f = builtins[name]
	}
	in, err := arguments(reflect.TypeOf(f), append(args, piped...))
	if err != nil {
		return nil, s.failf(at, "%w in a call of %s", err, name)
	}
	out := reflect.ValueOf(f).Call(in)
	if len(out) > 1 && !out[1].IsNil() {
		return nil, s.failf(at, "error calling %s: %w", name,
			out[1].Interface().(error)) //nolint:forcetypeassert // Functions
	}
	return out[0].Interface(), nil
}

// shortcut evaluates "and" or "or": to the first value that decides it, or to the last one.
func (s *state) shortcut(dot any, at parse.Node, name string, words []parse.Node, piped []any) (any, error) {
	if len(words)+len(piped) == 0 {
		return nil, s.failf(at, "%s takes one or more values", name)
	}
	var v any
	for _, word := range words {
		var err error
		if v, err = s.operand(dot, word); err != nil || truth(v) == (name == "or") {
			return v, err
		}
	}
	if len(piped) > 0 {
		return piped[0], nil
	}
	return v, nil
}

// arguments converts values to the parameter types of a function.
func arguments(f reflect.Type, values []any) ([]reflect.Value, error) {
	fixed := f.NumIn()
	if f.IsVariadic() {
		fixed--
	}
	if len(values) < fixed || len(values) > fixed && !f.IsVariadic() {
		return nil, fmt.Errorf("got %d arguments, expected %d", len(values), fixed)
	}
	in := make([]reflect.Value, len(values))
	for i, v := range values {
		want := f.In(min(i, f.NumIn()-1))
		if i >= fixed {
			want = want.Elem()
		}
		in[i] = reflect.ValueOf(v)
		if v == nil && want.Kind() == reflect.Interface {
			in[i] = reflect.Zero(want)
		} else if v == nil || !in[i].Type().AssignableTo(want) {
			return nil, fmt.Errorf("expected %s as argument %d, got %T", want, i+1, v)
		}
	}
	return in, nil
}
