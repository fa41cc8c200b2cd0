package yaml

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// Pos returns the position of the node.
func (n *Node) Pos() diag.Pos { return diag.Pos{File: n.doc.file, Line: n.Line, Col: n.Col} }

// Errorf reports an error at the node, with a hint that may be empty. If the node already has an
// error about missing quotes, this error replaces it, because the text would be wrong in quotes
// too. An empty value keeps only the earlier error.
func (n *Node) Errorf(code, hint, format string, args ...any) {
	switch {
	case n.bare == 0:
		n.doc.fail(n.Line, n.Col, code, hint, format, args...)
	case n.Value != "":
		n.doc.diags.Replace(n.bare-1, n.doc.finding(n.Line, n.Col, code, hint, format, args...))
	}
}

// Finding returns an error at the node, for the caller to report.
func (n *Node) Finding(code, hint, format string, args ...any) diag.Diagnostic {
	return n.doc.finding(n.Line, n.Col, code, hint, format, args...)
}

// ErrorfAt reports an error at an offset in a value's text, if the file contains the text
// unchanged, and otherwise at the node.
func (n *Node) ErrorfAt(offset int, code, hint, format string, args ...any) {
	line, col := n.doc.line(n.Line), n.Col
	if n.Quoted {
		col++
	}
	if n.Kind != Scalar || col > len(line) || !strings.HasPrefix(line[col-1:], n.Value) {
		n.Errorf(code, hint, format, args...)
		return
	}
	n.doc.fail(n.Line, col+offset, code, hint, format, args...)
}

// Warnf reports a warning at the node.
func (n *Node) Warnf(code, hint, format string, args ...any) {
	n.report(diag.Warning, code, hint, format, args...)
}

// Notef reports a note at the node.
func (n *Node) Notef(code, hint, format string, args ...any) {
	n.report(diag.Note, code, hint, format, args...)
}

func (n *Node) report(severity diag.Severity, code, hint, format string, args ...any) {
	n.doc.diags.Add(diag.Diagnostic{
		Severity: severity, Code: code, Text: fmt.Sprintf(format, args...), Hint: hint,
		Source: n.doc.line(n.Line), Pos: n.Pos(),
	})
}

// forms describe how each kind is written, for hints.
var forms = map[Kind]string{
	Scalar:  "write one value, without brackets or braces",
	List:    "write a list, such as [a, b]",
	Mapping: "write keys with their values, such as {key: value}",
}

// Is reports whether a node has the given kind, and adds a finding if not.
func (n *Node) Is(kind Kind, what string) bool {
	if n.Kind != kind {
		n.Errorf("type-mismatch", forms[kind], "%s must be %s, not %s", what, kind, n.Kind)
	}
	return n.Kind == kind
}

// Bool reads true or false.
func (n *Node) Bool(what string) bool {
	if n.Kind != Scalar || n.Quoted || (n.Value != "true" && n.Value != "false") {
		n.Errorf("type-mismatch", n.boolHint(), "%s must be true or false, not %s", what, n.show())
	}
	return n.Value == "true"
}

// boolHint returns a hint with the probable boolean.
func (n *Node) boolHint() string {
	switch value := strings.ToLower(n.Value); {
	case n.Kind != Scalar:
	case n.Quoted && (value == "true" || value == "false"):
		return "write " + value + ", without quotes"
	case slices.Contains([]string{"true", "yes", "on", "y", "1"}, value):
		return "write true"
	case slices.Contains([]string{"false", "no", "off", "n", "0"}, value):
		return "write false"
	}
	return "write true or false"
}

// Int reads a decimal integer in a range.
func (n *Node) Int(what string, low, high int64) int64 {
	v, err := strconv.ParseInt(n.Value, 10, 64)
	// YAML reads 010 as octal. Only the form that Go prints is accepted.
	if n.Kind != Scalar || n.Quoted || err != nil || strconv.FormatInt(v, 10) != n.Value {
		n.Errorf("type-mismatch", "write decimal digits, without quotes", "%s must be a decimal integer, not %s", what,
			n.show())
		return low
	}
	if v < low || v > high {
		n.Errorf("out-of-range", bound(v, low, high), "%s must be from %d to %d, not %d", what, low, high, v)
		return low
	}
	return v
}

