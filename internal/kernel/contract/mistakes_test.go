package contract_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// Every line of testdata/mistakes.txt is a description that is wrong. Each finding about it has a
// position and a hint; the golden file has their texts.
func TestMistakesAreReported(t *testing.T) {
	var out strings.Builder
	seen := map[string]int{}
	for _, text := range mistakes(t) {
		_, found := readings(text)
		assert.NotEmpty(t, found, text)
		codes := map[string]bool{}
		for _, d := range found {
			codes[d.Code] = true
			assert.Equal(t, diag.Error, d.Severity, text)
			assert.Positive(t, d.Pos.Line*d.Pos.Col, "%s has no position: %s", d.Text, text)
			assert.NotEmpty(t, d.Hint, "%s has no hint: %s", d.Text, text)
		}
		for code := range codes {
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

// Each key of a kernel, each word of a line, and each part of an expression or a condition has
// mistakes. They are counted in what was parsed, where a finding stands: a name in another text, or
// twice in one row, counts for nothing.
func TestEveryKeyAndWordHasMistakes(t *testing.T) {
	rows, counts := map[string]bool{}, map[string]int{}
	for _, text := range mistakes(t) {
		assert.False(t, rows[text], "the row stands twice: %s", text)
		rows[text] = true
		_, found := readings(text)
		for about := range subjects(text, found) {
			counts[about]++
		}
	}
	wanted := []string{"...", "_", "list", "str", "?", "=", "//", "%", "min", "max", "size", "shape", "in", "and", "or"}
	for _, key := range keys(t) {
		wanted = append(wanted, key+":")
	}
	for _, one := range append(wanted, notation.Words...) {
		assert.GreaterOrEqual(t, counts[one], 5, "mistakes about %s", one)
	}
}

// A mistake counts for what its finding is about, and not for what else the row has.
func TestMistakesCountForTheirSubject(t *testing.T) {
	for text, want := range map[string]string{
		`f: {args: {x: "int8[n]"}, where: ["n > w"], doc: "and in or where: x"}`:          "where:",
		`f: {args: {x: "int8[n] strided", y: int strided}}`:                               "args: strided",
		`f: {args: {x: "int8[n] strided inner", y: "int8[n] inner"}}`:                     "args: inner strided",
		`f: {args: {x: "int8[n] strided copied inout"}, gil: held}`:                       "args: copied strided",
		`f: {args: {x: "int9[...] strided"}, returns: {y: "int8[max(2, 3)]"}}`:            "args: ...",
		`f: {args: {x: "int8[_, n]"}, where: ["n // 0 in 1|2 or n % 2 == 0", "n > 0"]}`:   "where: // % in or",
		`f: {args: {x: "int8[n]"}, where: ["n > 0 and n < n"]}`:                           "where: and",
		`f: {args: {x: "int8[n]"}, serial: maybe, errors: {0: {raise: TypeError}}}`:       "errors: serial:",
		`f: {args: {x: "int8[n]", s: str = 3, l: "list[int]? = 3"}, doc: "args: {a: b}"}`: "= ? args: list str",
	} {
		_, found := readings(text)
		got := slices.Sorted(maps.Keys(subjects(text, found)))
		assert.ElementsMatch(t, strings.Fields(want), got, text)
	}
}

// mistakes gives the rows of testdata/mistakes.txt.
func mistakes(t *testing.T) (rows []string) {
	t.Helper()
	src, err := os.ReadFile("testdata/mistakes.txt")
	require.NoError(t, err)
	for text := range strings.Lines(string(src)) {
		rows = append(rows, strings.ReplaceAll(strings.TrimSuffix(text, "\n"), `\n`, "\n"))
	}
	return rows
}

// keys are those of a kernel in the schema of configs.
func keys(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../config/schema.json")
	require.NoError(t, err)
	var schema struct {
		Defs struct {
			Kernel struct{ Properties map[string]any }
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(text, &schema))
	require.Contains(t, schema.Defs.Kernel.Properties, "args")
	return slices.Collect(maps.Keys(schema.Defs.Kernel.Properties))
}

// subjects lists what the findings about a description are about: keys, with a colon, and parts of
// lines and conditions.
func subjects(text string, found []diag.Diagnostic) map[string]bool {
	about := map[string]bool{}
	root := yaml.Parse("k.yaml", []byte(text), &diag.List{})
	if root == nil {
		return about
	}
	for _, d := range found {
		described := at(root, d)
		if described == nil {
			continue
		}
		section := at(described.Value, d)
		if section == nil {
			continue
		}
		about[section.Key.Value+":"] = true
		switch entry := at(section.Value, d); {
		case section.Key.Value == "where":
			for _, item := range section.Value.Items {
				if stands(item, d) {
					addCond(about, item.Value)
				}
			}
		case entry != nil && (section.Key.Value == "args" || section.Key.Value == "returns"):
			addLine(about, entry.Value, d)
		}
	}
	return about
}

// at gives the entry of a mapping that a finding stands in, or nil.
func at(n *yaml.Node, d diag.Diagnostic) (in *yaml.Entry) {
	for i := range n.Entries {
		if e := &n.Entries[i]; before(e.Key.Pos(), d.Pos) {
			in = e
		}
	}
	return in
}

func before(a, b diag.Pos) bool { return a.Line < b.Line || a.Line == b.Line && a.Col <= b.Col }

// stands tells whether a finding stands in a value of one line.
func stands(n *yaml.Node, d diag.Diagnostic) bool {
	return n.Line == d.Pos.Line && n.Col <= d.Pos.Col && d.Pos.Col <= n.Col+len(n.Value)+1
}

// addLine adds the parts of an argument or a result. Of its words only those that the finding
// points at or names.
func addLine(about map[string]bool, n *yaml.Node, d diag.Diagnostic) {
	l, _ := notation.ParseLine(n.Value)
	has := map[string]bool{"?": l.Optional, "=": l.Default != nil, "list": l.Type.Kind == notation.List}
	for _, e := range l.Type.Elements {
		has["str"] = has["str"] || e.Text == "str"
	}
	for _, e := range l.Type.Extents {
		has["..."] = has["..."] || e.Form == notation.Ellipsis
		has["_"] = has["_"] || e.Form == notation.Unnamed
		addExpr(about, e.Size)
	}
	offset := d.Pos.Col - n.Col
	if n.Quoted {
		offset--
	}
	for i, w := range l.Words {
		end := len(n.Value)
		if i+1 < len(l.Words) {
			end = l.Words[i+1].At - 1
		}
		has[w.Text] = has[w.Text] || w.At <= offset && offset <= end ||
			slices.Contains(strings.FieldsFunc(d.Text, isBetween), w.Text)
	}
	for part, is := range has {
		if is {
			about[part] = true
		}
	}
}

// isBetween tells what stands between two words of a finding.
func isBetween(r rune) bool { return !unicode.IsLetter(r) && r != '_' }

func addCond(about map[string]bool, text string) {
	c, _ := notation.ParseCond(text)
	var add func(c *notation.Cond)
	add = func(c *notation.Cond) {
		if slices.Contains([]string{"in", "and", "or"}, c.Op) {
			about[c.Op] = true
		}
		addExpr(about, c.Left)
		addExpr(about, c.Right)
		for _, part := range c.Conds {
			add(part)
		}
	}
	add(c)
}

func addExpr(about map[string]bool, e *notation.Expr) {
	if e == nil {
		return
	}
	switch e.Op {
	case notation.FloorDiv, notation.Remainder, notation.Min, notation.Max, notation.Size, notation.Shape:
		about[string(e.Op)] = true
	}
	for _, o := range e.Operands {
		addExpr(about, o)
	}
}

// readers are the folders of the packages that report what is wrong with a description.
var readers = []string{".", "../notation", "../../yaml"}

// missing lists the codes of the readers' sources that no mistake got. What is wrong as YAML
// has tests in package yaml.
func missing(t *testing.T, seen map[string]int) (codes []string) {
	t.Helper()
	quoted := regexp.MustCompile(`(?:Errorf\(|ErrorfAt\([^"]*|s\.fail\([^"]*|reportLine\([^"]*)"([a-z]+(?:-[a-z]+)+)"`)
	for _, folder := range readers {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		require.NotEmpty(t, files, folder)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, code := range quoted.FindAllStringSubmatch(string(text), -1) {
				ofYAML := strings.HasPrefix(code[1], "yaml-")
				if !ofYAML && !strings.HasSuffix(file, "_test.go") && seen[code[1]] == 0 && !slices.Contains(codes, code[1]) {
					codes = append(codes, code[1])
				}
			}
		}
	}
	return codes
}
