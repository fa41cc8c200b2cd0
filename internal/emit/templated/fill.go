package templated

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
)

// set is every template of the folder, each under its path: any may include any other.
type set struct {
	templates *template.Template
	budget    *budget
}

// parsed is every template of a folder, for all targets that name it.
type parsed struct {
	templates *template.Template
	findings  []diag.Diagnostic
}

// parseFolder reads every template, and makes each loop count its steps.
func parseFolder(sources []emit.Source) any {
	r := &reporter{sources: sources, findings: &diag.List{}}
	r.checkSources()
	all := template.New("").Funcs(functions(newBudget()))
	for _, source := range sources {
		if isTemplate(source.Path) {
			r.parse(all, source)
		}
	}
	if !r.findings.Failed() {
		for _, t := range all.Templates() {
			if t.Tree != nil && t.Root != nil {
				count(t.Root)
				t.Root.Nodes = slices.Concat(calls(enter), t.Root.Nodes, calls(leave))
			}
		}
	}
	return &parsed{templates: all, findings: r.findings.Sorted()}
}

// parse adds a file and what it defines. A definition of a file's name would replace that file, or
// be replaced by it, as their order has it.
func (r *reporter) parse(all *template.Template, source emit.Source) {
	own, err := template.New(source.Path).Funcs(functions(newBudget())).Parse(string(source.Data))
	if err != nil {
		r.failAt(source, err)
		return
	}
	for _, t := range own.Templates() {
		if other := r.sourceOf(t.Name(), source); t.Name() != source.Path && other.Path == t.Name() {
			r.fail(source, "give the definition another name", "this file defines %q, which is the name of %s", t.Name(),
				other.File)
			continue
		}
		if _, err := all.AddParseTree(t.Name(), t.Tree); err != nil {
			r.failAt(source, err)
		}
	}
}

// set shares the parsed templates with a target, whose functions count against its own budget.
func (p *parsed) set() *set {
	s := &set{budget: newBudget()}
	own, err := p.templates.Clone()
	if err != nil {
		panic("unreachable: only templates of HTML that have been filled have no copy: " + err.Error())
	}
	s.templates = own.Funcs(functions(s.budget)).Option("missingkey=error")
	return s
}

// fill makes the text of one file.
func (r *renderer) fill(s *set, source emit.Source) []byte {
	s.budget.depth = maxDepth // of the file before, which may have ended in an included template
	var out bytes.Buffer
	err := s.templates.ExecuteTemplate(&limited{buffer: &out, budget: s.budget}, source.Path, r.data)
	if err != nil {
		r.failAt(source, err)
	}
	return out.Bytes()
}

// limited stops a target whose files are too large together.
type limited struct {
	buffer *bytes.Buffer
	budget *budget
}

// Write appends to the output, up to the limit.
func (l *limited) Write(p []byte) (int, error) {
	if err := l.budget.writes(len(p)); err != nil {
		return 0, err
	}
	return l.buffer.Write(p)
}

// count lets each loop and each included template count its steps before it runs.
func count(list *parse.ListNode) {
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.RangeNode:
			countBranch(&n.BranchNode)
		case *parse.IfNode:
			countBranch(&n.BranchNode)
		case *parse.WithNode:
			countBranch(&n.BranchNode)
		}
	}
	prepend(list)
}

func countBranch(b *parse.BranchNode) {
	for _, list := range []*parse.ListNode{b.List, b.ElseList} {
		if list != nil {
			count(list)
		}
	}
}

// prepend puts a call of the counter before the nodes of a list.
func prepend(list *parse.ListNode) {
	n := 1
	for _, node := range list.Nodes {
		n += steps(node)
	}
	list.Nodes = append(calls(counter+" "+strconv.Itoa(n)), list.Nodes...)
}

// steps is the work of a node outside of the lists in it, which count themselves: one for it, and
// one for each operand, in calls within calls too.
func steps(n parse.Node) int {
	switch n := n.(type) {
	case *parse.ActionNode:
		return 1 + stepsOfPipe(n.Pipe)
	case *parse.RangeNode:
		return 1 + stepsOfPipe(n.Pipe)
	case *parse.IfNode:
		return 1 + stepsOfPipe(n.Pipe)
	case *parse.WithNode:
		return 1 + stepsOfPipe(n.Pipe)
	case *parse.TemplateNode:
		return 1 + stepsOfPipe(n.Pipe)
	case *parse.PipeNode:
		return 1 + stepsOfPipe(n)
	case *parse.FieldNode:
		return len(n.Ident)
	case *parse.VariableNode:
		return len(n.Ident)
	case *parse.ChainNode:
		return len(n.Field) + steps(n.Node)
	}
	return 1
}

func stepsOfPipe(p *parse.PipeNode) (n int) {
	if p == nil { // of a template that is included without data
		return 0
	}
	for _, cmd := range p.Cmds {
		for _, arg := range cmd.Args {
			n += steps(arg)
		}
	}
	return n
}

// calls is the nodes of a call of one of the functions that count.
func calls(text string) []parse.Node {
	none := func() string { return "" }
	parsed, err := parse.Parse("", "{{"+text+"}}", "", "", map[string]any{counter: none, enter: none, leave: none})
	if err != nil {
		panic("unreachable: the text is fixed: " + err.Error())
	}
	return parsed[""].Root.Nodes
}

// place is how text/template says where: the template's name, a line, and in a run a column.
var place = regexp.MustCompile(`^template: (.*?):(\d+):(?:(\d+):)? (?:executing "[^"]*" at )?`)

// failAt reports an error of text/template at its place, which may be in an included template.
func (r *reporter) failAt(source emit.Source, err error) {
	text := err.Error()
	d := diag.Diagnostic{Severity: diag.Error, Code: "template", Pos: diag.Pos{File: source.File, Line: 1, Col: 1}}
	if m := place.FindStringSubmatch(text); m != nil {
		text = strings.TrimPrefix(text, m[0])
		line, _ := strconv.Atoi(m[2])
		col, _ := strconv.Atoi(m[3])
		at := r.sourceOf(m[1], source)
		d.Pos = diag.Pos{File: at.File, Line: line, Col: col + 1}
		d.Source = lineOf(at.Data, line)
	}
	var spent *spentError
	if errors.As(err, &spent) {
		text, d.Hint = spent.Error(), "loop over less, include fewer templates in each other, or split the target: the "+
			"limits hold for all its files together"
	}
	if strings.Contains(text, "map has no entry for key") {
		d.Hint = "docs/model.md lists the keys; `dlpackgen model` prints them"
	}
	d.Text = strings.TrimSpace(text)
	r.findings.Add(d)
}

func (r *reporter) sourceOf(name string, otherwise emit.Source) emit.Source {
	for _, s := range r.sources {
		if s.Path == name {
			return s
		}
	}
	return otherwise
}

func lineOf(text []byte, n int) string {
	lines := strings.SplitN(string(text), "\n", n+1)
	if n < 1 || n > len(lines) {
		return ""
	}
	return strings.TrimSuffix(lines[n-1], "\r")
}
