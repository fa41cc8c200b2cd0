package cformat

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// closing returns where the bracket closes that encloses the text from a place on.
func closing(text string, from int) int {
	end := len(text) - 1
	walk(text[from:], func(i, depth int) bool {
		if depth < 0 {
			end = from + i
			return false
		}
		return true
	})
	return end
}

// opening returns the start of the first braces outside of other brackets.
func opening(text string) int {
	first := 0
	walk(text, func(i, depth int) bool {
		if depth == 0 && text[i] == '{' {
			first = i
		}
		return first == 0
	})
	return first
}

// opens and closes are the brackets, by byte.
var opens, closes = [256]bool{'(': true, '{': true, '[': true}, [256]bool{')': true, '}': true, ']': true}

// walk calls a function with each byte outside of literals, and with the number of
// brackets around it, until that returns false. A bracket of a template follows a name.
func walk(text string, visit func(at, depth int) bool) {
	open := make([]byte, 0, 32)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"' || c == '\'':
			for i++; i < len(text) && text[i] != c; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			continue
		case opens[c] || c == '<' && i > 0 && isWord(text[i-1]):
			if !visit(i, len(open)) {
				return
			}
			open = append(open, c)
			continue
		case closes[c] || c == '>' && len(open) > 0 && open[len(open)-1] == '<':
			if len(open) == 0 {
				visit(i, -1)
				return
			}
			open = open[:len(open)-1]
		}
		if !visit(i, len(open)) {
			return
		}
	}
}

// split cuts a list behind the commas between its items.
func split(text string) (items []string) {
	from := 0
	walk(text, func(i, depth int) bool {
		if depth == 0 && text[i] == ',' {
			items = append(items, text[from:i+1])
			from = i + 2
		}
		return true
	})
	return append(items, text[min(from, len(text)):])
}

// operators are those that a condition may break behind, and what clang-format counts for it.
var operators = []struct {
	words []string
	cost  int
}{{[]string{"|| "}, 4}, {[]string{"&& "}, 5}, {[]string{"== ", "!= "}, 9}, {[]string{"<= ", ">= ", "< ", "> "}, 10}}

// operands cuts a condition behind its operators that bind least, and returns the cost of a break.
func operands(text string) ([]string, int) {
	for _, o := range operators {
		if !slices.ContainsFunc(o.words, func(word string) bool { return strings.Contains(text, word) }) {
			continue
		}
		var all []string
		from := 0
		walk(text, func(i, depth int) bool {
			if depth > 0 || i == 0 || text[i-1] != ' ' {
				return true
			}
			if size := prefixed(text[i:], o.words); size > 0 {
				all = append(all, text[from:i+size-1])
				from = i + size
			}
			return true
		})
		if all != nil {
			return append(all, text[from:]), o.cost
		}
	}
	return nil, 0
}

// prefixed returns the length of the word that a text begins with, or 0.
func prefixed(text string, words []string) int {
	for _, word := range words {
		if strings.HasPrefix(text, word) {
			return len(word)
		}
	}
	return 0
}

// cutAssignment cuts a statement behind the sign of an assignment of an expression.
func cutAssignment(text string) (left, right string, ok bool) {
	at := -1
	if strings.HasPrefix(text, "using ") || !strings.Contains(text, " = ") {
		return "", "", false
	}
	walk(text, func(i, depth int) bool {
		if depth == 0 && strings.HasPrefix(text[i:], " = ") {
			at = i
		}
		return at < 0
	})
	if at < 0 || text[at+3] == '{' {
		return "", "", false
	}
	return text[:at+2], text[at+3:], true
}

// bracket returns the first pair of brackets that ends behind the last column, or else the last
// pair.
func (p part) bracket() (first, last int) {
	first, last = -1, -1
	opened := -1
	walk(p.text, func(i, depth int) bool {
		switch {
		case depth != 0:
		case strings.IndexByte("({<", p.text[i]) >= 0:
			opened = i
		case strings.IndexByte(")}>", p.text[i]) >= 0 && i > opened+1 && opened >= 0:
			first, last = opened, i
			return p.at+columns(p.text[:i+1]) <= width
		}
		return true
	})
	return first, last
}

// isDeclaration reports whether a text ends in the name of a function that it declares: in a call,
// no type precedes the name.
func isDeclaration(head string) bool {
	head = strings.TrimPrefix(head, "__attribute__((unused)) ")
	if strings.HasPrefix(head, "typedef ") || strings.HasPrefix(head, "using ") {
		return true
	}
	at := strings.LastIndexByte(head, ' ')
	return at > 0 && !strings.ContainsAny(head, "=(") && head[:at] != "return"
}

func columns(text string) int { return utf8.RuneCountInString(text) }

func spaces(n int) string { return strings.Repeat(" ", n) }

// choices cuts an expression with ? and : into its conditions and its values.
func choices(text string) (conditions, values []string) {
	if !strings.Contains(text, " ? ") {
		return nil, nil
	}
	from := 0
	walk(text, func(i, depth int) bool {
		switch {
		case depth == 0 && strings.HasPrefix(text[i:], " ? "):
			conditions = append(conditions, text[from:i])
			from = i + len(" ? ")
		case depth == 0 && strings.HasPrefix(text[i:], " : ") && len(values) < len(conditions):
			values = append(values, text[from:i])
			from = i + len(" : ")
		}
		return true
	})
	if conditions == nil {
		return nil, nil
	}
	return conditions, append(values, text[from:])
}
