package diag

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The colours of the severity, the caret and the hint.
const (
	red    = "\x1b[1;31m"
	yellow = "\x1b[1;33m"
	cyan   = "\x1b[1;36m"
	reset  = "\x1b[0m"
)

// snippetWidth bounds the part of a source line that is shown: a line of a
// hostile file may be megabytes long.
const snippetWidth = 100

// Text renders findings for people:
//
//	file:line:col: error: text [code]
//	    the source line
//	        ^
//	    hint: what to do
//
// Control characters that came from the input are shown escaped, so that a
// file cannot steer the terminal.
func Text(findings []Diagnostic, color bool) string {
	var b strings.Builder
	for _, d := range findings {
		writeText(&b, d, painter(color))
	}
	return b.String()
}

// painter colours a word, or returns it unchanged.
func painter(color bool) func(escape, word string) string {
	return func(escape, word string) string {
		if !color {
			return word
		}
		return escape + word + reset
	}
}

func writeText(b *strings.Builder, d Diagnostic, paint func(escape, word string) string) {
	if pos := d.Pos.String(); pos != "" {
		fmt.Fprintf(b, "%s: ", visible(pos))
	}
	fmt.Fprintf(b, "%s: %s", paint(severityColor(d.Severity), d.Severity.String()), visible(d.Text))
	if d.Code != "" {
		fmt.Fprintf(b, " [%s]", d.Code)
	}
	b.WriteByte('\n')
	if d.Source != "" && d.Pos.Line > 0 {
		line, caret := snippet(d.Source, d.Pos.Col)
		fmt.Fprintf(b, "    %s\n    %s%s\n", line, strings.Repeat(" ", caret), paint(red, "^"))
	}
	if d.Hint != "" {
		first, more, _ := strings.Cut(d.Hint, "\n")
		fmt.Fprintf(b, "    %s %s\n", paint(cyan, "hint:"), visible(first))
		for line := range strings.SplitSeq(more, "\n") {
			if line != "" {
				fmt.Fprintf(b, "      %s\n", visible(line))
			}
		}
	}
}

func severityColor(s Severity) string {
	switch s {
	case Error:
		return red
	case Warning:
		return yellow
	default:
		return cyan
	}
}

// snippet returns the part of a source line around byte column col (from 1), and the number of
// cells before that column.
func snippet(source string, col int) (line string, caret int) {
	at := min(max(col-1, 0), len(source))
	from := max(0, at-snippetWidth/2)
	to := min(len(source), from+snippetWidth)
	for from > 0 && !utf8.RuneStart(source[from]) {
		from--
	}
	for to < len(source) && !utf8.RuneStart(source[to]) {
		to++
	}
	before := visible(source[from:at])
	line = before + visible(source[at:to])
	if from > 0 {
		line, before = "..."+line, "..."+before
	}
	if to < len(source) {
		line += "..."
	}
	return strings.TrimRight(line, " "), utf8.RuneCountInString(before)
}

// Line returns a line of text with control characters escaped, as in Text.
func Line(s string) string { return visible(s) }

// visible shows what a terminal would act upon: a tab is one blank, so that
// carets stay in their column, and other control characters are escaped.
func visible(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\t':
			b.WriteByte(' ')
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
