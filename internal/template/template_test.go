package template

import (
	"errors"
	"strings"
	"testing"
	std "text/template"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// person has the types from which views of templates are built.
type person struct {
	Name   string
	Age    int
	Tags   []string
	Friend *person
	Extra  map[string]any
	hidden string
	base
}

type base struct{ Below string }

func data() any {
	ada := person{Name: "Ada", Age: 36, Tags: []string{"x", "y", "z"}, Extra: map[string]any{"b": int64(2), "a": "one"},
		hidden: "no", base: base{"under"}}
	return map[string]any{"p": ada, "ptr": &person{Name: "Bob", Friend: &ada},
		"list":  []any{int64(1), "two", nil, true},
		"empty": []any{}, "map": map[string]any{"k2": "v2", "k1": "v1"}, "n": int64(3), "zero": 0, "none": nil,
		"text": "héllo", "f": 1.5, "yes": true, "words": [2]string{"a", "b"}}
}

// shared are functions for both packages.
var shared = map[string]any{
	"upper": strings.ToUpper,
	"sum": func(first int, rest ...int) int {
		for _, n := range rest {
			first += n
		}
		return first
	},
	"fails":   func() (string, error) { return "", errors.New("no value") },
	"isNil":   func(v any) bool { return v == nil },
	"nothing": func() any { return nil },
}

func fill(text string, data any) (string, error) {
	set, err := Parse("t", text, shared)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = (&Filler{Templates: set, Functions: shared}).Fill(&out, "t", data)
	return out.String(), err
}

func fillAsGo(text string, data any) (string, error) {
	parsed, err := std.New("t").Funcs(shared).Option("missingkey=error").Parse(text)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = parsed.Execute(&out, data)
	return out.String(), err
}

// TestTemplatesFillAsThoseOfGo compares the package with text/template.
func TestTemplatesFillAsThoseOfGo(t *testing.T) {
	for _, text := range []string{
		"", "text", "{{/* a comment */}}x", " {{- 1 -}} ",
		"{{.p.Name}} {{.p.Below}} {{.ptr.Friend.Name}} {{.p.Extra.a}}",
		"{{.n}} {{.f}} {{.yes}} {{.text}} {{.list}} {{.map}} {{.none}} {{.words}}",
		"{{1}} {{-7}} {{0x1e}} {{0b11}} {{'a'}} {{1.5}} {{1e3}} {{1_000}} {{true}} {{\"a\\n\"}} {{`raw`}} {{0i}} {{2i}}",
		"{{with .p}}{{.Name}}{{$.n}}{{end}}{{with .none}}a{{else}}b{{end}}{{with .zero}}a{{else with .n}}{{.}}{{end}}",
		"{{if .zero}}a{{else if .empty}}b{{else}}c{{end}}{{if .p}}d{{end}}{{if .ptr}}e{{end}}{{if .none}}f{{end}}",
		"{{if .f}}a{{end}}{{if .text}}b{{end}}{{if .map}}c{{end}}{{if .words}}d{{end}}{{if not .yes}}e{{end}}",
		"{{range .p.Tags}}{{.}},{{end}}{{range $i, $t := .p.Tags}}{{$i}}{{$t}}{{end}}{{range $t := .list}}<{{$t}}>{{end}}",
		"{{range .empty}}a{{else}}none{{end}}{{range .none}}a{{else}}none{{end}}{{range .words}}{{.}}{{end}}",
		"{{range $k, $v := .map}}{{$k}}={{$v}};{{end}}{{range .map}}{{.}}{{end}}{{range $k, $v := .p.Extra}}{{$k}}{{$v}}{{end}}",
		"{{range 3}}{{.}}{{end}}{{range .n}}{{.}}{{end}}{{range $i := 2}}{{$i}}{{end}}{{range .zero}}a{{else}}b{{end}}",
		"{{range .p.Tags}}{{if eq . \"y\"}}{{continue}}{{end}}{{.}}{{end}}{{range 9}}{{if gt . 2}}{{break}}{{end}}{{.}}{{end}}",
		"{{range .p.Tags}}{{range 5}}{{if eq . 1}}{{break}}{{end}}{{.}}{{end}}{{.}}{{end}}",
		"{{$x := 1}}{{if true}}{{$x := 2}}{{$x}}{{end}}{{$x}}{{if true}}{{$x = 3}}{{end}}{{$x}}",
		"{{$x := 0}}{{$i := 9}}{{range $i, $x = .p.Tags}}{{$x}}{{end}}{{$i}}{{$x}}{{range $x = .p.Tags}}{{end}}{{$x}}",
		"{{$x := .p}}{{$x.Name}}{{with $y := .n}}{{$y}}{{.}}{{end}}{{if $z := .n}}{{$z}}{{end}}",
		"{{define \"a\"}}[{{.}}{{$}}]{{end}}{{template \"a\" .n}}{{template \"a\"}}{{block \"b\" .text}}<{{.}}>{{end}}",
		"{{define \"r\"}}{{if .}}{{len .}}{{template \"r\" (slice . 1)}}{{end}}{{end}}{{template \"r\" .p.Tags}}",
		"{{and 1 0 .none.x}} {{and 1 2}} {{or 0 \"\" 3 .none.x}} {{or 0 \"\"}} {{1 | and 0}} {{0 | or 0}} {{5 | and 1}}",
		"{{not 0}} {{not .text}} {{len .text}} {{len .map}} {{len .p.Tags}} {{slice .text 0 1}} {{slice .p.Tags 1 2}}",
		"{{slice .list 2}} {{slice .text}} {{.text | len}} {{.p.Tags | len | sum 1 2}} {{sum 1}}",
		"{{eq 1 1}} {{eq 1 2 3 1}} {{ne \"a\" \"b\"}} {{lt 1 2}} {{le 2 2}} {{gt \"b\" \"a\"}} {{ge 1 2}} {{eq .n 3}} {{eq true false}}",
		"{{upper \"a\"}} {{\"a\" | upper}} {{(upper \"b\")}} {{upper (upper .p.Name)}} {{(.p).Name}} {{(.ptr).Friend.Age}}",
		"{{isNil nil}} {{isNil .none}} {{isNil 1}} {{nothing}} {{isNil nothing}} {{if nothing}}a{{else}}b{{end}}",
	} {
		want, err := fillAsGo(text, data())
		require.NoError(t, err, text)
		got, err := fill(text, data())
		assert.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

// TestErrorsEqualThoseOfTextTemplate lists mistakes that text/template reports too, at the same
// place.
func TestErrorsEqualThoseOfTextTemplate(t *testing.T) {
	for text, want := range map[string]string{
		"\n {{.no}}":                    `template: t:2:3: executing "t" at <.no>: map has no entry for key "no"`,
		"{{.none.x}}":                   `template: t:1:7: executing "t" at <.none.x>: nil data; no entry for key "x"`,
		"{{.p.Nobody}}":                 "can't evaluate field Nobody in type template.person",
		"{{.p.hidden}}":                 "can't evaluate field hidden in type template.person",
		"{{.p.Friend.Name}}":            "nil pointer evaluating *template.person.Name",
		"{{.text.x}}":                   "can't evaluate field x in type string",
		"{{.n 1}}":                      "can't give argument to non-function .n",
		"{{1 | .n}}":                    "can't give argument to non-function .n",
		"{{nil}}":                       "nil is not a command",
		"{{18446744073709551615}}":      "18446744073709551615 overflows int",
		"{{range .text}}{{end}}":        "range can't iterate over héllo",
		"{{range $i, $j := .n}}{{end}}": "range can't iterate over 3 with 2 variables",
		`{{template "x"}}`:              `template: t:1:11: executing "t" at <{{template "x"}}>: template "x" not defined`,
		"{{upper}}":                     "got 0 arguments, expected 1 in a call of upper",
		`{{upper "a" "b"}}`:             "got 2 arguments, expected 1 in a call of upper",
		"{{upper 1}}":                   "expected string as argument 1, got int in a call of upper",
		"{{upper nil}}":                 "expected string as argument 1, got <nil> in a call of upper",
		"{{sum 1 2 .text}}":             "expected int as argument 3, got string in a call of sum",
		"{{sum}}":                       "got 0 arguments, expected 1 in a call of sum",
		"{{fails}}":                     `executing "t" at <fails>: error calling fails: no value`,
		"{{if fails}}{{end}}":           "no value",
		"{{with fails}}{{end}}":         "no value",
		"{{range fails}}{{end}}":        "no value",
		"{{range 1}}{{fails}}{{end}}":   "no value",
		"{{upper fails}}":               "no value",
		"{{fails | upper}}":             "no value",
		"{{(fails).x}}":                 "no value",
		"{{and 1 fails}}":               "no value",
		`{{define "a"}}{{end}}{{template "a" fails}}`: "no value",
		"{{and}}":             "and takes one or more values",
		"{{eq 1}}":            "eq takes two or more values",
		`{{eq 1 "a"}}`:        "expected two strings, two integers or two booleans, got int and string",
		"{{lt nil 1}}":        "got <nil> and int",
		"{{len 1}}":           "expected a string, a list or a map, got int",
		"{{len nil}}":         "expected a string, a list or a map, got <nil>",
		"{{slice 1}}":         "expected a string or a list, got int",
		"{{slice .text 9}}":   "expected up to two positions from 0 to 6 in order, got [9]",
		"{{slice .text 2 1}}": "got [2 1]",
		"{{slice .text -1}}":  "got [-1]",
	} {
		_, asGo := fillAsGo(text, data())
		require.Error(t, asGo, text)
		_, err := fill(text, data())
		assert.ErrorContains(t, err, want, text)
	}
}

// text/template has a third position, which does not affect the output.
func TestASliceHasTwoPositions(t *testing.T) {
	_, err := fill("{{slice .p.Tags 0 1 2}}", data())
	assert.ErrorContains(t, err, "got [0 1 2]")
}

// Values are data: text/template would call the method.
func TestMethodsAreNotCalled(t *testing.T) {
	text, err := fillAsGo("{{.Len}}", strings.NewReader("abc"))
	require.NoError(t, err)
	assert.Equal(t, "3", text)
	_, err = fill("{{.Len}}", strings.NewReader("abc"))
	assert.ErrorContains(t, err, "can't evaluate field Len in type *strings.Reader")
}

func TestTemplatesThatIncludeThemselvesEnd(t *testing.T) {
	_, err := fill(`{{template "t"}}`, nil)
	assert.ErrorIs(t, err, ErrDepth)
	var out strings.Builder
	assert.ErrorContains(t, (&Filler{}).Fill(&out, "x", nil), `no template "x"`)
}

// A later definition replaces an earlier one, but an empty file does not.
func TestAdd(t *testing.T) {
	all := Set{}
	for _, text := range []string{"first", "second", " {{/* nothing */}} "} {
		one, err := Parse("t", text, nil)
		require.NoError(t, err)
		all.Add(one)
	}
	var out strings.Builder
	require.NoError(t, (&Filler{Templates: all}).Fill(&out, "t", nil))
	assert.Equal(t, "second", out.String())
}

// Steps are counted before the work: a loop of any length ends with the budget.
func TestSteps(t *testing.T) {
	for text, want := range map[string]int{"": 1, "a": 2, "{{1}}": 3, "{{.p.Name}}": 5, "{{sum 1 2}}": 4,
		"{{range 3}}{{end}}": 6, "{{if 1}}a{{end}}": 5, "{{$x := 1}}{{$x}}": 5} {
		set, err := Parse("t", text, shared)
		require.NoError(t, err)
		steps, stop := 0, errors.New("enough")
		f := Filler{Templates: set, Functions: shared, Step: func(n int) error { steps += n; return nil }}
		var out strings.Builder
		require.NoError(t, f.Fill(&out, "t", data()))
		assert.Equal(t, want, steps, text)
		f.Step = func(n int) error {
			if steps -= n; steps < 1 {
				return stop
			}
			return nil
		}
		assert.ErrorIs(t, f.Fill(&out, "t", data()), stop, text)
	}
}

// broken is a writer that fails.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.ErrUnsupported }

func TestErrorsOfTheFileAreReturned(t *testing.T) {
	for _, text := range []string{"a", `{{"a"}}`, "{{1}}"} {
		set, err := Parse("t", text, nil)
		require.NoError(t, err)
		assert.Equal(t, errors.ErrUnsupported, (&Filler{Templates: set}).Fill(broken{}, "t", nil), text)
	}
}
