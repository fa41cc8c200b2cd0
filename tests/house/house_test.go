package house

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheTreeKeepsTheRules(t *testing.T) {
	tree, err := Load(os.DirFS("../.."))
	require.NoError(t, err)
	require.Greater(t, len(tree), 20, "the walk found the tree")
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			for _, found := range rule.Check(tree) {
				t.Error(found)
			}
		})
	}
}

// files is a tree by path.
type files map[string]string

func (f files) load(t *testing.T) []File {
	t.Helper()
	root := fstest.MapFS{}
	for name, text := range f {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	tree, err := Load(root)
	require.NoError(t, err)
	return tree
}

// body is a Go file that holds one function of n lines.
func body(n int) string {
	return "// Package p is p.\npackage p\n\nfunc f() {\n" + strings.Repeat("\t_ = 0\n", n) + "}\n"
}

const fine = "// Package p is p.\npackage p\n"

// broken has, for each rule, trees that break it and trees that come close.
// Words that a rule bans everywhere are put together here, out of its sight.
var broken = map[string]struct{ bad, good []files }{
	"no path of one machine": {
		bad:  []files{{"a.md": "see /ro" + "ot/x"}, {"a.go": fine + "const a = \"/ho" + "me/me/x\"\n"}, {"a/b.yaml": "path: `/tm" + "p/x`"}},
		good: []files{{"a.md": "a/root/x and https://x.org/work/y"}, {".venv/a.md": "see /ro" + "ot/x"}},
	},
	"no package registry by address": {
		bad:  []files{{"a.sh": "pip install --index" + "-url x"}, {"Makefile": "GOPROXY=" + "https://x"}, {"a.md": "https://py" + "pi.org/x"}},
		good: []files{{"a.sh": "pip install -r requirements.txt"}},
	},
	"nothing left unfinished": {
		bad:  []files{{"a.c": "/* TO" + "DO: more */"}, {"a.md": "FIX" + "ME"}},
		good: []files{{"a.sh": "mktemp -d /x.XXXXXX; hackney"}},
	},
	"hand-written files under 500 lines": {
		bad:  []files{{"a.c": strings.Repeat("\n", 500)}},
		good: []files{{"a.c": strings.Repeat("\n", 499)}, {"a.json": strings.Repeat("\n", 900)}, {"gen/a.c": strings.Repeat("\n", 900)}},
	},
	"no panic outside tests": {
		bad: []files{{"a.go": fine + "func f() { panic(1) }\n"}, {"a.go": fine + "func f() { log.Panicf(\"\") }\n"}},
		good: []files{{"a_test.go": fine + "func f() { panic(1) }\n"}, {"a.go": fine + "func f() { panic(\"unreachable: \" + x) }\n"},
			{"testdata/a.go": fine + "func f() { panic(1) }\n"}, {"templates/go/dlpacktest/a.go": fine + "func f() { panic(1) }\n"}},
	},
	"the process ends in main.go only": {
		bad: []files{{"a.go": "package main\nfunc f() { os.Exit(1) }\n"}, {"main.go": fine + "func f() { os.Exit(1) }\n"},
			{"a_test.go": fine + "func f() { log.Fatal(1) }\n"}},
		good: []files{{"main.go": "package main\nfunc f() { os.Exit(1) }\n"}, {"a_test.go": fine + "func TestMain() { os.Exit(1) }\n"}},
	},
	"the YAML library stands in one file": {
		bad:  []files{{"a.go": fine + "import \"gopkg.in/yaml.v3\"\n", "b_test.go": fine + "import \"go.yaml.in/yaml/v4\"\n"}},
		good: []files{{"a.go": fine + "import \"gopkg.in/yaml.v3\"\n", "b.go": fine}},
	},
	"functions fit a screen": {
		bad:  []files{{"a.go": body(46)}, {"a_test.go": body(81)}},
		good: []files{{"a.go": body(45)}, {"a_test.go": body(80)}, {"gen/a.go": body(100)}},
	},
	"each package says what it is": {
		bad: []files{{"a.go": "package p\n"}, {"a.go": "// P is p.\npackage p\n"}, {"a.go": "package main\n"}, {"a_test.go": "package p\n"}},
		good: []files{{"a.go": fine, "b.go": "package p\n", "b_test.go": "package p_test\n"}, {"main.go": "// Command p does.\npackage main\n"},
			{"templates/go/a.go": "package dlpack\n"}},
	},
	"exported names are documented": {
		bad: []files{{"a.go": fine + "func F() {}\n"}, {"a.go": fine + "type T int\n"}, {"a.go": fine + "const C = 1\n"},
			{"a.go": fine + "var (\n\tV int\n)\n"}, {"a.go": fine + "func (*T) F() {}\n"}, {"a.go": fine + "func (T[X]) F() {}\n"}},
		good: []files{{"a.go": fine + "// F is.\nfunc F() {}\n// T are.\nconst (\n\tA = 1\n)\nvar V int // says\nfunc (*t) F() {}\nfunc f() {}\n"}},
	},
	"each skip gives its reason": {
		bad:  []files{{"a_test.go": fine + "func f() { t.Skip() }\n"}, {"a_test.go": fine + "func f() { t.SkipNow() }\n"}},
		good: []files{{"a_test.go": fine + "func f() { t.Skip(\"needs x\") }\n"}},
	},
	"only the rooms that write files do": {
		bad: []files{{"internal/emit/a.go": fine + "func f() { os.WriteFile(a, b, 0) }\n"}, {"internal/spec/a.go": fine + "func f() { os.MkdirAll(a, 0) }\n"}},
		good: []files{{"internal/tree/a.go": fine + "func f() { os.Rename(a, b) }\n"}, {"internal/emit/a_test.go": fine + "func f() { os.Remove(a) }\n"},
			{"internal/emit/a.go": fine + "func f() { os.ReadFile(a) }\n"}, {"tools/a.go": fine + "func f() { os.Mkdir(a, 0) }\n"}},
	},
}

func TestEachRuleFindsWhatBreaksIt(t *testing.T) {
	require.Len(t, broken, len(Rules()), "a rule without an example that breaks it may be one that cannot fail")
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			require.NotEmpty(t, broken[rule.Name].bad)
			for _, tree := range broken[rule.Name].bad {
				assert.NotEmpty(t, rule.Check(tree.load(t)), "%v", tree)
			}
			for _, tree := range broken[rule.Name].good {
				assert.Empty(t, rule.Check(tree.load(t)), "%v", tree)
			}
		})
	}
}

func TestGoThatDoesNotParseIsAnError(t *testing.T) {
	_, err := Load(fstest.MapFS{"a.go": &fstest.MapFile{Data: []byte("package")}})
	assert.Error(t, err)
}
