// Package diag defines findings: the problem, its position, and a hint. It renders findings, but
// decides no exit code and stops no run.
package diag

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity ranks a finding. Only Error makes a run fail.
type Severity int

// The severities, from the highest to the lowest.
const (
	Error Severity = iota
	Warning
	Note
)

// String returns the word that all formats use.
func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	default:
		return "note"
	}
}

// Pos is a place in a file. Line and Col count from 1 and Col counts bytes; a
// zero Line means the whole file, an empty File means no file at all.
type Pos struct {
	File string
	Line int
	Col  int
}

// String returns file:line:col, without unknown parts.
func (p Pos) String() string {
	switch {
	case p.File == "":
		return ""
	case p.Line == 0:
		return p.File
	default:
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
	}
}

// A Diagnostic is one finding.
type Diagnostic struct {
	Severity Severity
	Code     string // stable, kebab-case: tools filter on it
	Pos      Pos
	Text     string // lower case, no full stop
	Hint     string // what to do; may be empty
	Source   string // the line at Pos, without its end; may be empty
}

// MaxFindings is the number of findings that a List keeps. No reader needs more, and a file full of
// mistakes must not use gigabytes.
const MaxFindings = 1000

// List collects the findings of a run, so that one run reports all of them, or
// the first MaxFindings. The zero value is ready to use.
type List struct {
	all    []Diagnostic
	left   int      // how many came after MaxFindings
	worst  Severity // of these
	failed bool
}

// Add appends findings.
func (l *List) Add(d ...Diagnostic) {
	for _, d := range d {
		l.failed = l.failed || d.Severity == Error
		if len(l.all) < MaxFindings {
			l.all = append(l.all, d)
			continue
		}
		if l.left++; l.left == 1 || d.Severity < l.worst {
			l.worst = d.Severity
		}
	}
}

// Replace replaces a kept finding, numbered from 0, with another one of the same severity.
func (l *List) Replace(i int, d Diagnostic) {
	if i < len(l.all) {
		l.all[i] = d
	}
}

// Errorf adds an error without a hint.
func (l *List) Errorf(pos Pos, code, format string, args ...any) {
	l.Add(Diagnostic{Severity: Error, Code: code, Pos: pos, Text: fmt.Sprintf(format, args...)})
}

// Failed reports whether a finding is an error.
func (l *List) Failed() bool { return l.failed }

// Len returns the number of findings, kept or not.
func (l *List) Len() int { return len(l.all) + l.left }

// Sorted returns the findings by file, line and column; findings at one place
// keep the order in which they were added. A finding at the end counts those that
// were not kept, and is as severe as the worst of them: an error among them must
// not be lost.
func (l *List) Sorted() []Diagnostic {
	out := slices.Clone(l.all)
	slices.SortStableFunc(out, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
	if l.left > 0 {
		out = append(out, Diagnostic{Severity: l.worst, Code: "too-many",
			Text: fmt.Sprintf("%d more findings are not shown", l.left)})
	}
	return out
}
