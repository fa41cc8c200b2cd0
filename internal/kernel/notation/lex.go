package notation

import (
	"fmt"
	"regexp"
	"strings"
)

// sign is the kind of a token.
type sign int

const (
	end sign = iota
	name
	integer
	real
	quoted
	mark // an operator or a bracket
)

// token is a piece of a line.
type token struct {
	sign sign
	text string
	at   int
}

// form matches one token at the beginning of a text. Numbers come first: "1e-6" is one token.
var form = regexp.MustCompile(`^(?:` +
	`(?P<real>(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)` +
	`|(?P<integer>\d+)` +
	`|(?P<name>[A-Za-z_][A-Za-z0-9_]*)` +
	`|(?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")` +
	`|(?P<mark>\.\.\.|//|==|!=|<=|>=|[][()?,|=+*%<>.-])` +
	`)`)

var signs = map[string]sign{"real": real, "integer": integer, "name": name, "quoted": quoted, "mark": mark}

// lex splits a line into tokens. With an error, it returns the tokens before the error.
func lex(text string) ([]token, *Error) {
	var tokens []token
	for at := 0; ; {
		at += len(text[at:]) - len(strings.TrimLeft(text[at:], " \t"))
		if at == len(text) {
			return append(tokens, token{end, "", at}), nil
		}
		found := form.FindStringSubmatchIndex(text[at:])
		if found == nil {
			return append(tokens, token{end, "", at}), stray(text, at)
		}
		for i, group := range form.SubexpNames() {
			if group != "" && found[2*i] >= 0 {
				tokens = append(tokens, token{signs[group], text[at : at+found[1]], at})
			}
		}
		at += found[1]
	}
}

// replacement returns the hint for an operator of another language.
func replacement(r rune) string {
	switch r {
	case '&':
		return "write and between two conditions"
	case '!':
		return "write != to compare"
	}
	return "remove it"
}

// anyExtent is the hint for what other notations write.
const anyExtent = "write _ for any extent, or ... for any number of dimensions"

// inExtents reports whether a place is after an opening bracket.
func inExtents(text string, at int) bool { return strings.Contains(text[:at], "[") }

// stray returns the error for a character that begins no token.
func stray(text string, at int) *Error {
	switch r := []rune(text[at:])[0]; r {
	case '/':
		return &Error{At: at, Text: "extents are integers, but / divides without rounding",
			Hint: "write // to divide and round down"}
	case '\n':
		return &Error{At: at, Text: "expected a single line, got several", Hint: "write it on one line, without > or |"}
	case '#':
		return &Error{At: at, Text: "a # begins a comment in YAML only after a space, and is invalid here",
			Hint: "put the line in quotes"}
	case '\'', '"':
		return &Error{At: at, Text: "this string is not closed", Hint: "end it with the same quotation mark"}
	default:
		hint := replacement(r)
		if r == ':' && inExtents(text, at) {
			hint = anyExtent
		}
		return &Error{At: at, Text: fmt.Sprintf("unexpected %q", r), Hint: hint}
	}
}
