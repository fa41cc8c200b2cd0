package yaml_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// parse returns the root and the findings, each as "line:col code".
func parse(src string) (*yaml.Node, []string) {
	diags := &diag.List{}
	root := yaml.Parse("f.yaml", []byte(src), diags)
	var out []string
	for _, d := range diags.Sorted() {
		out = append(out, strings.TrimPrefix(d.Pos.String(), "f.yaml:")+" "+d.Code)
	}
	return root, out
}

func TestNodesHavePositions(t *testing.T) {
	root, found := parse("\ufeffa: 1\nlist:\n  - {é: ü, key: 'q'}\n")
	require.Empty(t, found)
	require.Equal(t, yaml.Mapping, root.Kind)
	inner := root.Entries[1].Value.Items[0]
	assert.Equal(t, 3, inner.Line)
	key := inner.Entries[1]
	assert.Equal(t, diag.Pos{File: "f.yaml", Line: 3, Col: 19}, key.Value.Pos())
}

func TestUnsupportedYAMLIsRejectedWithItsPosition(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"nul":                {"a: 1\nb: \x00\n", "2:4 yaml-nul"},
		"tab":                {"a:\n\tb: 1\n", "2:1 yaml-tab"},
		"control":            {"a: \x01\n", "1:4 yaml-control"},
		"delete":             {"a: \x7f\n", "1:4 yaml-control"},
		"next line":          {"a: 1\nb: '\u0085'\n", "2:5 yaml-break"},
		"line separator":     {"a: x\u2028y\n", "1:5 yaml-break"},
		"paragraph":          {"# \u2029\na: 1\n", "1:3 yaml-break"},
		"not UTF-8":          {"a: é\nb: \xff\n", "2:4 yaml-utf8"},
		"UTF-16":             {"\xff\xfea\x00", "1:1 yaml-utf8"},
		"empty":              {"", "1:1 yaml-empty"},
		"comment only":       {"# nothing\n", "1:1 yaml-empty"},
		"duplicate key":      {"a: 1\nb: 2\na: 3\n", "3:1 duplicate-key"},
		"anchor":             {"a: &x 1\n", "1:4 yaml-anchor"},
		"alias":              {"a: &x 1\nb: *x\n", "1:4 yaml-anchor 2:4 yaml-alias"},
		"merge":              {"a: {<<: {b: 1}}\n", "1:5 yaml-merge"},
		"tag":                {"a: !!str 1\n", "1:4 yaml-tag"},
		"second document":    {"a: 1\n---\nb: 2\n", "2:1 yaml-documents"},
		"broken second":      {"a: 1\n---\nb: [\n", "3:4 yaml-syntax"},
		"key that is a list": {"? [a]\n: 1\n", "1:3 yaml-key"},
		"truncated flow":     {"a: {b: 1\n", "1:4 yaml-syntax"},
		"truncated quote":    {"a: \"b\n", "2:1 yaml-syntax"},
		"bad indent":         {"a:\n  b: 1\n c: 2\n", "2:3 yaml-syntax"},
		"unknown alias":      {"a: *x\n", "1:1 yaml-syntax"},
	} {
		t.Run(name, func(t *testing.T) {
			_, found := parse(c.src)
			assert.Equal(t, c.want, strings.Join(found, " "))
		})
	}
}

func TestOneRunFindsEveryBadLine(t *testing.T) {
	_, found := parse("a:\t1\nb: 2\nc: \x01\nd: \xff\n")
	assert.Equal(t, []string{"1:3 yaml-tab", "3:4 yaml-control", "4:4 yaml-utf8"}, found)
}

func TestADuplicateKeyHidesNoOtherFinding(t *testing.T) {
	diags := &diag.List{}
	root := yaml.Parse("f.yaml", []byte("a: 1\na: 2\nb: 3\n"), diags)
	require.NotNil(t, root)
	m := root.Map("a thing")
	m.Get("a")
	m.Close()
	require.Equal(t, 2, diags.Len())
	assert.Equal(t, "unknown-key", diags.Sorted()[1].Code)
}

func TestAFileBeyondTheLimitIsRejectedAtItsStart(t *testing.T) {
	for size, want := range map[int][]string{yaml.MaxBytes: nil, yaml.MaxBytes + 1: {"1:1 yaml-size"}} {
		_, found := parse("a: 1\n" + strings.Repeat("#", size-5))
		assert.Equal(t, want, found)
	}
}

