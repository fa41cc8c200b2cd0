package contract_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/codes"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// Every line of testdata/mistakes.txt is a wrong description. Each finding about it has a position
// and a hint; the golden file contains their texts.
func TestMistakesAreReported(t *testing.T) {
	var out strings.Builder
	seen := map[string]int{}
	for _, text := range mistakes(t) {
		_, found := readings(text)
		assert.NotEmpty(t, found, text)
		got := map[string]bool{}
		for _, d := range found {
			got[d.Code] = true
			assert.Equal(t, diag.Error, d.Severity, text)
			assert.Positive(t, d.Pos.Line*d.Pos.Col, "%s has no position: %s", d.Text, text)
			assert.NotEmpty(t, d.Hint, "%s has no hint: %s", d.Text, text)
		}
		for code := range got {
			seen[code]++
		}
		out.WriteString("== " + strings.ReplaceAll(text, "\n", "\n   ") + "\n" + diag.Text(found, false))
	}
	golden.Assert(t, "kernel/mistakes.txt", []byte(out.String()))
	assert.Empty(t, missing(t, seen), "each code has a mistake")
	for code, count := range seen {
		assert.GreaterOrEqual(t, count, 5, "rows with a finding of the code %s", code)
	}
}

// Each key of a kernel, each word of a line, and each production of the grammar has mistakes. They
// are counted in the parsed tree at the position of a finding: a name in another text, or twice in
// one row, does not count.
func TestEveryKeyAndWordHasMistakes(t *testing.T) {
	rows, counts := map[string]bool{}, map[string]int{}
	for _, text := range mistakes(t) {
		assert.False(t, rows[text], "the row is repeated: %s", text)
		rows[text] = true
		_, found := readings(text)
		for about := range subjects(text, found) {
			counts[about]++
		}
	}
	for _, one := range slices.Concat(productions, keys(t), notation.Modifiers) {
		assert.GreaterOrEqual(t, counts[one], 5, "mistakes about %s", one)
	}
}

// productions are the parts of lines and conditions, with the names of subjects.
var productions = []string{
	"any", "alternatives", "list", "list count", "str", "?", "...", "...name", "_",
	"=", "= None", "= bool", "= int", "= large int", "= float", "= text", "= bare",
	"literal", "symbol", "size", "shape", "item", "negate", "min", "max", "+", "-", "*", "//", "%",
	"==", "!=", "<", "<=", ">", ">=", "in", "and", "or",
}

// A mistake counts only for the subject of its finding, not for the other parts of the row.
func TestMistakesCountForTheirSubject(t *testing.T) {
	for text, want := range map[string]string{
		`f: {args: {x: "int8[n]"}, where: ["n > w"], doc: "and in or where: x"}`:           "where: > symbol",
		`f: {args: {x: "int8[n] strided", y: int strided}}`:                                "args: strided",
		`f: {args: {x: "int8[n] strided inner", y: "int8[n] inner"}}`:                      "args: inner strided",
		`f: {args: {x: "int8[n] strided copied inout"}, gil: held}`:                        "args: copied strided",
		`f: {args: {x: "int9[...] strided"}, returns: {y: "int8[max(2, 3)]"}}`:             "args:",
		`f: {args: {x: "int8[..., ...]"}}`:                                                 "args: ...",
		`f: {args: {x: "int8[...a, ...b] strided"}}`:                                       "args: ... ...name",
		`f: {args: {x: "int8[_, n]"}, where: ["n // 0 in 1|2 or n % 2 == 0", "n > 0"]}`:    "where: // in or literal",
		`f: {args: {x: "int8[n]"}, where: ["n > 0 and n < n"]}`:                            "where: and <",
		`f: {args: {x: "int8[n]"}, where: ["n > 0 or n < m and n == 1"]}`:                  "where: or and < symbol",
		`f: {args: {x: "int8[n]"}, where: ["n + 1 != 2 * m"]}`:                             "where: != * symbol",
		`f: {args: {x: "int8[n]"}, serial: maybe, errors: {0: {raise: TypeError}}}`:        "errors: serial:",
		`f: {args: {x: "int8[n]"}, errors: {1: {raise: TypeError, arg: y}}}`:               "errors: errors.arg:",
		`f: {args: {x: "int8[n]", s: str = 3, l: "list[int]? = 3"}, doc: "args: {a: b}"}`:  "= =int args:",
		`f: {args: {x: "int8[n]?", y: "any[...a]", z: "list[int, 0]", w: "int8|int9[n]"}}`: "args: alternatives list listcount",
		`f: {args: {l: "list[int, 2]", b: bool = 1.5, x: "int8[l[2] + 1, l[0]]"}}`:         "= =float args: + item literal",
		`f: {args: {x: "int8[n]"}, devices: {kDLCPU: {symbol: a-b, graphs: true}}}`:        "devices: devices.symbol:",
	} {
		_, found := readings(text)
		var got []string
		for one := range subjects(text, found) {
			got = append(got, strings.ReplaceAll(one, " ", ""))
		}
		assert.ElementsMatch(t, strings.Fields(want), got, text)
	}
}

