package source

import (
	"regexp"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// Macro is one definition.
type Macro struct {
	Name     string
	Function bool   // it takes parameters
	Body     string // tokens with single spaces where there were any
	Pos      diag.Pos
}

var macroName = regexp.MustCompile(`^[\w$]+`)

func parseMacro(definition string, pos diag.Pos) Macro {
	name := macroName.FindString(definition)
	rest := definition[len(name):]
	pos.Col = 1
	return Macro{
		Name:     name,
		Function: strings.HasPrefix(rest, "("),
		Body:     strings.Join(strings.Fields(rest), " "),
		Pos:      pos,
	}
}

func (t *Text) undefine(name string) {
	t.Macros = slices.DeleteFunc(t.Macros, func(m Macro) bool { return m.Name == name })
}

// Macro gives the definition that holds at the end of the text.
func (t *Text) Macro(name string) (Macro, bool) {
	for _, m := range slices.Backward(t.Macros) {
		if m.Name == name {
			return m, true
		}
	}
	return Macro{}, false
}

var guard = regexp.MustCompile(`^\s*#\s*ifndef\s+(\w+)[^\n]*\n\s*#\s*define\s+(\w+)\s*\n`)

var comments = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)

// Guard gives the macro that keeps a header from being read twice, or "".
func Guard(header string) string {
	text := comments.ReplaceAllString(strings.ReplaceAll(header, "\r\n", "\n"), "")
	m := guard.FindStringSubmatch(text)
	if m == nil || m[1] != m[2] {
		return ""
	}
	return m[1]
}
