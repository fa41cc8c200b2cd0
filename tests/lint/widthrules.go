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
	indent   = 4   // of the next line, if a string is on its own
	closing  = 12  // what follows a string, such as "}),"
)

var (
	slashComment = regexp.MustCompile(`^\s*(//|/\*|\*( |/|$))`)
	codeBehind   = regexp.MustCompile(`^\s*/\*.*\*/.*\S`) // a comment, and code after it
	hashComment  = regexp.MustCompile(`^\s*#`)
	directive    = regexp.MustCompile(`^\s*(//go:|//export |#cgo |#!|// want )`)
	literal      = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|`[^`]*`")
	yamlLiteral  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'`)
	rustLiteral  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`) // an apostrophe begins a lifetime too
	codeRow      = regexp.MustCompile("^ *(?:(?:\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`): *)?")
	dataRow      = regexp.MustCompile(`^[ {-]*(?:(?:` + yamlLiteral.String() + `|[\w./-][\w ./-]*): *\{? *)*`)
)

// slashed are the kinds of source whose comments begin with a slash. Those of all others begin with
// a hash.
var slashed = []string{".go", ".h", ".hpp", ".c", ".cc", ".cpp", ".cu", ".rs", ".zig", ".zon", ".js", ".ts", ".css",
	".mod", ".json", ".tmpl"}

// unwrapped are the kinds of file whose lines cannot be wrapped: pictures, what tools write, and
// tables and scripts that have one entry in each line.
var unwrapped = []string{".svg", ".lock", ".sum", ".txt", ".txtar"}

// wideLines finds lines that are wider than the limit, in every file that is written by hand. A
// table's row, a line with an address, a directive, output in a block of text, and a line whose
// longest string is too wide even on a separate line cannot be wrapped. In data, and in a table of
// code, the separate line begins with the key of the row.
func wideLines(tree []File) []string {
	var found []string
	for _, f := range tree {
		if f.isGenerated() || f.isMeasured() || f.isUnwrapped() {
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
			width := widthOf(text)
			if inside || width <= maxProse { // no line has a smaller limit, and the limit of one takes time
				continue
			}
			if limit := f.limit(text); width > limit {
				found = append(found, fmt.Sprintf("%s:%d: %d columns, the limit is %d", f.Path, n, width, limit))
			}
		}
	}
	return found
}

// limit returns the maximum width of a line in the file, in columns.
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
	if f.wrapsAtCommas() && strings.Contains(f.literal().ReplaceAllString(strings.TrimSpace(line), ""), ", ") {
		return maxCode
	}
	longest := 0
	for _, s := range f.literal().FindAllString(strings.ReplaceAll(line, `"""`, ""), -1) {
		longest = max(longest, widthOf(s))
	}
	key := codeRow
	if f.wrapsAtCommas() {
		key = dataRow
	}
	return max(maxCode, widthOf(key.FindString(line))+indent+longest+closing)
}

// widthOf counts the columns of a text without tabs.
func widthOf(text string) int { return utf8.RuneCountInString(text) }

func (f File) isComment(line string) bool {
	if slices.Contains(slashed, f.kind()) {
		return slashComment.MatchString(line) && !codeBehind.MatchString(line)
	}
	return hashComment.MatchString(line)
}

// literal matches a string of the file's language.
func (f File) literal() *regexp.Regexp {
	switch {
	case f.isYAML():
		return yamlLiteral
	case f.kind() == ".rs":
		return rustLiteral
	}
	return literal
}

// kind returns the extension of the file, or of a template's output.
func (f File) kind() string {
	for _, template := range []string{".tmpl", ".in"} {
		if made := strings.TrimSuffix(f.Path, template); made != f.Path && path.Ext(made) != "" {
			return path.Ext(made)
		}
	}
	return path.Ext(f.Path)
}

func (f File) isYAML() bool { return f.kind() == ".yaml" || f.kind() == ".yml" }

// wrapsAtCommas matches data: strings in a list or a mapping can be on separate lines.
func (f File) wrapsAtCommas() bool { return f.isYAML() || f.kind() == ".json" }

// isProse matches Markdown.
func (f File) isProse() bool { return path.Ext(f.Path) == ".md" }

// isGoText also matches Go that is only text, as under testdata.
func (f File) isGoText() bool { return path.Ext(f.Path) == ".go" }

// isMeasured matches facts from a compiler or a foreign header.
func (f File) isMeasured() bool {
	return strings.Contains(f.Path, "/testdata/facts/") || strings.Contains(f.Path, "/testdata/darwin")
}

// isUnwrapped also matches licences, inputs that a fuzzer found, and the schema that the command
// prints.
func (f File) isUnwrapped() bool {
	return slices.Contains(unwrapped, path.Ext(f.Path)) && path.Base(f.Path) != "CMakeLists.txt" ||
		strings.HasPrefix(f.Path, "LICENSE") || strings.Contains(f.Path, "/testdata/fuzz/") ||
		f.Path == "docs/schema/config.json"
}
