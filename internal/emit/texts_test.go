package emit_test

import (
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/templates"
)

// sharedTexts lists the texts that several sources contain, with the reason that they have no
// common place. The test compares each list, so no copy can change alone.
var sharedTexts = []struct {
	reason string
	texts  []string // and their sources
}{
	{"fragments of longer texts", []string{
		`" is not aligned to ": c/abi_check.h.tmpl, c/check.h`,
		`"expected at least ": c/check.h, kernels/kernel_checks.h`,
	}},
	{"the assertions of C and of C++, which need literals, in headers that stand alone", []string{
		`"64-bit integers are packed: is a #pragma pack open?": c/abi_check.h.tmpl, cpp/layout.hpp.tmpl`,
		`"enums are short: build with -fno-short-enums": c/abi_check.h.tmpl, cpp/layout.hpp.tmpl`,
		`"pointers have neither 8 nor 4 bytes": c/abi_check.h.tmpl, cpp/layout.hpp.tmpl`,
		`"structs are packed: is a #pragma pack open?": c/abi_check.h.tmpl, cpp/layout.hpp.tmpl`,
	}},
	{"the core of C++ does not include message.h", []string{
		`"out of memory": cpp/error.hpp, go/kernels/call.c.tmpl`,
	}},
	{"C or C++, Go and Python have no common constants, and modules of two targets none in Python", []string{
		`"a shape of a result divides by 0": paddle/shapes.py, torch/described.hpp, torchshim/fakes.py`,
		`"an argument has a forward-mode derivative, which kernels do not support: use backward mode": ` +
			`c/texts.h, torchshim/dlpackgen_torchshim.py`,
		`"an argument requires a gradient, but the kernel has no backward: call it under torch.no_grad(), pass ` +
			"detach(), or describe `backward:` in dlpackgen.yaml\": c/texts.h, torchshim/dlpackgen_torchshim.py",
		`"expected a string without NUL": c/texts.h, go/kernels/values.go, traced/scalars.py`,
		`"expected at least one tensor, which determines the device": torch/described.hpp, torchshim/fakes.py`,
		"\"it requires a gradient, which the backward does not compute: pass detach(), or name it under `of:`\": " +
			`torch/borrowed.hpp, torchshim/dlpackgen_torchshim.py`,
		`"no memory for an object": go/table.c, go/table.go`,
	}},
	{"the same, and the contract tests expect them", []string{
		`"a list of float": c/texts.h, kernels/python/dlpackgen_contract_calls.py`,
		`"a list of int": c/texts.h, kernels/python/dlpackgen_contract_calls.py`,
		`"it is missing": c/texts.h, go/kernels/values.go, kernels/python/dlpackgen_contract_rejected.py, ` +
			`traced/scalars.py`,
		`"{kernel.name}() got multiple values for argument '{name}'": ` +
			`kernels/python/dlpackgen_contract_rejected.py, traced/scalars.py`,
	}},
}

// language describes the comments and string literals of a kind of source.
type language struct {
	skipped *regexp.Regexp // comments, and literals that are no messages
	literal *regexp.Regexp // one literal, whose text is the first group that matched
}

var (
	languageC = language{
		regexp.MustCompile(`^(?s:/\*.*?\*/|//[^\n]*|#include[^\n]*|'(?:[^'\\\n]|\\.)+'|\\\n)`),
		regexp.MustCompile(`^(?:[LuU]|u8)?"((?:[^"\\\n]|\\.)*)"`),
	}
	languagePython = language{
		regexp.MustCompile(`^(?s:#[^\n]*|[a-zA-Z]?""".*?"""|\\\n)`),
		regexp.MustCompile(`^[a-zA-Z]{0,2}(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)')`),
	}
	languageGo = language{
		regexp.MustCompile(`^(?s:/\*.*?\*/|//[^\n]*|'(?:[^'\\\n]|\\.)+')`),
		regexp.MustCompile("^(?:\"((?:[^\"\\\\\n]|\\\\.)*)\"|`([^`]*)`)"),
	}
	languages = map[string]language{
		".h": languageC, ".c": languageC, ".hpp": languageC, ".cpp": languageC, ".cu": languageC,
		".py": languagePython, ".pyi": languagePython, ".go": languageGo,
	}
	words      = regexp.MustCompile(`[A-Za-z_]+`)
	identifier = regexp.MustCompile(`^[A-Za-z0-9_]+`)
	action     = regexp.MustCompile(`(?s){{.*?}}`)
)

// languageOf returns the language of a source or of a template of one, by its name.
func languageOf(name string) (language, bool) {
	l, ok := languages[path.Ext(strings.TrimSuffix(name, ".tmpl"))]
	return l, ok
}

