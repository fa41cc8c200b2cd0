package mutant

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// choice is a sequence of whole statements, and a mutant's replacement.
type choice struct {
	begin, end, number int
	instead            string
}

// source is a C, C++ or Go file. Go files have lists of statements instead of edges.
type source struct {
	text   string
	output string // the same with spaces for comments
	code   string // the same with spaces for all that is not code
	edges  []edge
	labels []edge // the cases of switches

	goPackage string
	lists     [][]statement
}

// edge is a position where a statement may begin or end, with the positions of the open brackets.
type edge struct {
	at   int
	open []int
}

var (
	// noise matches comments and literals, whose brackets and semicolons are not code.
	noise = regexp.MustCompile(`(?m)//.*$|/\*(?s:.*?)\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)'|^[ ` +
		`\t]*#(?:.*\\\n)*.*$`)
	comment = regexp.MustCompile(`(?m)//.*$|/\*(?s:.*?)\*/`)
	// token matches the tokens from which the brackets of a source are read.
	token = regexp.MustCompile(`[][(){};]|\b(?:case|default)\b`)
)

// parse reads the brackets of a source.
func parse(text string) *source {
	blanked := func(s string) string { return strings.Repeat(" ", len(s)) }
	s, open := &source{text: text}, []int(nil)
	s.output, s.code = comment.ReplaceAllStringFunc(text, blanked), noise.ReplaceAllStringFunc(text, blanked)
	for _, at := range token.FindAllStringIndex(s.code, -1) {
		switch word := s.code[at[0]:at[1]]; word {
		case "(", "[", "{":
			open = append(open, at[0])
		case ")", "]", "}":
			open = open[:max(0, len(open)-1)]
		case "case", "default":
			s.labels = append(s.labels, edge{at[0], slices.Clone(open)})
		}
		if strings.Contains("{};", s.code[at[0]:at[1]]) {
			s.edges = append(s.edges, edge{at[1], slices.Clone(open)})
		}
	}
	return s
}

// blank counts the bytes without code at the beginning of a part of a source.
func blank(code string) int { return len(code) - len(strings.TrimLeft(code, " \n")) }

// change is the part of a source that a mutant replaces, without equal text at both ends.
type change struct {
	begin, end int
	code       int // where the first code of the part is
	instead    string
}

// difference returns the change of a mutant.
func (s *source) difference(m Mutant) change {
	at := m.places(s.text)[0]
	c := change{begin: at[0], end: at[1], instead: plain(m.New)}
	for c.begin < c.end && c.instead != "" && s.text[c.begin] == c.instead[0] {
		c.begin, c.instead = c.begin+1, c.instead[1:]
	}
	for c.begin < c.end && c.instead != "" && s.text[c.end-1] == c.instead[len(c.instead)-1] {
		c.end, c.instead = c.end-1, c.instead[:len(c.instead)-1]
	}
	c.end = c.begin + len(strings.TrimRight(s.output[c.begin:c.end], " \n"))
	c.code = c.begin + blank(s.output[c.begin:c.end])
	return c
}

// choose finds the statements that a mutant changes. It finds none if the mutant changes something
// else, or code that the compiler evaluates.
func (s *source) choose(m Mutant, number int) (choice, bool) {
	if s.goPackage != "" {
		return s.chooseGo(m, number)
	}
	c := s.difference(m)
	if compiled.MatchString(s.code[:c.code]) {
		return choice{}, false
	}
	for i := len(s.edges) - 1; i >= 0; i-- {
		if s.edges[i].at > c.code || !s.isStatement(s.edges[i]) {
			continue
		}
		if made, ok := s.statements(i, c); ok {
			made.number = number
			return made, true
		}
	}
	return choice{}, false
}

