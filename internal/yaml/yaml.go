// Package yaml parses one YAML document into nodes with positions. It rejects input that yaml.v3
// should reject or cannot process. It is the only package that imports yaml.v3, and does not depend
// on specs and configs.
package yaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	yamlv3 "gopkg.in/yaml.v3"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// MaxBytes is the maximum size of a file.
const MaxBytes = 4 << 20

// maxMarks limits the number of marks that separate nodes. yaml.v3 spends about 250 bytes on each
// node, so this keeps a hostile file below 100 MiB.
const maxMarks = 300_000

// Kind is the kind of a node.
type Kind int

// The kinds of node.
const (
	Scalar Kind = iota
	List
	Mapping
)

// String returns the name of the kind in findings.
func (k Kind) String() string { return [...]string{"a value", "a list", "a mapping"}[k] }

// Node is a value with its position in the file.
type Node struct {
	Kind    Kind
	Value   string // of a scalar: its text, without quotes
	Quoted  bool   // a scalar in quotes: a string whatever it looks like
	Items   []*Node
	Entries []Entry
	Line    int
	Col     int // in bytes, from 1
	doc     *document
	bare    int // the place among the findings of the one that quotes are missing, from 1; 0: none
}

// Entry is one key of a mapping and its value.
type Entry struct {
	Key   *Node
	Value *Node
}

// document is the data that all nodes of a file share.
type document struct {
	file  string
	lines []string
	diags *diag.List
	last  cursor // where byteCol stopped

	// elsewhere: the file defines a value at another position than its use, so findings about it
	// would have the wrong position.
	elsewhere bool
}

// Parse parses a document and adds its findings to diags. It returns nil if the document cannot be
// used. Otherwise, the node has the contents of the file, so that later stages can add findings in
// the same run.
func Parse(file string, src []byte, diags *diag.List) *Node {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	doc := &document{file: file, diags: diags}
	if len(src) > MaxBytes {
		doc.fail(1, 1, "yaml-size", "make the file smaller", "the file has %d bytes, more than the limit of %d",
			len(src), MaxBytes)
		return nil
	}
	doc.lines = strings.Split(strings.ReplaceAll(string(src), "\r\n", "\n"), "\n")
	if !doc.scan() {
		return nil
	}
	root := doc.decode(src)
	if root == nil {
		return nil
	}
	node := doc.convert(root)
	if doc.elsewhere {
		return nil
	}
	return node
}

// Untyped returns a document as other programs, such as an editor, read it: maps, slices, strings,
// numbers, booleans and nil.
func Untyped(src []byte) (value any, err error) {
	err = yamlv3.Unmarshal(src, &value)
	return value, err
}

// scan finds input that must not be passed to yaml.v3: characters for whose errors it reports no
// position, and a number of values for which it would use too much memory.
func (doc *document) scan() bool {
	fine, marks := true, 0
	for i, line := range doc.lines {
		fine = doc.scanLine(i+1, line) && fine
		if strings.ContainsRune(line, 0) {
			return false // no text: the next lines would all be reported
		}
		if marks += 1 + countMarks(line); marks > maxMarks {
			doc.fail(i+1, 1, "yaml-size", "split the file", "more than %d values up to here", maxMarks)
			return false
		}
	}
	return fine
}

// countMarks counts the marks on a line that may begin a value.
func countMarks(line string) int {
	marks := 0
	for _, mark := range []string{",", "[", "{", "- ", ": ", "? "} {
		marks += strings.Count(line, mark)
	}
	return marks
}

// scanLine reports the first invalid character of a line.
func (doc *document) scanLine(n int, line string) bool {
	for i, r := range line {
		switch {
		case r == 0:
			doc.fail(n, i+1, "yaml-nul", "remove it; is this a text file?", "a NUL byte")
		case r == '\t':
			doc.fail(n, i+1, "yaml-tab", "use spaces", "a tab")
		case r == utf8.RuneError && !strings.HasPrefix(line[i:], "\ufffd"):
			doc.fail(n, i+1, "yaml-utf8", "save the file as UTF-8", "the byte 0x%02x is not UTF-8", line[i])
		case r < ' ' || r == 0x7f:
			doc.fail(n, i+1, "yaml-control", "remove it", "the control character 0x%02x", r)
		case isBreak(r):
			doc.fail(n, i+1, "yaml-break", "end lines with LF or CRLF", "the line break U+%04X", r)
		default:
			continue
		}
		return false
	}
	return true
}

// isBreak reports whether a character is a Unicode line break. yaml.v3 counts these as line ends,
// but editors do not.
func isBreak(r rune) bool { return r == '\u0085' || r == '\u2028' || r == '\u2029' }

