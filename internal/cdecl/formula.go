package cdecl

import (
	"fmt"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/layout"
)

// Units are the names of the parts of formulas in a language.
type Units struct {
	Pointer string                 // the size of a pointer
	Align   map[layout.Unit]string // each alignment
	Up      string                 // the function or macro that rounds up
}

// Formula formats a size or an offset as a sum, without terms that are 0.
func (s Speller) Formula(f layout.Formula, in Units) string {
	var terms []string
	if f.Rounded != nil {
		terms = append(terms, fmt.Sprintf("%s(%s, %s)", in.Up, s.Formula(f.Rounded.Of, in), in.Align[f.Rounded.To]))
	}
	for _, part := range f.Structs {
		terms = append(terms, "sizeof("+s.Name(part.Name)+")")
	}
	if f.Pointers == 1 {
		terms = append(terms, in.Pointer)
	} else if f.Pointers > 1 {
		terms = append(terms, fmt.Sprintf("%d * %s", f.Pointers, in.Pointer))
	}
	if f.Const != 0 || terms == nil {
		terms = append(terms, fmt.Sprint(f.Const))
	}
	return strings.Join(terms, " + ")
}