// mistakes returns the rows of testdata/mistakes.txt.
func mistakes(t *testing.T) (rows []string) {
	t.Helper()
	src, err := os.ReadFile("testdata/mistakes.txt")
	require.NoError(t, err)
	for text := range strings.Lines(string(src)) {
		rows = append(rows, strings.ReplaceAll(strings.TrimSuffix(text, "\n"), `\n`, "\n"))
	}
	return rows
}

// keys are the keys of a kernel in the schema of configs, and the keys below them.
func keys(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile("../../config/schema.json")
	require.NoError(t, err)
	var schema struct {
		Defs struct{ Kernel property } `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(text, &schema))
	require.Contains(t, schema.Defs.Kernel.Properties, "args")
	for key, p := range schema.Defs.Kernel.Properties {
		all = append(all, key+":")
		for below := range p.below() {
			all = append(all, key+"."+below+":")
		}
	}
	return all
}

// property is a schema's entry for a value.
type property struct {
	Properties           map[string]property
	PatternProperties    map[string]property
	AdditionalProperties json.RawMessage // a property, or false
}

// below returns the keys of a mapping, or of the mappings in it.
func (p property) below() map[string]property {
	var each property
	_ = json.Unmarshal(p.AdditionalProperties, &each)
	for _, e := range p.PatternProperties {
		each = e
	}
	if len(each.Properties) > 0 {
		return each.Properties
	}
	return p.Properties
}

// subjects lists the subjects of findings about a description: keys, with a colon, and parts of
// lines and conditions.
func subjects(text string, found []diag.Diagnostic) map[string]bool {
	about := marks{}
	root := yaml.Parse("k.yaml", []byte(text), &diag.List{})
	if root == nil {
		return about
	}
	for _, d := range found {
		if described := at(root, d); described != nil {
			about.section(at(described.Value, d), d)
		}
	}
	return about
}

// marks are the subjects of findings.
type marks map[string]bool

// add marks a subject if the condition is true.
func (m marks) add(subject string, is bool) {
	if is {
		m[subject] = true
	}
}

// section marks a key of a kernel, and the entries below it.
func (m marks) section(section *yaml.Entry, d diag.Diagnostic) {
	if section == nil {
		return
	}
	key := section.Key.Value
	m[key+":"] = true
	entry := at(section.Value, d)
	switch {
	case key == "where":
		for _, item := range section.Value.Items {
			if offset := within(item, d); offset >= 0 {
				m.condition(item.Value, offset)
			}
		}
	case entry == nil:
	case key == "args" || key == "returns":
		if offset := within(entry.Value, d); offset >= 0 {
			m.line(entry.Value.Value, offset, d)
		}
	case key == "errors" || key == "devices":
		if below := at(entry.Value, d); below != nil {
			m[key+"."+below.Key.Value+":"] = true
		}
	default:
		m[key+"."+entry.Key.Value+":"] = true
	}
}

// at returns the entry of a mapping that contains a finding, or nil.
func at(n *yaml.Node, d diag.Diagnostic) (in *yaml.Entry) {
	for i := range n.Entries {
		if e := &n.Entries[i]; before(e.Key.Pos(), d.Pos) {
			in = e
		}
	}
	return in
}

func before(a, b diag.Pos) bool { return a.Line < b.Line || a.Line == b.Line && a.Col <= b.Col }

// within returns the offset of a finding in a one-line value, or -1.
func within(n *yaml.Node, d diag.Diagnostic) int {
	offset := d.Pos.Col - n.Col
	if n.Quoted {
		offset = max(offset-1, 0)
	}
	if n.Line != d.Pos.Line || d.Pos.Col < n.Col || offset > len(n.Value) {
		return -1
	}
	return offset
}

// line marks the part of an argument or a result at a finding, and the words that the finding
// names.
func (m marks) line(text string, offset int, d diag.Diagnostic) {
	l, _ := notation.ParseLine(text)
	named := strings.FieldsFunc(d.Text, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' })
	for _, w := range l.Modifiers {
		end := w.At + len(w.Text)
		if rest := text[end:]; w.Text == "aligned" || w.Text == "aliases" {
			end += len(rest) - len(strings.TrimLeft(rest, " ")) + 1
		}
		m.add(w.Text, w.At <= offset && offset <= end || slices.Contains(named, w.Text))
	}
	switch end := typeEnd(text, l); {
	case l.Default != nil && offset >= l.Default.At:
		m["="], m[kinds[l.Default.Kind]] = true, true
	case l.Optional && offset == l.OptionalAt || offset < len(text) && text[offset] == '?':
		m["?"] = true
	case offset <= end:
		m.typ(text, l.Type, offset)
	}
}

var kinds = map[notation.ValueKind]string{
	notation.None: "= None", notation.Bool: "= bool", notation.Int: "= int", notation.Natural: "= large int",
	notation.Float: "= float", notation.Text: "= text", notation.Bare: "= bare",
}

// typeEnd returns the offset after a type.
func typeEnd(text string, l notation.Line) int {
	depth := 0
	for i, c := range text {
		switch {
		case c == '[':
			depth++
		case c == ']':
			if depth--; depth == 0 {
				return i
			}
		case depth == 0 && strings.ContainsRune("? =", c) && l.Typed:
			return i - 1
		}
	}
	return len(text)
}

// typ marks the part of a type.
func (m marks) typ(text string, t notation.Type, offset int) {
	m.add("list", t.Kind == notation.List)
	m.add("list count", t.Kind == notation.List && strings.Contains(text[:offset], ","))
	for _, e := range t.Elements {
		if e.At <= offset && offset <= e.At+len(e.Text) {
			m.add("alternatives", len(t.Elements) > 1)
			m.add(e.Text, e.Text == "any" || e.Text == "str")
			return
		}
	}
	var in *notation.Extent
	for i := range t.Extents {
		if t.Extents[i].At <= offset {
			in = &t.Extents[i]
		}
	}
	switch {
	case in == nil:
	case in.Form == notation.Unnamed:
		m["_"] = true
	case in.Form == notation.Ellipsis:
		m.add("...", true)
		m.add("...name", in.Name != "")
	default:
		m.expression(in.Size, offset)
	}
}

// condition marks the comparison at a finding, and the enclosing parts.
func (m marks) condition(text string, offset int) {
	c, _ := notation.ParseCond(text)
	for len(c.Conds) > 0 {
		m[c.Op] = true
		in := c.Conds[0]
		for _, part := range c.Conds {
			if start(part) <= offset {
				in = part
			}
		}
		c = in
	}
	m.add(c.Op, slices.Contains(comparisons, c.Op))
	switch {
	case offset < c.At:
		m.expression(c.Left, offset)
	case offset > c.At && c.Right != nil:
		m.expression(c.Right, offset)
	}
}

var comparisons = []string{"==", "!=", "<", "<=", ">", ">=", "in"}

// start returns the offset of a condition's text.
func start(c *notation.Cond) int {
	if c.Left == nil {
		return c.At
	}
	e := c.Left
	for len(e.Operands) > 0 && e.Operands[0].At < e.At {
		e = e.Operands[0]
	}
	return min(e.At, c.At)
}

// expression marks the operator or the operand at a finding, and the enclosing parts.
func (m marks) expression(e *notation.Expr, offset int) {
	_, path := deepest(e, offset)
	for _, op := range path {
		m[string(op)] = true
	}
}

// deepest returns the last node that begins at or before an offset, and the operators above it.
func deepest(e *notation.Expr, offset int) (begin int, path []notation.Op) {
	begin = -1
	if e == nil {
		return begin, nil
	}
	if e.At <= offset {
		begin, path = e.At, []notation.Op{e.Op}
	}
	for _, o := range e.Operands {
		if b, below := deepest(o, offset); b > begin {
			begin, path = b, append([]notation.Op{e.Op}, below...)
		}
	}
	return begin, path
}

// readers are the folders of the packages that report mistakes in a description.
var readers = []string{".", "../notation", "../../yaml"}

// missing lists the codes in the readers' sources that no mistake causes. Mistakes in YAML have
// tests in package yaml.
func missing(t *testing.T, seen map[string]int) (all []string) {
	t.Helper()
	reported := map[string]bool{}
	for _, e := range codes.All() {
		reported[e.Code] = !strings.HasPrefix(e.Code, "yaml-")
	}
	for _, folder := range readers {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		require.NotEmpty(t, files, folder)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				if call, is := n.(*ast.CallExpr); is {
					all = append(all, slices.DeleteFunc(texts(call.Args), func(text string) bool {
						return !reported[text] || seen[text] > 0
					})...)
				}
				return true
			})
		}
	}
	return all
}

// texts lists the literals in the arguments of a call.
func texts(args []ast.Expr) (all []string) {
	for _, arg := range args {
		if literal, is := arg.(*ast.BasicLit); is {
			all = append(all, strings.Trim(literal.Value, `"`))
		}
	}
	return all
}
