package diag

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func decode(t *testing.T, data []byte) map[string]any {
	t.Helper()
	var v map[string]any
	require.NoError(t, json.Unmarshal(data, &v), "%s", data)
	return v
}

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "docs", "schema", "diagnostics.json"))
	require.NoError(t, err)
	return s
}

func TestJSONObeysItsSchema(t *testing.T) {
	for name, findings := range map[string][]Diagnostic{"none": nil, "some": sample()} {
		t.Run(name, func(t *testing.T) {
			doc := decode(t, JSON(findings))
			require.NoError(t, schema(t).Validate(doc))
			assert.EqualValues(t, 1, doc["version"])
			assert.Len(t, doc["findings"], len(findings))
		})
	}
	first := decode(t, JSON(sample()))["findings"].([]any)[0]
	assert.Equal(t, map[string]any{
		"severity": "error", "code": "unknown-key", "file": "conf,ig:1.yaml", "line": 4.0, "column": 3.0,
		"text": `unknown key "pth"`, "hint": `did you mean "path"?`, "source": "  pth: gen/c",
	}, first)
}

func TestSchemaRejectsWhatJSONNeverPrints(t *testing.T) {
	for _, doc := range []string{
		`{}`, `{"version":2,"findings":[]}`, `{"version":1}`, `{"version":1,"findings":[],"x":1}`,
		`{"version":1,"findings":[{"severity":"fatal","code":"a","text":"b"}]}`,
		`{"version":1,"findings":[{"severity":"error","code":"A B","text":"b"}]}`,
		`{"version":1,"findings":[{"severity":"error","code":"a","text":"b","line":3}]}`,
		`{"version":1,"findings":[{"severity":"error","code":"a","text":"b","file":"f","line":0,"column":1}]}`,
	} {
		assert.Error(t, schema(t).Validate(decode(t, []byte(doc))), doc)
	}
}

func TestGitHubEscapes(t *testing.T) {
	want := "" +
		`::error file=conf%2Cig%3A1.yaml,line=4,col=3,title=unknown-key::unknown key "pth"%0Ahint: did you mean "path"?
::warning file=gen/c/old.h,title=orphaned::100%25 ours,%0D%0Abut not planned
::notice title=file-not-found::nothing: to see
`
	assert.Equal(t, want, GitHub(sample()))
}

// A runner decodes %XX in properties, so names that contain it must be escaped.
func TestGitHubEscapesEachSignOfAProperty(t *testing.T) {
	for sign, want := range map[string]string{"%": "%25", "%2C": "%252C", "\r": "%0D", "\n": "%0A", ":": "%3A",
		",": "%2C"} {
		d := Diagnostic{Code: "c" + sign, Pos: Pos{File: "f" + sign + "g"}, Text: "t"}
		assert.Equal(t, "::error file=f"+want+"g,title=c"+want+"::t\n", GitHub([]Diagnostic{d}))
	}
}

// A runner displays the colours of a log.
func TestGitHubShowsControlCharactersEscaped(t *testing.T) {
	d := Diagnostic{Code: "c", Pos: Pos{File: "f\x1b[2Jg"}, Text: "a\x1b[31m\nb\x07", Hint: "\x1bc"}
	assert.Equal(t, `::error file=f\u001b[2Jg,title=c::a\u001b[31m%0Ab\u0007%0Ahint: \u001bc`+"\n",
		GitHub([]Diagnostic{d}))
}

func TestGitHubGivesOneLinePerFinding(t *testing.T) {
	evil := Diagnostic{Code: "a\n::set-env::b", Pos: Pos{"f\r\n::stop", 1, 1}, Text: "x\n::error::y", Hint: "\n::z"}
	assert.Equal(t, 1, strings.Count(GitHub([]Diagnostic{evil}), "\n"))
}

func TestSARIFHasTheShapeOf210(t *testing.T) {
	log := decode(t, SARIF(sample(), "0.1.0", about))
	assert.Equal(t, "2.1.0", log["version"])
	assert.Contains(t, log["$schema"], "sarif-2.1.0")
	run := log["runs"].([]any)[0].(map[string]any)
	driver := run["tool"].(map[string]any)["driver"].(map[string]any)
	assert.Equal(t, "dlpackgen", driver["name"])
	assert.Equal(t, "0.1.0", driver["version"])
	rules := driver["rules"].([]any)
	results := run["results"].([]any)
	require.Len(t, results, len(sample()))
	for i, d := range sample() {
		result := results[i].(map[string]any)
		assert.Equal(t, d.Code, result["ruleId"])
		assert.Equal(t, d.Code, rules[int(result["ruleIndex"].(float64))].(map[string]any)["id"])
		assert.Equal(t, d.Severity.String(), result["level"])
		assert.Contains(t, result["message"].(map[string]any)["text"], d.Text)
		_, located := result["locations"]
		assert.Equal(t, d.Pos.File != "", located)
	}
}

// about describes a code of the sample.
func about(code string) Rule {
	if code != "unknown-key" {
		return Rule{}
	}
	return Rule{Short: "A key is not known.", Full: "A key is not known. It would change nothing.", Help: "Correct it."}
}

func TestSARIFDescribesRules(t *testing.T) {
	run := decode(t, SARIF(sample(), "0.1.0", about))["runs"].([]any)[0].(map[string]any)
	for _, r := range run["tool"].(map[string]any)["driver"].(map[string]any)["rules"].([]any) {
		rule := r.(map[string]any)
		if rule["id"] != "unknown-key" {
			assert.Len(t, rule, 1, "%s is missing", rule["id"])
			continue
		}
		assert.Equal(t, map[string]any{
			"id":               "unknown-key",
			"shortDescription": map[string]any{"text": "A key is not known."},
			"fullDescription":  map[string]any{"text": "A key is not known. It would change nothing."},
			"help":             map[string]any{"text": "Correct it."},
		}, rule)
	}
}

func TestSARIFWithoutFindingsIsStillALog(t *testing.T) {
	run := decode(t, SARIF(nil, "0.1.0", about))["runs"].([]any)[0].(map[string]any)
	assert.Equal(t, []any{}, run["results"], "null means: the tool did not run")
}

func TestSARIFColumnsCountCodePoints(t *testing.T) {
	for col, want := range map[int]int{1: 1, 3: 2, 4: 3, 99: 4} {
		d := Diagnostic{Pos: Pos{"f", 1, col}, Source: "éab"}
		assert.Equal(t, want, codePoint(d), "byte column %d", col)
	}
	assert.Equal(t, 7, codePoint(Diagnostic{Pos: Pos{"f", 1, 7}}), "without the line, bytes are the best guess")
}

func TestFileURI(t *testing.T) {
	for name, want := range map[string]string{
		"gen/a b.h": "gen/a%20b.h", "/abs/x.h": "file:///abs/x.h",
		`C:\work\x.h`: "file:///C:/work/x.h", `gen\x.h`: "gen/x.h", "x#y?.h": "x%23y%3F.h",
	} {
		assert.Equal(t, want, fileURI(name))
	}
}

func TestMachineFormatsLeaveOutHugeLines(t *testing.T) {
	huge := Diagnostic{Code: "c", Pos: Pos{"f", 1, 4000}, Text: "t", Source: strings.Repeat("é", 2000)}
	all := []Diagnostic{huge}
	for name, out := range map[string][]byte{"json": JSON(all), "sarif": SARIF(all, "", about)} {
		assert.Less(t, len(out), 1000, name)
	}
	assert.Equal(t, 2001, codePoint(huge), "the column still counts in the whole line")
}