// bound returns the hint for a number outside of a range.
func bound(v, low, high int64) string {
	if v < low {
		return fmt.Sprintf("write %d or more", low)
	}
	return fmt.Sprintf("write %d or less", high)
}

// Text reads a string. A string that YAML parsers may read as a number, a boolean or null must be
// in quotes.
func (n *Node) Text(what string) string {
	if n.Kind == Scalar && !n.Quoted && plainForm.MatchString(n.Value) {
		hint := fmt.Sprintf("write %q", n.Value)
		if n.Value == "" {
			hint = "write a value, or remove the key"
		}
		if n.bare == 0 {
			n.doc.fail(n.Line, n.Col, "unquoted", hint, "%s must be a string, and %q without quotes is not", what,
				n.Value)
			n.bare = n.doc.diags.Len()
		}
	}
	return n.Source(what)
}

// plainForm matches texts that YAML's core schema, or YAML 1.1 in PyYAML, does not read as strings:
// null, booleans, numbers (also of base 60), dates, and the keys << and =.
var plainForm = regexp.MustCompile(`^(|~|null|Null|NULL|<<|=|` +
	`true|True|TRUE|false|False|FALSE|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|` +
	`[-+]?[0-9][0-9_]*(:[0-5]?[0-9])*(\.[0-9_]*)?([eE][-+]?[0-9]+)?|[-+]?\.[0-9][0-9_]*([eE][-+]?[0-9]+)?|` +
	`[-+]?0[box][0-9A-Fa-f_]+|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)|` +
	`[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?)$`)

// Source reads the text of a value, independently of its YAML type.
func (n *Node) Source(what string) string {
	if n.Kind != Scalar {
		n.Is(Scalar, what)
		return ""
	}
	return n.Value
}

// OneOf reads one of a set of strings.
func (n *Node) OneOf(what string, set []string) string { return n.OneOfRenamed(what, set, nil) }

// OneOfRenamed is OneOf with a mapping from values of earlier versions to their replacements. An
// old value is an error whose hint names the new one.
func (n *Node) OneOfRenamed(what string, set []string, renamed map[string]string) string {
	if slices.Contains(set, n.Value) {
		return n.Text(what)
	}
	v := n.Source(what)
	if n.Kind == Scalar {
		hint := "write " + set[0]
		if len(set) > 1 {
			hint = cmp.Or(diag.DidYouMean(v, set), "write one of them, such as "+set[0])
		}
		if now := renamed[v]; now != "" {
			hint = renamedTo(now)
		}
		n.Errorf("unknown-value", hint, "%s must be %s, not %q", what, diag.OneOf(set), v)
	}
	return v
}

func renamedTo(now string) string { return fmt.Sprintf("it was renamed to %q", now) }

// List reads the items of a list.
func (n *Node) List(what string) []*Node {
	if !n.Is(List, what) {
		return nil
	}
	return n.Items
}

func (n *Node) show() string {
	if n.Kind != Scalar {
		return n.Kind.String()
	}
	return strconv.Quote(n.Value)
}

// Map reads a mapping key by key. Keys that were not read are unknown. Close reports them, with the
// nearest known key.
type Map struct {
	node    *Node
	what    string
	known   []string
	former  []string // known, and in no hint
	renamed map[string]string
	missed  map[string]int // missing keys, and the places of their findings
}

// Map starts reading a mapping. what is its name in findings. A node of another kind is reported
// and treated as an empty mapping without missing keys.
func (n *Node) Map(what string) *Map {
	n.Is(Mapping, what)
	return &Map{node: n, what: what}
}

// Renamed declares keys of earlier versions with their replacements. An old key is an error whose
// hint names the new one, which is then not reported as missing.
func (m *Map) Renamed(keys map[string]string) { m.renamed = keys }

// Node returns the mapping itself.
func (m *Map) Node() *Node { return m.node }

