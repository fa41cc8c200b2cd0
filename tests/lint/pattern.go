package lint

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// pattern is an expression for lines. It searches a file or a line only if that has one of the
// texts that each match contains, because a text is found faster than a match.
type pattern struct {
	*regexp.Regexp
	texts []string // in lower case; one of them is in each match; nil if unknown
}

func compile(expression string) pattern {
	p := pattern{Regexp: regexp.MustCompile(expression)}
	if parsed, err := syntax.Parse(expression, syntax.Perl); err == nil {
		p.texts = requiredTexts(parsed)
	}
	return p
}

// mayMatch reports false for data that cannot have a match.
func (p pattern) mayMatch(data []byte) bool {
	lower := bytes.ToLower(data)
	return p.texts == nil || slices.ContainsFunc(p.texts, func(text string) bool {
		return bytes.Contains(lower, []byte(text))
	})
}

// Match is regexp.Regexp.Match.
func (p pattern) Match(line []byte) bool { return p.mayMatch(line) && p.Regexp.Match(line) }

// Find is regexp.Regexp.Find.
func (p pattern) Find(line []byte) []byte {
	if !p.mayMatch(line) {
		return nil
	}
	return p.Regexp.Find(line)
}

// requiredTexts returns texts of which each match contains one, in lower case. It returns nil if
// there are no such texts.
func requiredTexts(e *syntax.Regexp) []string {
	switch e.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(e.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return requiredTexts(e.Sub[0])
	case syntax.OpConcat:
		var longest []string
		for _, part := range e.Sub {
			if texts := requiredTexts(part); shortest(texts) > shortest(longest) {
				longest = texts
			}
		}
		return longest
	case syntax.OpAlternate:
		var all []string
		for _, alternative := range e.Sub {
			texts := requiredTexts(alternative)
			if texts == nil {
				return nil
			}
			all = append(all, texts...)
		}
		return all
	}
	return nil
}

// shortest returns the length of the shortest text; 0 for none.
func shortest(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	return len(slices.MinFunc(texts, func(a, b string) int { return len(a) - len(b) }))
}
