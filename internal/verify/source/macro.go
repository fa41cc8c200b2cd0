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

// Macro returns the definition at the end of the text.
func (t *Text) Macro(name string) (Macro, bool) {
	for _, m := range slices.Backward(t.Macros) {
		if m.Name == name {
			return m, true
		}
	}
	return Macro{}, false
}

var (
	comments = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	ifndef   = regexp.MustCompile(`^#\s*(?:ifndef\s+(\w+)|if\s*!\s*defined\s*(?:\(\s*(\w+)\s*\)|\b(\w+)))$`)
	define   = regexp.MustCompile(`^#\s*define\s+(\w+)$`)
)

// Guard returns the include guard of a header, or "": the first macro that is tested for absence,
// if the next line defines it as empty.
func Guard(header string) string {
	tested := ""
	for line := range strings.Lines(comments.ReplaceAllString(header, "")) {
		line = strings.TrimSpace(line)
		if m := define.FindStringSubmatch(line); tested != "" && m != nil && m[1] == tested {
			return tested
		}
		if tested != "" && line != "" {
			return ""
		}
		if m := ifndef.FindStringSubmatch(line); m != nil {
			tested = m[1] + m[2] + m[3] // one way of writing it matched
		}
	}
	return ""
}
