package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/codes"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/targets"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// enough is the number of mistakes for each code, key and option.
const enough = 5

// elsewhereTested are codes without mistakes here, because other inputs than configs cause them.
var elsewhereTested = map[string]string{
	"no-config":       "a missing file: cmd/dlpackgen",
	"unknown-target":  "--only: TestOnlyNamesWhatExists",
	"template":        "the text of a template: internal/emit/templated",
	"template-file":   "a folder of templates: cmd/dlpackgen",
	"invalid-backend": "TestErrorsInBackends",
	"yaml-size":       "internal/yaml",
}

// mistaken decodes a wrong config, and returns the findings, which all have a position and a hint.
func mistaken(t *testing.T, text string) []diag.Diagnostic {
	t.Helper()
	_, list := Decode(File, []byte(text), embedded(), targets.Table(), Choice{})
	found := list.Sorted()
	assert.NotEmpty(t, found, text)
	for _, d := range found {
		assert.Positive(t, d.Pos.Line*d.Pos.Col, "%s has no position:\n%s", d.Text, text)
		assert.NotEmpty(t, d.Hint, "%s has no hint:\n%s", d.Text, text)
	}
	return found
}

// lines returns the mistakes of a file, with \n for the line ends of a mistake.
func lines(t *testing.T, file string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		all = append(all, strings.ReplaceAll(strings.TrimSuffix(line, "\n"), `\n`, "\n"))
	}
	return all
}

// Every line of testdata/mistakes.txt is a wrong config; the golden file contains the findings.
// Mistakes for the codes of descriptions are in internal/kernel/contract.
func TestMistakesInConfigs(t *testing.T) {
	var out strings.Builder
	seen := map[string]int{}
	for _, text := range lines(t, "testdata/mistakes.txt") {
		found := mistaken(t, text)
		for _, d := range found {
			seen[d.Code]++
		}
		out.WriteString("== " + strings.ReplaceAll(text, "\n", "\n   ") + "\n" + diag.Text(found, false))
	}
	golden.Assert(t, "config/mistakes.txt", []byte(out.String()))
	golden.Orphans(t, "config", []string{"config/mistakes.txt"})
	for code, texts := range unreadable {
		for _, text := range texts {
			is := func(d diag.Diagnostic) bool { return d.Code == code }
			assert.True(t, slices.ContainsFunc(mistaken(t, text), is), "%s: %q", code, text)
			seen[code]++
		}
	}
	for _, title := range []string{"YAML files", "Configs"} {
		i := slices.IndexFunc(codes.Groups(), func(g codes.Group) bool { return g.Title == title })
		for _, e := range codes.Groups()[i].Entries {
			if elsewhereTested[e.Code] == "" {
				assert.GreaterOrEqual(t, seen[e.Code], enough, "mistakes that are reported as %s", e.Code)
			}
		}
	}
}

// unreadable are mistakes in YAML itself, most of them with invisible characters.
var unreadable = map[string][]string{
	"yaml-alias":     each("a: &x 1\nb: *x", "a: &x {}\nb: [*x]", "- &x 1\n- *x", "a: &x 1\nb: {c: *x}", "a: &x [*x]"),
	"yaml-anchor":    each("version: &a 1", "targets: &a {c: {}}", "a: [&a 1]", "a: {b: &a 1}", "out: &a x"),
	"yaml-break":     each("a: \u0085", "a: \u2028b", "a: \u2029b", "# \u2028", "a: 'b\u0085c'"),
	"yaml-control":   each("a: \x01", "a: '\x02'", "# \x7f", "a: \x1b[0m", "a: b\x08"),
	"yaml-documents": each("a: 1\n---\nb: 1", "--- 1\n--- 2", "a: 1\n---\n", "a: 1\n...\n---\nb: 2", "---\na\n---\nb"),
	"yaml-empty":     each("", "# nothing\n", "\n\n", "# a\n# b\n", "\r\n"),
	"yaml-key":       each("[a]: 1", "{a: b}: 1", "? [a]\n: 1", "a: {[b]: 1}", "a: {{b: 1}: 1}"),
	"yaml-merge":     each("<<: {a: 1}", "a: {<<: {b: 1}}", "a:\n  <<: {b: 1}", "kernels: {<<: {}}", "<<: x"),
	"yaml-nul":       each("a: \x00", "\x00", "version: 1\x00", "# \x00", "a: '\x00'"),
	"yaml-syntax":    each("a: [", "a: b: c", "a: 'b", "a: {b: T[n]}", "a:\n  - b\n c: d"),
	"yaml-tab":       each("a:\tb", "\ta: b", "a: b\t", "a:\n\tb: c", "kernels:\t{}"),
	"yaml-tag":       each("a: !!str 1", "a: !b c", "!!map {a: 1}", "a: [!!int 1]", "a: {b: !c d}"),
	"yaml-utf8":      each("a: \xff", "\xc3\x28", "a: '\xe2\x82'", "# \xfe", "a\xff: b"),
}

func each(texts ...string) []string { return texts }

