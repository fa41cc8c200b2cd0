package yaml

import (
	"fmt"
	"strings"
)

// opened is a bracket that begins a value, with its position.
type opened struct {
	bracket   byte
	line, col int
}

// flows follows the { and [ of a text that yaml.v3 rejected. Outside of them, a bracket only counts
// at the beginning of a value, because other values may contain brackets without quotes.
type flows struct {
	open  []opened
	quote byte // of the quoted text that is not closed, or 0
}

// closing returns the bracket that closes this one.
func (o opened) closing() byte {
	if o.bracket == '[' {
		return ']'
	}
	return '}'
}

// unclosed reports the bracket because of which the file ends inside { } or [ ], or one that closes
// another kind of bracket. It returns false without such a bracket, or if that line has a mistake
// with a better hint.
func (doc *document) unclosed() bool {
	var f flows
	found, at := 0, -1
	for n := 1; n <= len(doc.lines) && at < 0; n++ {
		found, at = n, f.follow(n, doc.line(n))
	}
	if len(f.open) == 0 {
		return false
	}
	last := f.open[len(f.open)-1]
	line, col, closing := last.line, last.col, last.closing()
	hint, text := fmt.Sprintf("add a %c", closing), fmt.Sprintf("this %c is not closed", last.bracket)
	if at >= 0 {
		hint = fmt.Sprintf("the %c in line %d, column %d is not closed", last.bracket, line, col)
		line, col, text = found, at+1, fmt.Sprintf("expected %c, found %c", closing, doc.line(found)[at])
	}
	if _, better := flowTrap(doc.line(line)); better != "" {
		return false
	}
	doc.fail(line, col, "yaml-syntax", hint, "%s", text)
	return true
}

// follow reads a line. It returns the offset of a bracket that closes another kind of bracket, or
// -1.
func (f *flows) follow(n int, line string) int {
	inner := 0 // brackets inside an unquoted value
	for at := 0; at < len(line); at++ {
		c := line[at]
		switch {
		case f.quote != 0:
			at += f.quoted(line[at:])
		case c == '#' && (at == 0 || line[at-1] == ' '):
			return -1
		case (c == '"' || c == '\'') && f.begins(line[:at]):
			f.quote = c
		case c == '[' || c == '{':
			if f.begins(line[:at]) {
				f.open = append(f.open, opened{c, n, at + 1})
			} else {
				inner++
			}
		case c != ']' && c != '}' || len(f.open) == 0:
		case inner > 0:
			inner--
		case c != f.open[len(f.open)-1].closing():
			return at
		default:
			f.open = f.open[:len(f.open)-1]
		}
	}
	return -1
}

// quoted reads the next character of quoted text. It returns 1 if the character after that belongs
// to it, and otherwise 0.
func (f *flows) quoted(rest string) int {
	switch {
	case rest[0] == '\\' && f.quote == '"', strings.HasPrefix(rest, "''") && f.quote == '\'':
		return 1
	case rest[0] == f.quote:
		f.quote = 0
	}
	return 0
}

// begins reports whether a value begins after the given part of a line.
func (f *flows) begins(before string) bool {
	before = strings.TrimRight(before, " ")
	if before == "" || strings.HasSuffix(before, ":") || strings.HasSuffix(before, "-") {
		return true
	}
	return len(f.open) > 0 && strings.ContainsAny(before[len(before)-1:], "[{,")
}
