package yaml

import (
	"regexp"
	"strings"
)

// Comment returns the comment after an unquoted value on one line, with its "#", or "". In an
// unquoted value such as "= #red", the end is a comment.
func (n *Node) Comment() string {
	line := n.doc.line(n.Line)
	if n.Kind != Scalar || n.Quoted || n.Col > len(line) || !strings.HasPrefix(line[n.Col-1:], n.Value) {
		return ""
	}
	rest := strings.TrimLeft(line[n.Col-1+len(n.Value):], " ")
	if !strings.HasPrefix(rest, "#") {
		return ""
	}
	return rest
}

// bracket matches characters that an unquoted value must not contain inside { } and [ ].
var bracket = regexp.MustCompile(`\w[\[{]`)

// quotes matches quoted text.
var quotes = regexp.MustCompile(`"[^"]*"|'[^']*'`)

// inFlow finds the value inside { } or [ ] at which yaml.v3 stopped. For these errors, yaml.v3
// counts lines from 0, and names the line of the outer opening bracket, except at the end of the
// file.
func (doc *document) inFlow(text string) (at, col int, hint string) {
	m := errorLine.FindStringSubmatch(text)
	if m == nil || !strings.Contains(text, "did not find expected ',' or") {
		return 0, 0, ""
	}
	for _, first := range []int{atoi(m[1]) + 1, atoi(m[1])} {
		for at = max(1, first); at <= len(doc.lines); at++ {
			if col, hint = flowTrap(doc.line(at)); hint != "" {
				return at, col, hint
			}
		}
	}
	return 0, 0, ""
}

// isFlow reports whether an error of yaml.v3 is about { } or [ ].
func isFlow(text string) bool {
	return strings.Contains(text, "did not find expected ',' or") || strings.Contains(text, "expected node content")
}

// syntaxHint returns a hint for an error of yaml.v3 without a column.
func syntaxHint(text string) string {
	switch {
	case strings.Contains(text, "did not find expected ',' or"):
		return "close each { and [ that the value opens, and write a comma between two entries"
	case strings.Contains(text, "mapping values are not allowed"):
		return "write a value that contains a colon and a space in quotes; or the line above lacks its colon, or has " +
			"another indentation"
	case strings.Contains(text, "did not find expected key"):
		return "a line in the block that begins here has the wrong indentation, or a quote that is not closed"
	}
	return "check the indentation, the quotes and the brackets up to this line"
}

// maxKey is YAML's limit for the bytes from the beginning of a key to its colon.
const maxKey = 1024

// plainKey matches a key that may be longer than that. Package regexp repeats at most 1000 times.
var plainKey = regexp.MustCompile(`([^\s:,{}\[\]]{1000}[^\s:,{}\[\]]{24,}):(?: |$)`)

// longKey reports the first key longer than maxKey, at which yaml.v3 fails with a misleading error.
func (doc *document) longKey() bool {
	for i, line := range doc.lines {
		if at := plainKey.FindStringSubmatchIndex(line); at != nil && at[3]-at[2] > maxKey {
			doc.fail(i+1, at[2]+1, "yaml-syntax", "shorten the key",
				"the key has %d bytes, more than the %d that YAML allows",
				at[3]-at[2], maxKey)
			return true
		}
	}
	return false
}

// flowTrap finds the character that ends a value early.
func flowTrap(line string) (col int, hint string) {
	line = quotes.ReplaceAllStringFunc(line, func(q string) string { return strings.Repeat(" ", len(q)) })
	if found := bracket.FindStringIndex(line); found != nil {
		return found[1], "inside { } and [ ], write a value that contains one of [ ] { } , in quotes"
	}
	if at := strings.Index(line, " #"); at >= 0 && !strings.HasSuffix(strings.TrimRight(line[:at], " "), ",") {
		return at + 2, "in YAML, a # after a space begins a comment: write the value in quotes"
	}
	return 0, ""
}
