package templated

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
)

// maxSteps limits the work of one file: the nodes of a template that are executed in its loops.
const maxSteps = 1_000_000

// set is every template of the folder, each under its path: any may include any other.
type set struct {
	templates *template.Template
	budget    *budget
}

// parse reads every template, and makes each loop count its steps.
func (r *renderer) parse() *set {
	s := &set{budget: &budget{}}
	s.templates = template.New("").Funcs(functions(s.budget)).Option("missingkey=error")
	for _, source := range r.model.Templates {
		if !isTemplate(source.Path) {
			continue
		}
		if _, err := s.templates.New(source.Path).Parse(string(source.Data)); err != nil {
			r.failAt(source, err)
		}
	}
	if !r.findings.Failed() {
		for _, t := range s.templates.Templates() {
			if t.Tree != nil && t.Root != nil {
				count(t.Root)
				t.Root.Nodes = slices.Concat(calls(enter), t.Root.Nodes, calls(leave))
			}
		}
	}
	return s
}

// fill makes the text of one file.
func (r *renderer) fill(s *set, source emit.Source) []byte {
	s.budget.reset()
	var out bytes.Buffer
	err := s.templates.ExecuteTemplate(&limited{buffer: &out}, source.Path, r.data)
	if err != nil {
		r.failAt(source, err)
	}
	return out.Bytes()
}

// limited stops a template whose output is too large.
type limited struct{ buffer *bytes.Buffer }

// Write appends to the output, up to the limit.
func (l *limited) Write(p []byte) (int, error) {
	if l.buffer.Len()+len(p) > MaxOutput {
		return 0, fmt.Errorf("the output has more than %d bytes", MaxOutput)
	}
	return l.buffer.Write(p)
}

// count lets each loop and each included template count its nodes before it runs.
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
	list.Nodes = append(calls(counter+" "+strconv.Itoa(len(list.Nodes)+1)), list.Nodes...)
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
func (r *renderer) failAt(source emit.Source, err error) {
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
		text, d.Hint = spent.Error(), "loop over less, or include fewer templates in each other"
	}
	if strings.Contains(text, "map has no entry for key") {
		d.Hint = "docs/model.md lists the keys; `dlpackgen model` prints them"
	}
	d.Text = strings.TrimSpace(text)
	r.findings.Add(d)
}

func (r *renderer) sourceOf(name string, otherwise emit.Source) emit.Source {
	for _, s := range r.model.Templates {
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
