// Package template executes templates in the syntax of Go's text/template, with its parser. Values
// are data: a field is a member of a struct or a map, never a method.
//
// text/template looks up methods by name. A program that links it therefore keeps all exported
// methods of all types that it uses, which made dlpackgen an eleventh larger.
package template

import (
	"errors"
	"fmt"
	"io"
	"text/template/parse"
)

// Set is a set of parsed templates by name. Each template can include the others.
type Set map[string]*parse.Tree

// Parse parses a template and its definitions. The names of functions outside of this package must
// be given.
func Parse(name, text string, functions Functions) (Set, error) {
	return parse.Parse(name, text, "", "", builtins, functions)
}

// Add adds templates to the set. As in text/template, a later one replaces an earlier one of its
// name, except if it is empty.
func (s Set) Add(others Set) {
	for name, tree := range others {
		if s[name] == nil || !parse.IsEmptyTree(tree.Root) {
			s[name] = tree
		}
	}
}

// MaxDepth is the maximum depth of includes.
const MaxDepth = 200

// ErrDepth is the error of templates that include each other endlessly.
var ErrDepth = fmt.Errorf("templates include each other more than %d deep", MaxDepth)

// Filler executes templates.
type Filler struct {
	Templates Set
	Functions Functions             // beside those of this package, and in place of them
	Step      func(nodes int) error // is called before work is done, if it is not nil
}

// Fill executes a template with its data. An error of the template has the form of text/template:
// "template: NAME:LINE:COLUMN: executing ...". Errors of out are returned as they are.
func (f *Filler) Fill(out io.Writer, name string, data any) error {
	tree := f.Templates[name]
	if tree == nil {
		return fmt.Errorf("template: no template %q", name)
	}
	s := &state{Filler: f, out: out, tree: tree}
	return s.run(data)
}

// state is the execution of one template.
type state struct {
	*Filler
	out       io.Writer
	tree      *parse.Tree
	variables []variable
	depth     int
}

type variable struct {
	name  string
	value any
}

// Both end an iteration; no user sees them.
var (
	errBreak    = errors.New("break")
	errContinue = errors.New("continue")
)

func (s *state) run(data any) error {
	s.variables = []variable{{"$", data}}
	return s.list(data, s.tree.Root)
}

// fail adds the position to an error.
func (s *state) fail(at parse.Node, err error) error {
	place, context := s.tree.ErrorContext(at)
	return fmt.Errorf("template: %s: executing %q at <%s>: %w", place, s.tree.Name, context, err)
}

func (s *state) failf(at parse.Node, format string, args ...any) error {
	return s.fail(at, fmt.Errorf(format, args...))
}

func (s *state) step(at parse.Node, n int) error {
	if s.Step == nil {
		return nil
	}
	if err := s.Step(n); err != nil {
		return s.fail(at, err)
	}
	return nil
}

func (s *state) list(dot any, list *parse.ListNode) error {
	if list == nil { // of a branch without else
		return nil
	}
	if err := s.step(list, 1+len(list.Nodes)); err != nil {
		return err
	}
	for _, n := range list.Nodes {
		if err := s.node(dot, n); err != nil {
			return err
		}
	}
	return nil
}

func (s *state) node(dot any, n parse.Node) error {
	switch n := n.(type) {
	case *parse.TextNode:
		_, err := s.out.Write(n.Text)
		return err
	case *parse.ActionNode:
		return s.action(dot, n)
	case *parse.IfNode:
		return s.branch(dot, &n.BranchNode)
	case *parse.WithNode:
		return s.branch(dot, &n.BranchNode)
	case *parse.RangeNode:
		return s.loop(dot, n)
	case *parse.TemplateNode:
		return s.include(dot, n)
	case *parse.BreakNode:
		return errBreak
	case *parse.ContinueNode:
		return errContinue
	}
	return nil // a comment
}

// action prints a value, or declares variables.
func (s *state) action(dot any, n *parse.ActionNode) error {
	v, err := s.pipe(dot, n.Pipe)
	if err != nil || len(n.Pipe.Decl) > 0 {
		return err
	}
	if text, ok := v.(string); ok {
		_, err = io.WriteString(s.out, text)
		return err
	}
	_, err = fmt.Fprint(s.out, printed(v))
	return err
}

// printed returns the value that fmt prints for a value.
func printed(v any) any {
	if v == nil {
		return "<no value>"
	}
	return v
}

// scope returns a function that ends the scope of the variables declared after the call.
func (s *state) scope() (end func()) {
	n := len(s.variables)
	return func() { s.variables = s.variables[:n] }
}

func (s *state) branch(dot any, n *parse.BranchNode) error {
	defer s.scope()()
	v, err := s.pipe(dot, n.Pipe)
	if err != nil {
		return err
	}
	if !truth(v) {
		return s.list(dot, n.ElseList)
	}
	if n.NodeType == parse.NodeWith {
		dot = v
	}
	return s.list(dot, n.List)
}

func (s *state) loop(dot any, n *parse.RangeNode) error {
	defer s.scope()()
	over, err := s.commands(dot, n.Pipe)
	if err != nil {
		return err
	}
	all := items(over)
	if all == nil || isInteger(over) && len(n.Pipe.Decl) > 1 {
		return s.failf(n, "range can't iterate over %v with %d variables", over, len(n.Pipe.Decl))
	}
	empty := true
	for key, value := range all {
		empty = false
		if err := s.iteration(n, key, value); errors.Is(err, errBreak) {
			break
		} else if err != nil {
			return err
		}
	}
	if empty {
		return s.list(dot, n.ElseList)
	}
	return nil
}

func (s *state) iteration(n *parse.RangeNode, key, value any) error {
	defer s.scope()()
	values := []any{key, value}
	for i, v := range n.Pipe.Decl {
		s.bind(n.Pipe, v, values[2-len(n.Pipe.Decl)+i])
	}
	if err := s.list(value, n.List); !errors.Is(err, errContinue) {
		return err
	}
	return nil
}

// bind declares a variable, or assigns to an existing one.
func (s *state) bind(p *parse.PipeNode, v *parse.VariableNode, value any) {
	if !p.IsAssign {
		s.variables = append(s.variables, variable{v.Ident[0], value})
	} else {
		s.variable(v.Ident[0]).value = value
	}
}

// variable returns the innermost variable of a name. The parser has checked that there is one.
func (s *state) variable(name string) *variable {
	i := len(s.variables) - 1
	for s.variables[i].name != name {
		i--
	}
	return &s.variables[i]
}

func (s *state) include(dot any, n *parse.TemplateNode) error {
	data, err := s.pipe(dot, n.Pipe)
	if err != nil {
		return err
	}
	inner := state{Filler: s.Filler, out: s.out, tree: s.Templates[n.Name], depth: s.depth + 1}
	switch {
	case inner.tree == nil:
		return s.failf(n, "template %q not defined", n.Name)
	case inner.depth > MaxDepth:
		return s.fail(n, ErrDepth)
	}
	return inner.run(data)
}