// decode runs yaml.v3, and converts its errors and panics to findings.
func (doc *document) decode(src []byte) (root *yamlv3.Node) {
	defer func() {
		if r := recover(); r != nil {
			doc.syntax(fmt.Errorf("%v", r))
			root = nil
		}
	}()
	dec := yamlv3.NewDecoder(bytes.NewReader(src))
	var first, second yamlv3.Node
	switch err := dec.Decode(&first); {
	case errors.Is(err, io.EOF) || (err == nil && len(first.Content) == 0):
		doc.fail(1, 1, "yaml-empty", "write keys with their values, as in key: value", "the file contains no value")
		return nil
	case err != nil:
		doc.syntax(err)
		return nil
	}
	switch err := dec.Decode(&second); {
	case errors.Is(err, io.EOF):
		return first.Content[0]
	case err != nil:
		doc.syntax(err)
	default:
		doc.fail(second.Line, 1, "yaml-documents", "keep one document in a file", "a second document")
	}
	return nil
}

var errorLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntax reports an error of yaml.v3, which has at most a line.
func (doc *document) syntax(err error) {
	text := err.Error()
	line := 1
	if m := errorLine.FindStringSubmatch(text); m != nil {
		line = max(1, atoi(m[1]))
		text = text[len(m[0]):]
	}
	if doc.longKey() || isFlow(text) && doc.unclosed() {
		return
	}
	if at, col, hint := doc.inFlow(err.Error()); hint != "" {
		doc.fail(at, col, "yaml-syntax", hint, "%s", text)
		return
	}
	line = min(line, len(doc.lines))
	source := doc.line(line)
	col := 1 + len(source) - len(strings.TrimLeft(source, " "))
	doc.fail(line, col, "yaml-syntax", syntaxHint(text), "%s", text)
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// fail reports an error at a position in the file.
func (doc *document) fail(line, col int, code, hint, format string, args ...any) {
	doc.diags.Add(doc.finding(line, col, code, hint, format, args...))
}

func (doc *document) finding(line, col int, code, hint, format string, args ...any) diag.Diagnostic {
	return diag.Diagnostic{
		Severity: diag.Error, Code: code, Text: fmt.Sprintf(format, args...), Hint: hint, Source: doc.line(line),
		Pos: diag.Pos{File: doc.file, Line: line, Col: col},
	}
}

// line returns the text of a line, or "" if there is no line of that number.
func (doc *document) line(n int) string {
	if n < 1 || n > len(doc.lines) {
		return ""
	}
	return doc.lines[n-1]
}

// convert copies a tree of yaml.v3 to nodes, and reports features that make a file misleading.
func (doc *document) convert(y *yamlv3.Node) *Node {
	n := &Node{Value: y.Value, Line: y.Line, Col: doc.byteCol(y.Line, y.Column), doc: doc}
	doc.reject(y, n)
	switch y.Kind {
	case yamlv3.SequenceNode:
		n.Kind = List
		for _, item := range y.Content {
			n.Items = append(n.Items, doc.convert(item))
		}
	case yamlv3.MappingNode:
		n.Kind = Mapping
		n.Entries = doc.entries(y)
	default:
		const quoted = yamlv3.SingleQuotedStyle | yamlv3.DoubleQuotedStyle | yamlv3.LiteralStyle | yamlv3.FoldedStyle
		n.Quoted = y.Style&quoted != 0
	}
	return n
}

func (doc *document) entries(y *yamlv3.Node) []Entry {
	var out []Entry
	seen := map[string]int{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := doc.convert(y.Content[i])
		switch first, again := seen[key.Value]; {
		case key.Kind != Scalar:
			key.Errorf("yaml-key", "write a plain key", "%s as a key", key.Kind)
		case again:
			key.Errorf("duplicate-key", "keep one of them", "the key %q is repeated; it is already in line %d",
				key.Value, first)
		case key.Value == "<<" && !key.Quoted:
			doc.elsewhere = true
			key.Errorf("yaml-merge", "write the keys out", "a merge key")
		default:
			seen[key.Value] = key.Line
		}
		out = append(out, Entry{Key: key, Value: doc.convert(y.Content[i+1])})
	}
	return out
}

// reject reports anchors, aliases and tags, because a value must be at the position of its use.
func (doc *document) reject(y *yamlv3.Node, n *Node) {
	switch {
	case y.Kind == yamlv3.AliasNode:
		doc.elsewhere = true
		n.Errorf("yaml-alias", "write the value out", "an alias")
	case y.Anchor != "":
		n.Errorf("yaml-anchor", "remove it", "the anchor &%s", y.Anchor)
	case y.Style&yamlv3.TaggedStyle != 0:
		n.Errorf("yaml-tag", "remove it", "the tag %s", y.Tag)
	}
}

// cursor is a position in a line, in characters and in bytes, both from 0.
type cursor struct{ line, chars, bytes int }

// byteCol converts a column in characters, as in yaml.v3, to one in bytes. Nodes are visited in the
// order of the file, so it continues from the last one, and a line with many nodes is scanned once.
func (doc *document) byteCol(line, col int) int {
	if line < 1 || line > len(doc.lines) {
		return max(col, 1)
	}
	if doc.last.line != line || doc.last.chars > col-1 {
		doc.last = cursor{line: line}
	}
	text := doc.line(line)
	for doc.last.chars < col-1 && doc.last.bytes < len(text) {
		_, size := utf8.DecodeRuneInString(text[doc.last.bytes:])
		doc.last.chars++
		doc.last.bytes += size
	}
	return doc.last.bytes + 1
}