// bombs are files of 4 MiB that are the most expensive for yaml.v3.
func bombs() map[string]string {
	fill := func(s string) string { return strings.Repeat(s, yaml.MaxBytes/len(s)) }
	laughs := "a0: &a0 [x]\n"
	for i := range 9 {
		laughs += "a" + string(rune('1'+i)) + ": &a" + string(rune('1'+i)) + " [" +
			strings.Repeat("*a"+string(rune('0'+i))+",", 9) + "]\n"
	}
	return map[string]string{
		"aliases": laughs, "open lists": fill("["), "open maps": fill("{"),
		"empty lists": "[" + fill("[],")[:yaml.MaxBytes-2] + "]",
		"items":       fill("- \n"), "nested items": fill("- "), "questions": fill("? "), "lines": fill("a\n"),
		"keys":     fill("a: "),
		"comments": fill("#\n"), "long line": fill("a"), "quotes": "a: \"" + fill("\\n")[:yaml.MaxBytes-8] + "\"",
		"blank":  fill("\n"),
		"folded": "a: >\n" + fill(" b\n")[:yaml.MaxBytes-8], "commas": fill(","), "anchors": fill("&a "),
		"tags": fill("!a "), "dashes": fill("---\n"),
		// Just below the limits, where yaml.v3 does parse them.
		"many wide lists": "[é, " + strings.Repeat("[],", 149_000) + "]",
		"many lists":      "[" + strings.Repeat("[],", 149_000) + "]",
		"many maps":       "[" + strings.Repeat("{},", 149_000) + "]",
		"deep lists":      strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999), "many keys": manyKeys(100_000),
		"deep keys": deepKeys(2_500),
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: 1\n", i)
	}
	return b.String()
}

func deepKeys(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func TestHostileFilesTakeBoundedTimeAndMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("parses files of 4 MiB, and -short was given")
	}
	for name, src := range bombs() {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			start := testtool.Spent(t)
			_, _ = parse(src)
			runtime.ReadMemStats(&after)
			spent := testtool.Spent(t) - start
			allocated := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%d MiB allocated in %v", allocated, spent)
			assert.Less(t, allocated, uint64(256), "MiB allocated")
			assert.Less(t, spent, 5*time.Second)
		})
	}
}

func TestTextMustBeAStringForEveryReader(t *testing.T) {
	for _, plain := range []string{"1", "1.10", "010", "0x1", "true", "null", "~", "1e3", ".5", "-1", "yes", "No", "on",
		"OFF", "1_0", "1:30", "0b1", "2020-01-02", "<<", "="} {
		root, _ := parse("a: " + plain + "\n")
		assert.Equal(t, plain, root.Entries[0].Value.Source("a"))
		diags := &diag.List{}
		yaml.Parse("f.yaml", []byte("a: "+plain+"\n"), diags).Entries[0].Value.Text("a")
		require.Equal(t, 1, diags.Len(), plain)
		assert.Equal(t, "unquoted", diags.Sorted()[0].Code)
	}
	diags := &diag.List{}
	root := yaml.Parse("f.yaml", []byte("a: '1'\nb: y\nc: main\nd: 1.2.3\ne: on it\nf: 12:x\n"), diags)
	for _, e := range root.Entries {
		e.Value.Text("a")
	}
	assert.Empty(t, diags.Sorted())
}

// A value that is also wrong as a text is one finding: the one that quotes would not fix.
func TestATextWithoutQuotesIsOneMistake(t *testing.T) {
	for value, want := range map[string]string{"true": "invalid-name", "": "unquoted"} {
		diags := &diag.List{}
		n := yaml.Parse("f.yaml", []byte("a: "+value+"\n"), diags).Entries[0].Value
		n.Text("a")
		n.Text("a")
		n.Errorf("invalid-name", "choose another", "%q is no name", value)
		require.Equal(t, 1, diags.Len(), value)
		assert.Equal(t, want, diags.Sorted()[0].Code, value)
	}
}

func TestReadersReportWhatDoesNotFit(t *testing.T) {
	diags := &diag.List{}
	root := yaml.Parse("f.yaml",
		[]byte("name: [x]\nflag: maybe\ncount: 010\nbig: 11\nkind: blu\nitems: x\nnmae: y\n"), diags)
	m := root.Map("a thing")
	m.RequireText("name")
	m.Bool("flag")
	m.Get("count").Int("count", 0, 10)
	m.Get("big").Int("big", 0, 10)
	m.Get("kind").OneOf("kind", []string{"red", "blue"})
	m.List("items")
	m.Require("gone")
	m.Close()
	var found []string
	for _, d := range diags.Sorted() {
		found = append(found, strings.TrimPrefix(d.Pos.String(), "f.yaml:")+" "+d.Code+": "+d.Text+"; "+d.Hint)
	}
	assert.Equal(t, []string{
		`1:1 missing-key: a thing has no "gone"; add the key gone with its value`,
		`1:7 type-mismatch: name must be a value, not a list; write one value, without brackets or braces`,
		`2:7 type-mismatch: flag must be true or false, not "maybe"; write true or false`,
		`3:8 type-mismatch: count must be a decimal integer, not "010"; write decimal digits, without quotes`,
		`4:6 out-of-range: big must be from 0 to 10, not 11; write 10 or less`,
		`5:7 unknown-value: kind must be one of red, blue, not "blu"; did you mean "blue"?`,
		`6:8 type-mismatch: items must be a list, not a value; write a list, such as [a, b]`,
		`7:1 unknown-key: a thing has no key "nmae"; did you mean "name"?`,
	}, found)
}
