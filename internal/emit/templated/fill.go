package templated

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/template"
)

// set is the templates of a folder for one target. Any template may include any other.
type set struct {
	filler template.Filler
	budget *budget
}

// parsed is all templates of a folder by path, for all targets that name the folder.
type parsed struct {
	templates template.Set
	findings  []diag.Diagnostic
}

// parseFolder parses templates as far as the budget of the config reaches.
func parseFolder(sources []emit.Source, b *budget) *parsed {
	r := &reporter{sources: sources, findings: &diag.List{}}
	all := template.Set{}
	for _, source := range sources {
		if !r.check(source) || !isTemplate(source.Path) {
			continue
		}
		if err := b.parses(len(source.Data)); err != nil {
			r.failAt(source, err)
			break
		}
		r.parse(all, source, b)
	}
	return &parsed{templates: all, findings: r.findings.Sorted()}
}

// parse adds a file and its definitions. A definition with a file's name is an error: depending on
// the order, one would replace the other.
func (r *reporter) parse(all template.Set, source emit.Source, b *budget) {
	own, err := template.Parse(source.Path, string(source.Data), functions(b))
	if err != nil {
		r.failAt(source, err)
		return
	}
	for name := range own {
		if other := r.sourceOf(name, source); name != source.Path && other.Path == name {
			r.fail(source, "give the definition another name", "this file defines %q, which is the name of %s", name,
				other.File)
			delete(own, name)
		}
	}
	all.Add(own)
}

// set returns the templates with functions that charge a budget.
func (p *parsed) set(b *budget) *set {
	return &set{template.Filler{Templates: p.templates, Functions: functions(b), Step: b.step}, b}
}

// fill executes the template of one file.
func (r *renderer) fill(s *set, source emit.Source) []byte {
	var out bytes.Buffer
	if err := s.filler.Fill(&limited{buffer: &out, budget: s.budget}, source.Path, r.data); err != nil {
		r.failAt(source, err)
	}
	return out.Bytes()
}

// limited is a writer that stops a config whose files are too large in total.
type limited struct {
	buffer *bytes.Buffer
	budget *budget
}

// Write appends to the output until the limit.
func (l *limited) Write(p []byte) (int, error) {
	if err := l.budget.writes(len(p)); err != nil {
		return 0, err
	}
	return l.buffer.Write(p)
}

// place matches the position in a template's error: the template's name, a line, and during
// execution a column.
var place = regexp.MustCompile(`^template: (.*?):(\d+):(?:(\d+):)? (?:executing "[^"]*" at )?`)

// failAt reports an error of a template at its position, which may be in an included template.
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
		text = spent.Error()
	}
	if spent != nil || errors.Is(err, template.ErrDepth) {
		d.Hint = "loop over less, include fewer templates in each other, or split the config: the " +
			"limits hold for all its templates together"
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
