package diag

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dlpackgen/dlpackgen/internal/jsontext"
)

// jsonVersion is the version of every JSON document that the command prints.
const jsonVersion = 1

type jsonReport struct {
	Version  int           `json:"version"`
	Findings []jsonFinding `json:"findings"`
}

type jsonFinding struct {
	Severity string `json:"severity"`
	Code     string `json:"code"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Text     string `json:"text"`
	Hint     string `json:"hint,omitempty"`
	Source   string `json:"source,omitempty"`
}

// JSON renders findings as docs/schema/diagnostics.json describes: line and
// column count from 1, the column counts bytes.
func JSON(findings []Diagnostic) []byte {
	report := jsonReport{Version: jsonVersion, Findings: []jsonFinding{}}
	for _, d := range findings {
		report.Findings = append(report.Findings, jsonFinding{
			Severity: d.Severity.String(), Code: d.Code,
			File: d.Pos.File, Line: d.Pos.Line, Column: d.Pos.Col,
			Text: d.Text, Hint: d.Hint, Source: shown(d),
		})
	}
	return jsontext.Of(report)
}

// maxSource is the length beyond which a source line is omitted, because many findings may share
// one line of megabytes.
const maxSource = 1000

func shown(d Diagnostic) string {
	if len(d.Source) > maxSource {
		return ""
	}
	return d.Source
}

// GitHub renders findings as workflow commands, one line each.
func GitHub(findings []Diagnostic) string {
	var b strings.Builder
	for _, d := range findings {
		text := d.Text
		if d.Hint != "" {
			text += "\nhint: " + d.Hint
		}
		fmt.Fprintf(&b, "::%s %s::%s\n", gitHubCommand(d.Severity), gitHubProperties(d),
			gitHubData.Replace(visibleLines(text)))
	}
	return b.String()
}

// gitHubData and gitHubProperty are the escapes of GitHub's workflow commands. A message may
// contain colons and commas, a property may not.
var (
	gitHubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	gitHubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// visibleLines is visible but for line ends, which the runner decodes. A log is shown in colours.
func visibleLines(s string) string {
	var b strings.Builder
	for s != "" {
		end := strings.IndexAny(s, "\r\n")
		if end < 0 {
			return b.String() + visible(s)
		}
		b.WriteString(visible(s[:end]) + s[end:end+1])
		s = s[end+1:]
	}
	return b.String()
}

func gitHubCommand(s Severity) string {
	if s == Note {
		return "notice"
	}
	return s.String()
}

func gitHubProperties(d Diagnostic) string {
	var props []string
	if d.Pos.File != "" {
		props = append(props, "file="+gitHubProperty.Replace(visibleLines(d.Pos.File)))
	}
	if d.Pos.Line > 0 {
		props = append(props, fmt.Sprintf("line=%d,col=%d", d.Pos.Line, d.Pos.Col))
	}
	return strings.Join(append(props, "title="+gitHubProperty.Replace(d.Code)), ",")
}

// The subset of SARIF 2.1.0 for findings.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string     `json:"id"`
		Short *sarifText `json:"shortDescription,omitempty"`
		Full  *sarifText `json:"fullDescription,omitempty"`
		Help  *sarifText `json:"help,omitempty"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int        `json:"startLine"`
		StartColumn int        `json:"startColumn"`
		Snippet     *sarifText `json:"snippet,omitempty"`
	}
)

// Rule describes a code for SARIF: a summary, a full description, and help. Empty texts are
// omitted.
type Rule struct {
	Short, Full, Help string
}

// SARIF renders findings as one SARIF 2.1.0 log of one run of the tool. about describes a code.
func SARIF(findings []Diagnostic, toolVersion string, about func(code string) Rule) []byte {
	rules := ruleIDs(findings)
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "dlpackgen", Version: toolVersion, Rules: []sarifRule{}}
	for _, id := range rules {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(id, about(id)))
	}
	for _, d := range findings {
		run.Results = append(run.Results, sarifResult{
			RuleID: d.Code, RuleIndex: slices.Index(rules, d.Code), Level: d.Severity.String(),
			Message: sarifText{Text: sarifMessage(d)}, Locations: sarifLocations(d),
		})
	}
	return jsontext.Of(sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0", Runs: []sarifRun{run},
	})
}

func sarifRuleOf(id string, r Rule) sarifRule {
	return sarifRule{ID: id, Short: sarifTextOf(r.Short), Full: sarifTextOf(r.Full), Help: sarifTextOf(r.Help)}
}

// sarifTextOf returns nil for no text, which SARIF leaves out.
func sarifTextOf(text string) *sarifText {
	if text == "" {
		return nil
	}
	return &sarifText{Text: text}
}

// ruleIDs returns the codes in use, sorted, each once.
func ruleIDs(findings []Diagnostic) []string {
	var ids []string
	for _, d := range findings {
		ids = append(ids, d.Code)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func sarifMessage(d Diagnostic) string {
	if d.Hint == "" {
		return d.Text
	}
	return d.Text + "; " + d.Hint
}

func sarifLocations(d Diagnostic) []sarifLocation {
	if d.Pos.File == "" {
		return nil
	}
	loc := sarifLocation{sarifPhysical{Artifact: sarifArtifact{URI: fileURI(d.Pos.File)}}}
	if d.Pos.Line > 0 {
		loc.Physical.Region = &sarifRegion{StartLine: d.Pos.Line, StartColumn: codePoint(d)}
		if line := shown(d); line != "" {
			loc.Physical.Region.Snippet = &sarifText{Text: line}
		}
	}
	return []sarifLocation{loc}
}

// codePoint converts the byte column of a finding to a column in code points, for SARIF.
func codePoint(d Diagnostic) int {
	before := d.Source[:min(max(d.Pos.Col-1, 0), len(d.Source))]
	if d.Source == "" {
		return max(d.Pos.Col, 1)
	}
	return utf8.RuneCountInString(before) + 1
}

// fileURI converts a file name to a URI for SARIF: relative names stay relative, and a Windows
// drive becomes the first part of a path.
func fileURI(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	if len(name) > 1 && name[1] == ':' {
		name = "/" + name
	}
	if path.IsAbs(name) {
		return (&url.URL{Scheme: "file", Path: name}).String()
	}
	return (&url.URL{Path: name}).String()
}
