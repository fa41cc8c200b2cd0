package cdecl

import (
	"fmt"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/layout"
)

// Units are the names of the parts of formulas in a language.
type Units struct {
	Pointer string // the size of a pointer
	Int64   string // the alignment of int64_t
	Up      string // the function or macro that rounds up
}

func (u Units) align(of layout.Unit) string {
	return map[layout.Unit]string{layout.Align1: "1", layout.Align2: "2", layout.Align4: "4",
		layout.AlignPointer: u.Pointer, layout.AlignInt64: u.Int64}[of]
}

// Formula formats a size or an offset as a sum, without terms that are 0.
func (s Speller) Formula(f layout.Formula, in Units) string {
	var terms []string
	if f.Rounded != nil {
		terms = append(terms, fmt.Sprintf("%s(%s, %s)", in.Up, s.Formula(f.Rounded.Of, in), in.align(f.Rounded.To)))
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