// statements returns the statements from an edge on that contain a change, if they can be
// duplicated there.
func (s *source) statements(from int, c change) (choice, bool) {
	at := s.edges[from].at + blank(s.code[s.edges[from].at:])
	begin, end := max(c.begin, at), max(c.end, at) // before the first statement, something is only put in
	to := s.until(from, end)
	for to > 0 && !endsStatement(s.text[at:begin]+c.instead+s.text[end:to]) {
		to = s.until(from, to+1)
	}
	if to == 0 || !s.isWhole(edge{at, s.edges[from].open}, to) {
		return choice{}, false
	}
	return choice{begin: at, end: to, instead: s.text[at:begin] + c.instead + s.text[end:to]}, true
}

// endsStatement reports whether a text is complete, and not the beginning of a statement, such as a
// condition.
func endsStatement(text string) bool {
	code := strings.TrimSpace(noise.ReplaceAllString(text, ""))
	return code == "" || strings.ContainsAny(code[len(code)-1:], ";}")
}

var (
	// block matches the text before the bracket of a function's body or of a block in it.
	block = regexp.MustCompile(`(\)|\]|\b(noexcept|const|else|try|do)|->[^;{}()=]*)\s*$`)
	// goesOn matches text with which no statement begins.
	goesOn = regexp.MustCompile(`^\s*([^\w\s:+*({}-]|(else|catch|case|default)\b)`)
	// declares and does distinguish declarations, which other statements of their block need, from
	// other statements.
	declares = regexp.MustCompile(
		`^\s*(?:(?:const|constexpr|static|thread_local|using|auto|typename|struct|union|enum|unsigned|signed|long|short|typedef)\b` +
			`|[A-Za-z_][\w:]*(?:<[^;=]*>)?(?:\s+const)?[\s*&]+(?:const\s+)?[A-Za-z_]\w*\s*[=;,({\[])`)
	does = regexp.MustCompile(`^\s*(return|throw|delete|goto|if|for|while|switch|try|do)\b`)
	// compiled matches the text before a condition that the compiler evaluates.
	compiled = regexp.MustCompile(`\bif constexpr \([^;{}]*$`)
	// conditional matches preprocessor lines that begin or end a conditional part.
	conditional = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(if|endif)`)
)

// isStatement reports whether a statement in a function begins at an edge.
func (s *source) isStatement(e edge) bool {
	return len(e.open) > 0 && !goesOn.MatchString(s.code[e.at:]) && block.MatchString(s.code[:e.open[len(e.open)-1]])
}

// isWhole reports whether the statements between two positions can be duplicated: they contain no
// cases without their switch, and no part of a preprocessor conditional.
func (s *source) isWhole(from edge, to int) bool {
	for _, label := range s.labels {
		if label.at >= from.at && label.at < to && slices.Equal(label.open, from.open) {
			return false
		}
	}
	depth := 0
	for _, found := range conditional.FindAllStringSubmatch(s.text[from.at:to], -1) {
		if found[1] == "if" {
			depth++
		} else if depth--; depth < 0 {
			return false
		}
	}
	return depth == 0
}

// declares reports whether the statement at an edge is a declaration, which is used until the end
// of its block.
func (s *source) declares(e edge) bool {
	return declares.MatchString(s.code[e.at:]) && !does.MatchString(s.code[e.at:])
}

// until returns the end of the statements that begin at an edge and contain a position. If one is a
// declaration, this is the end of their block. It returns 0 if the block ends before the position.
func (s *source) until(begin, end int) int {
	from := s.edges[begin]
	wantsAll := s.declares(from)
	for _, to := range s.edges[begin+1:] {
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

// nested merges choices, so that any two of them are disjoint or nested.
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

// switched writes a part of a source with choices, which are sorted.
func (s *source) switched(choices []choice, from, to int) string {
	var made strings.Builder
	for i := 0; i < len(choices); {
		c, within := choices[i], i+1
		for within < len(choices) && choices[within].begin < c.end {
			within++
		}
		made.WriteString(s.text[from:c.begin])
		fmt.Fprintf(&made, "if (dlpackgen_mutant(%d)) {%s\n} else {%s\n}", c.number, c.instead,
			s.switched(choices[i+1:within], c.begin, c.end))
		from, i = c.end, within
	}
	made.WriteString(s.text[from:to])
	return made.String()
}