// textsOf returns the texts of three or more words in a source, without comments. Adjacent literals
// are one text. An action of a template is part of the text as `{{}}`.
func (l language) textsOf(source string) (all []string) {
	text, open := "", false
	end := func() {
		if len(words.FindAllString(text, -1)) >= 3 && strings.Contains(strings.TrimSpace(text), " ") {
			all = append(all, text)
		}
		text, open = "", false
	}
	l.scan(action.ReplaceAllString(source, "{{}}"), func(literal string) {
		text, open = text+literal, true
	}, func(code string) {
		if open && !strings.ContainsAny(code, " \t\r\n") {
			end()
		}
	})
	end()
	return all
}

// scan calls one function for each string literal of a source, and another for the first character
// of the code between them. It skips comments.
func (l language) scan(source string, literal, code func(string)) {
	for source != "" {
		skipped, found := l.skipped.FindString(source), l.literal.FindStringSubmatch(source)
		switch {
		case skipped != "":
			source = source[len(skipped):]
		case found != nil:
			literal(strings.Join(found[1:], ""))
			source = source[len(found[0]):]
		default:
			n := max(1, len(identifier.FindString(source)))
			code(source[:n])
			source = source[n:]
		}
	}
}

// inSeveral returns the texts that several of these sources contain, with the sources' names.
func inSeveral(sources map[string]string) (found []string) {
	places := map[string][]string{} // sources, by text
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		l, ok := languageOf(name)
		if !ok {
			continue
		}
		for _, text := range l.textsOf(sources[name]) {
			if !slices.Contains(places[text], name) {
				places[text] = append(places[text], name)
			}
		}
	}
	for _, text := range slices.Sorted(maps.Keys(places)) {
		if len(places[text]) > 1 {
			found = append(found, `"`+text+`": `+strings.Join(places[text], ", "))
		}
	}
	return found
}

// No two sources contain an equal text of three or more words, except for those listed. A text that
// several sources need belongs in texts.h, device_texts.h, or another file that all of them include.
func TestTextsOfTwoSourcesHaveAReason(t *testing.T) {
	sources, read := map[string]string{}, map[string]int{} // of each kind
	require.NoError(t, fs.WalkDir(templates.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(templates.Files, name)
		sources[name] = string(text)
		read[path.Ext(name)]++
		return err
	}))
	for _, kind := range []string{".c", ".h", ".hpp", ".py", ".go", ".tmpl"} {
		assert.Greater(t, read[kind], 15, kind)
	}
	var want []string
	for _, row := range sharedTexts {
		want = append(want, row.texts...)
	}
	assert.ElementsMatch(t, want, inSeveral(sources),
		"move the text to a file that all sources include, or give the reason in sharedTexts")
}

func TestATextOfTwoSourcesIsFound(t *testing.T) {
	for _, row := range []struct {
		name    string
		sources map[string]string
		found   []string
	}{
		{"of two folders", map[string]string{"a/x.c": `f("one two three");`, "b/y.h": `g("one two three");`},
			[]string{`"one two three": a/x.c, b/y.h`}},
		{"of the device sources", map[string]string{
			"device/x.h": `f("one two three");`, "device/y.h": `g(1, "one two three");`},
			[]string{`"one two three": device/x.h, device/y.h`}},
		{"adjacent literals", map[string]string{
			"a/x.c": "#define A \"one two \" \\\n  \"three\"\n", "b/y.cpp": "f(\"one \" /* no */\n\"two three\")"},
			[]string{`"one two three": a/x.c, b/y.cpp`}},
		{"templates", map[string]string{"a/x.c.tmpl": `f("{{.Name "x"}}: one two three");`, "b/y.h.tmpl": `
			{{if eq .A "a b c"}}g("{{.Other}}: one two three");`},
			[]string{`"{{}}: one two three": a/x.c.tmpl, b/y.h.tmpl`}},
		{"Python", map[string]string{"a/x.py": "A = (\n    f\"one \"  # no\n    'two three')",
			"b/y.hpp": `"one two three"`},
			[]string{`"one two three": a/x.py, b/y.hpp`}},
		{"Go", map[string]string{"a/x.go": "f(`one two three`)", "b/y.pyi": "'one two three'"},
			[]string{`"one two three": a/x.go, b/y.pyi`}},
		{"comments", map[string]string{"a/x.c": "/* \"one two three\" */\n// \"one two three\"\n'\"'",
			"b/y.py": "# 'one two three'\n\"\"\"\none 'one two three'\"\"\"", "c/z.h": `"one two three"`}, nil},
		{"two words", map[string]string{"a/x.c": `f("one two")`, "b/y.c": `f("one two")`}, nil},
		{"literals with a comma between them", map[string]string{
			"a/x.c": `f("one two", "three four")`, "b/y.c": `f("one two" "three four")`}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.found, inSeveral(row.sources))
		})
	}
}
