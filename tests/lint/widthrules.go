package lint

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The limits on the width of a line, in columns; a tab takes four.
const (
	maxCode  = 120
	maxProse = 100 // comments and Markdown
)

var (
	slashComment = regexp.MustCompile(`^\s*(//|/\*|\*( |/|$))`)
	codeBehind   = regexp.MustCompile(`^\s*/\*.*\*/.*\S`) // a comment, and code after it
	hashComment  = regexp.MustCompile(`^\s*#`)
	directive    = regexp.MustCompile(`^\s*(//go:|//export |#cgo |#!|// want )`)
	literal      = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|`[^`]*`")
	hashed       = []string{".py", ".sh", ""} // Makefile has no extension
)

// wideLines finds lines that are wider than the limit. A table's row, a line with an address, a
// directive, output in a block of text, and a line that only its longest string makes wide cannot be
// wrapped.
func wideLines(tree []File) []string {
	var found []string
	for _, f := range tree {
		if !f.isProse() && !slices.Contains(handWritten, path.Ext(f.Path)) && path.Base(f.Path) != "Makefile" ||
			f.isGenerated() || f.isMeasured() {
			continue
		}
		raw, n := false, 0
		for line := range bytes.Lines(f.Data) {
			n++
			text := strings.ReplaceAll(strings.TrimRight(string(line), "\n"), "\t", "    ")
			inside := raw
			if f.isProse() && (raw && text == "```" || strings.HasPrefix(text, "```text")) {
				raw = !raw
			}
			if f.isGoText() && strings.Count(text, "`")%2 == 1 {
				raw = !raw
			}
			if width, limit := utf8.RuneCountInString(text), f.limit(text); !inside && width > limit {
				found = append(found, fmt.Sprintf("%s:%d: %d columns, the limit is %d", f.Path, n, width, limit))
			}
		}
	}
	return found
}

// limit gives the columns that a line of the file may take.
func (f File) limit(line string) int {
	const any = 1 << 20
	address := strings.Contains(line, "http://") || strings.Contains(line, "https://")
	switch {
	case f.isProse():
		if address || strings.HasPrefix(strings.TrimLeft(line, " "), "|") {
			return any
		}
		return maxProse
	case directive.MatchString(line):
		return any
	case f.isComment(line):
		if address {
			return any
		}
		return maxProse
	}
	longest := 0
	for _, s := range literal.FindAllString(strings.ReplaceAll(line, `"""`, ""), -1) {
		longest = max(longest, utf8.RuneCountInString(s))
	}
	return max(maxCode, maxCode+longest-len(`""`))
}

func (f File) isComment(line string) bool {
	if slices.Contains(hashed, path.Ext(strings.TrimSuffix(f.Path, ".tmpl"))) {
		return hashComment.MatchString(line)
	}
	return slashComment.MatchString(line) && !codeBehind.MatchString(line)
}

// isProse holds for Markdown.
func (f File) isProse() bool { return path.Ext(f.Path) == ".md" }

// isGoText also holds for Go that is only text, as under testdata.
func (f File) isGoText() bool { return path.Ext(f.Path) == ".go" }

// isMeasured holds for facts that a compiler or a foreign header gave.
func (f File) isMeasured() bool {
	return strings.Contains(f.Path, "/testdata/facts/") || strings.Contains(f.Path, "/testdata/darwin")
}
