// Package source reads from preprocessed C and C++ (the output of -E -dD) what debug information
// omits: macros, parameter names, tags of typedefs, and their positions. It is not a complete
// parser: types, sizes and values come from the compiler.
package source

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// Token is one token of preprocessed text.
type Token struct {
	Text string
	Pos  diag.Pos // in the file that it came from
}

// ident reports whether the token is a name or a keyword.
func (t Token) ident() bool { return identifier.MatchString(t.Text) }

var (
	identifier = regexp.MustCompile(`^[A-Za-z_$\x80-\xff][\w$\x80-\xff]*$`)
	lexeme     = regexp.MustCompile(
		`"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[A-Za-z_$\x80-\xff][\w$\x80-\xff]*|\.?\d(?:[eEpP][+-]|[\w.'])*|::|->|<<|>>|\.\.\.|\S`)
	lineMarker = regexp.MustCompile(`^#(?:line)? *(\d+) "((?:\\.|[^"\\])*)"`)
)

// Text is preprocessed text as tokens and macros.
type Text struct {
	Tokens []Token
	Macros []Macro // in the order of their definitions; the last one of a name holds
}

// Read splits preprocessed text into tokens and macros. Positions are those of the line markers.
func Read(preprocessed string) *Text {
	t := &Text{}
	at := diag.Pos{}
	for line := range strings.Lines(preprocessed) {
		if strings.HasPrefix(line, "#") {
			at = t.directive(strings.TrimRight(line, "\r\n"), at)
			continue
		}
		for _, m := range lexeme.FindAllStringIndex(line, -1) {
			pos := diag.Pos{File: at.File, Line: at.Line, Col: m[0] + 1}
			t.Tokens = append(t.Tokens, Token{Text: line[m[0]:m[1]], Pos: pos})
		}
		at.Line++
	}
	return t
}

// directive reads a line marker, a #define or an #undef, and returns the position of the next line.
func (t *Text) directive(line string, at diag.Pos) diag.Pos {
	if m := lineMarker.FindStringSubmatch(line); m != nil {
		n, _ := strconv.Atoi(m[1])
		return diag.Pos{File: filepath.Clean(unescape.Replace(m[2])), Line: n}
	}
	if rest, ok := strings.CutPrefix(line, "#define "); ok {
		t.Macros = append(t.Macros, parseMacro(rest, at))
	}
	if rest, ok := strings.CutPrefix(line, "#undef "); ok {
		t.undefine(strings.TrimSpace(rest))
	}
	at.Line++
	return at
}

var unescape = strings.NewReplacer(`\\`, `\`, `\"`, `"`)
