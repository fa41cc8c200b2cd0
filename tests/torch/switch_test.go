package torch

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// chooser is what sources with mutants include: a process has the one mutant that
// DLPACKGEN_MUTANT gives the number of, or none.
const chooser = `#include <cstdlib>
inline bool dlpackgen_chosen(int number) noexcept {
	static const char *const name = std::getenv("DLPACKGEN_MUTANT");
	static const int which = name == nullptr ? 0 : std::atoi(name);
	return which == number;
}
constexpr bool dlpackgen_mutant(int number) noexcept {
	return __builtin_is_constant_evaluated() ? false : dlpackgen_chosen(number);
}
`

// numbered gives each mutant its number, from 1 on.
func numbered(all map[string]mutant) map[string]int {
	numbers := map[string]int{}
	for i, name := range slices.Sorted(maps.Keys(all)) {
		numbers[name] = i + 1
	}
	return numbers
}

// choice is a run of whole statements, and what a mutant has there instead.
type choice struct {
	begin, end, number int
	instead            string
}

// cpp is a source in C++.
type cpp struct {
	text string
	code string // the same with spaces for all that is no code
	all  []edge
}

// edge is where a statement may begin or end: its place, and the brackets open there.
type edge struct {
	at   int
	open []int // the places of those brackets
}

// noise is what has brackets and semicolons that mean nothing.
var noise = regexp.MustCompile(`(?m)//.*$|/\*(?s:.*?)\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)'|^#.*$`)

// parsed reads the brackets of a source.
func parsed(text string) *cpp {
	s, open := &cpp{text: text}, []int(nil)
	s.code = noise.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat(" ", len(s)) })
	for i := range len(s.code) {
		switch s.code[i] {
		case '(', '[', '{':
			open = append(open, i)
		case ')', ']', '}':
			open = open[:len(open)-1]
		}
		if strings.IndexByte("{};", s.code[i]) >= 0 {
			s.all = append(s.all, edge{i + 1, slices.Clone(open)})
		}
	}
	return s
}

// blank counts the bytes without code at the beginning of a part of a source.
func blank(code string) int { return len(code) - len(strings.TrimLeft(code, " \n")) }

// difference gives the part of a source that a mutant replaces, and by what, without what
// is the same at both ends and without comments there.
func (s *cpp) difference(m mutant) (begin, end int, instead string) {
	begin, instead = strings.Index(s.text, m.old), m.replacement
	end = begin + len(m.old)
	for begin < end && instead != "" && s.text[begin] == instead[0] {
		begin, instead = begin+1, instead[1:]
	}
	for begin < end && instead != "" && s.text[end-1] == instead[len(instead)-1] {
		end, instead = end-1, instead[:len(instead)-1]
	}
	end = begin + len(strings.TrimRight(s.code[begin:end], " \n"))
	return begin + blank(s.code[begin:end]), end, instead
}

// choose finds the statements that a mutant changes, unless it changes something else.
func (s *cpp) choose(m mutant, number int) (choice, bool) {
	begin, end, instead := s.difference(m)
	for i := len(s.all) - 1; i >= 0; i-- {
		if from := s.all[i]; from.at <= begin && s.isStatement(from) {
			if to := s.until(i, end); to > 0 {
				at := from.at + blank(s.code[from.at:])
				return choice{at, to, number, s.text[at:begin] + instead + s.text[end:to]}, true
			}
		}
	}
	return choice{}, false
}

var (
	// block is what stands before the bracket of a function's body or of a part of it.
	block = regexp.MustCompile(`(\)|\]|\b(noexcept|const|else|try|do))\s*$`)
	// goesOn is what no statement begins with.
	goesOn = regexp.MustCompile(`^\s*([^\w\s:+*({}-]|(else|catch)\b)`)
	// declares and does tell statements that others of their block need from others.
	declares = regexp.MustCompile(`^\s*(?:(?:const|constexpr|static|thread_local|using|auto|typename)\b|[A-Za-z_][\w:]*(?:<[^;=]*>)?(?:\s+const)?[\s*&]+(?:const\s+)?[A-Za-z_]\w*\s*[=;({\[])`)
	does     = regexp.MustCompile(`^\s*(return|throw|delete|if|for|while|try|do)\b`)
)

// isStatement tells whether a statement of a function begins at an edge.
func (s *cpp) isStatement(e edge) bool {
	return len(e.open) > 0 && !goesOn.MatchString(s.code[e.at:]) && block.MatchString(s.code[:e.open[len(e.open)-1]])
}

// declares tells whether what begins at an edge is used until the end of its block.
func (s *cpp) declares(e edge) bool {
	return declares.MatchString(s.code[e.at:]) && !does.MatchString(s.code[e.at:])
}

// until gives where the statements end that begin at an edge and reach over a place: at
// the end of their block if one is a declaration. It gives 0 where the block ends before.
func (s *cpp) until(begin, end int) int {
	from := s.all[begin]
	wantsAll := s.declares(from)
	for _, to := range s.all[begin+1:] {
		switch ends := slices.Equal(to.open, from.open) && !goesOn.MatchString(s.code[to.at:]); {
		case len(to.open) < len(from.open): // the block's own bracket
			if wantsAll && to.at-1 >= end {
				return to.at - 1
			}
			return 0
		case ends && to.at >= end && !wantsAll:
			return to.at
		case ends:
			wantsAll = wantsAll || s.declares(to)
		}
	}
	return 0
}

// nested makes the choices of a text either apart or within each other.
func nested(choices []choice, text string) []choice {
	slices.SortFunc(choices, func(a, b choice) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(b.end, a.end), cmp.Compare(a.number, b.number))
	})
	for i := range choices {
		for _, later := range choices[i+1:] {
			if c := &choices[i]; later.begin < c.end && later.end > c.end {
				c.instead += text[c.end:later.end]
				c.end = later.end
			}
		}
	}
	return choices
}

// switched writes a text with choices, which are sorted, from a place to another.
func switched(text string, choices []choice, from, to int) string {
	var made strings.Builder
	for i := 0; i < len(choices); {
		c, within := choices[i], i+1
		for within < len(choices) && choices[within].begin < c.end {
			within++
		}
		made.WriteString(text[from:c.begin])
		fmt.Fprintf(&made, "if (::dlpackgen_mutant(%d)) {%s\n} else {%s\n}", c.number, c.instead, switched(text, choices[i+1:within], c.begin, c.end))
		from, i = c.end, within
	}
	made.WriteString(text[from:to])
	return made.String()
}