// Each key of a config has mistakes: rows whose finding is in the key's entry, or names the key.
func TestEveryKeyOfAConfigHasMistakes(t *testing.T) {
	seen := map[string]int{}
	for _, text := range lines(t, "testdata/mistakes.txt") {
		for key := range mistakenKeys(text, mistaken(t, text)) {
			seen[key]++
		}
	}
	for _, key := range keysOfConfigs(t) {
		assert.GreaterOrEqual(t, seen[key], enough, key)
	}
}

func TestMistakesCountForTheirKey(t *testing.T) {
	for text, want := range map[string]string{
		"version: 2\ntargets: {c: {}}\ndlpack: 1.3":           "version",
		"version: 1\ntargets: {c: {path: [a]}}\nout: gen":     "targets",
		"version: 1\ntargets: {c: {}}\nout: /a\nprefix: 'A'":  "out prefix",
		"version: 1\n# out: /a, prefix: A\ntargets: {gp: {}}": "targets",
	} {
		got := slices.Collect(maps.Keys(mistakenKeys(text, mistaken(t, text))))
		assert.ElementsMatch(t, strings.Fields(want), got, text)
	}
}

// keysOfConfigs are the top-level keys of the schema.
func keysOfConfigs(t *testing.T) []string {
	t.Helper()
	var schema struct{ Properties map[string]any }
	require.NoError(t, json.Unmarshal(schemaSource, &schema))
	require.Contains(t, schema.Properties, "targets")
	return slices.Collect(maps.Keys(schema.Properties))
}

// mistakenKeys are the top-level keys of a config whose entries have a finding.
func mistakenKeys(text string, found []diag.Diagnostic) map[string]bool {
	keys := map[string]bool{}
	root := yaml.Parse(File, []byte(text), &diag.List{})
	if root == nil {
		return keys
	}
	for _, d := range found {
		key := ""
		for _, e := range root.Entries {
			if at := e.Key.Pos(); at.Line < d.Pos.Line || at.Line == d.Pos.Line && at.Col <= d.Pos.Col {
				key = e.Key.Value
			}
		}
		keys[key] = true
	}
	return keys
}

// Each target, and each of its options, has mistakes.
func TestEveryTargetAndOptionHasMistakes(t *testing.T) {
	for _, row := range targets.All() {
		for _, settings := range []string{
			"3", "[a]", "yes", "{pth: x}", "{path: /x}", "{path: ../x}", "{path: [a]}", "{dlpack: 9.9}",
			"{dlpack: {a: b}}",
		} {
			mistaken(t, fmt.Sprintf("version: 1\ntargets: {%s: %s}\n", row.Name, settings))
		}
		for _, o := range row.Options {
			for _, value := range wrongValues(o) {
				mistaken(t, fmt.Sprintf("version: 1\ntargets: {%s: {%s: %s}}\n", row.Name, o.Name, value))
			}
		}
	}
}

// wrongValues are values that options of each kind reject.
func wrongValues(o emit.Option) []string {
	if o.Bool {
		return each("1", "yes", `"true"`, "[true]", "{true: true}", "")
	}
	return each("3", "true", "[a]", "{a: b}", "", "1.5")
}

// whole is a config with each key that accepts a text, marked by angle quotes.
const whole = `version: 1
dlpack: "1.3"
out: «gen»
targets:
  c: {path: «c»}
  kernels: {path: «kernels»}
  python: {module: «_mylib», path: «python»}
  go: {package: «tensors», import: «example.com/a»}
  mine: {templates: «mine»}
devices:
  kDLAcme: {value: 1000, doc: «Memory of Acme.», streams: «cuda», torch: «PrivateUse1»}
kernels:
  f:
    namespace: «acme»
    doc: «Adds.»
    types: {T: {float32: «f», float64: «d»}}
    args: {x: «T[n]», by: «int = 1»}
    returns: {y: «T[n]»}
    where: [«n > 0»]
    symbol: «acme_f_{T}»
    devices: {kDLCPU: {symbol: «acme_cpu_{T}»}}
    error: «acme_error»
    errors: {3: {raise: «IndexError», arg: «x», text: «an index is out of range»}}
    form: «function»
    gil: «held»
    lang: «c»
    batch: «none»
    backward: {kernel: «f_backward», saves: [«x»], of: [«x»]}
    test: {reference: «a.b:c», sizes: {n: [3]}, tolerance: {float32: 0.5}}
`

var marked = regexp.MustCompile("«[^»]*»")

// A value that is neither a YAML string nor valid as one is one mistake, at its place.
func TestAMistakeHasOneFinding(t *testing.T) {
	count := 0
	for i := range marked.FindAllString(whole, -1) {
		for _, odd := range []string{"true", "12", "", "~", "no", "1.5", "1e3", `""`, "2020-01-02", "a b c", "é"} {
			seen := -1
			text := marked.ReplaceAllStringFunc(whole, func(value string) string {
				if seen++; seen == i {
					return odd
				}
				return strconv.Quote(strings.Trim(value, "«»"))
			})
			_, list := Decode("dlpackgen.yaml", []byte(text), embedded(), targets.Table(), Choice{})
			at := map[diag.Pos]string{}
			for _, d := range list.Sorted() {
				assert.Empty(t, at[d.Pos], "%s\n%s", d.Text, text)
				at[d.Pos], count = d.Text, count+1
			}
		}
	}
	assert.Greater(t, count, 100)
}