// Get returns the value of a key, or nil.
func (m *Map) Get(key string) *Node {
	m.known = append(m.known, key)
	return m.find(key)
}

// Former returns the value of a key that hints must not suggest, or nil. The caller reports the
// key.
func (m *Map) Former(key string) *Node {
	m.former = append(m.former, key)
	return m.find(key)
}

func (m *Map) find(key string) *Node {
	for _, e := range m.node.Entries {
		if e.Key.Value == key {
			return e.Value
		}
	}
	return nil
}

// Require returns the value of a key, and reports a missing key.
func (m *Map) Require(key string) *Node {
	return m.RequireAs(key, "add the key "+key+" with its value")
}

// RequireAs is Require with a given hint.
func (m *Map) RequireAs(key, hint string) *Node {
	v := m.Get(key)
	if v == nil && m.node.Kind == Mapping && !m.hasFormer(key) {
		m.Missed(key)
		m.node.Errorf("missing-key", hint, "%s has no %q", m.what, key)
	}
	return v
}

// Missed announces that the next finding is about a missing key. Close replaces it if the key is
// misspelled, which is one mistake.
func (m *Map) Missed(key string) {
	if m.missed == nil {
		m.missed = map[string]int{}
	}
	m.missed[key] = m.node.doc.diags.Len()
}

// Misspells reports whether the mapping lacks a key, and has its old name or another key that seems
// to be meant and is none of the valid keys.
func (m *Map) Misspells(key string, valid []string) bool {
	return m.find(key) == nil && (m.hasFormer(key) || slices.ContainsFunc(m.node.Entries, func(e Entry) bool {
		return !slices.Contains(valid, e.Key.Value) && diag.Nearest(e.Key.Value, valid) == key
	}))
}

// hasFormer reports whether the mapping has an old name of the key.
func (m *Map) hasFormer(key string) bool {
	return slices.ContainsFunc(m.node.Entries, func(e Entry) bool { return m.renamed[e.Key.Value] == key })
}

// Text reads an optional string.
func (m *Map) Text(key string) string {
	if v := m.Get(key); v != nil {
		return v.Text(key)
	}
	return ""
}

// RequireText reads a required string.
func (m *Map) RequireText(key string) string {
	if v := m.Require(key); v != nil {
		return v.Text(key)
	}
	return ""
}

// Bool reads an optional true or false.
func (m *Map) Bool(key string) bool {
	if v := m.Get(key); v != nil {
		return v.Bool(key)
	}
	return false
}

// List reads an optional list.
func (m *Map) List(key string) []*Node {
	if v := m.Get(key); v != nil {
		return v.List(key)
	}
	return nil
}

// keys returns a hint that lists the known keys.
func (m *Map) keys() string {
	known := slices.Clone(m.known)
	slices.Sort(known)
	if known = slices.Compact(known); len(known) == 0 {
		return "remove it"
	}
	return "write one of these keys: " + strings.Join(known, ", ")
}

// Close reports the keys that were not read, and returns whether there are none.
func (m *Map) Close() bool {
	closed := true
	for _, e := range m.node.Entries {
		if !slices.Contains(m.known, e.Key.Value) && !slices.Contains(m.former, e.Key.Value) {
			m.unknown(e.Key)
			closed = false
		}
	}
	return closed
}

// unknown reports a key. If it misspells a missing one, the finding replaces the one about that.
func (m *Map) unknown(key *Node) {
	hint := cmp.Or(diag.DidYouMean(key.Value, m.known), m.keys())
	if now := m.renamed[key.Value]; now != "" {
		hint = renamedTo(now)
	}
	near := diag.Nearest(key.Value, m.known)
	at, missed := m.missed[near]
	if !missed || key.bare != 0 {
		key.Errorf("unknown-key", hint, "%s has no key %q", m.what, key.Value)
		return
	}
	delete(m.missed, near)
	key.doc.diags.Replace(at, key.doc.finding(
		key.Line, key.Col, "unknown-key", hint, "%s has no key %q", m.what, key.Value))
}
