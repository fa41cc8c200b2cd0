package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/targets"
)

// commands are the user-visible commands.
func commands(t *testing.T) []*cobra.Command {
	t.Helper()
	var out []*cobra.Command
	for _, c := range (&app{stdout: &sink{w: &bytes.Buffer{}}, stderr: &bytes.Buffer{}}).root().Commands() {
		if c.Name() != "help" && !c.Hidden {
			out = append(out, c)
		}
	}
	require.Len(t, out, 14)
	return out
}

func TestEveryCommandHasHelp(t *testing.T) {
	for _, c := range commands(t) {
		assert.NotEmpty(t, c.Short, c.Name())
		assert.NotEmpty(t, c.Long, c.Name())
		assert.Contains(t, c.Example, "dlpackgen "+c.Name(), c.Name())
		var out, errs bytes.Buffer
		assert.Equal(t, exitFine, Main([]string{c.Name(), "--help"}, &out, &errs))
		assert.Contains(t, out.String(), "Exit code:", c.Name())
		for _, e := range exitCodes {
			assert.Regexp(t, fmt.Sprintf("(?m)^  %d  %s$", e.code, regexp.QuoteMeta(e.when)), out.String(), c.Name())
			assert.Contains(t, commandTextOf(c).Long, fmt.Sprintf("**%d** %s\n", e.code, e.when), c.Name())
		}
		assert.Empty(t, errs.String())
	}
}

var quoted = regexp.MustCompile(`'[^']*'`)

// TestExamplesParse parses the flags of each example, so that help texts contain no renamed flags.
func TestExamplesParse(t *testing.T) {
	for _, c := range commands(t) {
		for _, line := range strings.Split(c.Example, "\n") {
			_, command, found := strings.Cut(line, "dlpackgen "+c.Name())
			require.True(t, found, line)
			command, _, _ = strings.Cut(command, "&&")
			args := strings.Fields(quoted.ReplaceAllString(command, "word"))
			assert.NoError(t, c.ParseFlags(args), line)
		}
	}
}

func TestDocsNameEveryCommandAndFlag(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "cli.md"))
	require.NoError(t, err)
	for _, c := range commands(t) {
		assert.Contains(t, string(doc), "\n## dlpackgen "+c.Name())
		c.Flags().VisitAll(func(f *pflag.Flag) {
			assert.Contains(t, string(doc), "`--"+f.Name, c.Name())
		})
	}
	for state := range states {
		assert.Contains(t, string(doc), "| `"+state.String()+"` |")
	}
	for _, target := range targets.All() {
		if target.Interface != "" {
			oneLine := strings.Join(strings.Fields(string(doc)), " ")
			assert.True(t, strings.Contains(oneLine,
				fmt.Sprintf("`%s` of `%s`", path.Base(target.Interface), target.Name)),
				target.Name)
		}
		for _, o := range target.Options {
			assert.Contains(t, string(doc), "    "+o.Name+": ", target.Name)
		}
	}
}

// TestTheExampleConfigsAreValid holds the configs of docs/cli.md to the decoder.
func TestTheExampleConfigsAreValid(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "cli.md"))
	require.NoError(t, err)
	blocks := strings.Split(string(doc), "```yaml\n")[1:]
	require.Len(t, blocks, 2)
	for _, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		dir := t.TempDir()
		lua := filepath.Join(dir, "tools", "lua") // the templates of the target of one's own
		require.NoError(t, os.MkdirAll(lua, 0o700))
		input(t, lua, "dlpack.lua.tmpl", []byte("return {}\n"))
		code, _, stderr := run(t, "vet", input(t, dir, "dlpackgen.yaml", []byte(text)))
		assert.Equal(t, exitFine, code, stderr)
	}
}

func TestGuardTurnsAPanicIntoAFinding(t *testing.T) {
	var stdout, stderr bytes.Buffer
	a := &app{stdout: &sink{w: &stdout}, stderr: &stderr}
	code := a.finish(guard(func() error { panic("the cat sat on the keys") }))
	assert.Equal(t, exitCannot, code)
	assert.Contains(t, stderr.String(),
		"dlpackgen: error: internal error: the cat sat on the keys [internal]\n    hint: ")
	assert.NotContains(t, stderr.String(), "goroutine")
	assert.NoError(t, guard(func() error { return nil }))
}

func TestFinishTakesErrorsOfOtherKinds(t *testing.T) {
	var stderr bytes.Buffer
	a := &app{stdout: &sink{w: &bytes.Buffer{}}, stderr: &stderr}
	assert.Equal(t, exitFine, a.finish(nil))
	assert.Equal(t, exitFindings, a.finish(&failure{code: exitFindings}))
	assert.Empty(t, stderr.String())
	assert.Equal(t, exitCannot, a.finish(errors.New("flags a and b exclude each other")))
	assert.Contains(t, stderr.String(), "dlpackgen: error: flags a and b exclude each other [usage]")
}

// broken is an output that takes a few bytes.
type broken struct{ room int }

func (b *broken) Write(p []byte) (int, error) {
	if b.room -= len(p); b.room < 0 {
		return 0, errors.New("no room")
	}
	return len(p), nil
}

func TestOutputThatFailsIsAFailure(t *testing.T) {
	for _, args := range [][]string{
		{"list", "types"}, {"list", "outputs", "--no-config", "--out", "x"}, {"layout"},
		{"compat", "0.8", "1.0", "--format", "json"}, {"completion", "bash"},
		{"generate", "--no-config", "--only", "c", "--out", "-"}, {"vet", "--format", "sarif"},
	} {
		var stderr bytes.Buffer
		assert.Equal(t, exitCannot, Main(args, &broken{room: 10}, &stderr), args)
		assert.Contains(t, stderr.String(), "write to stdout: no room [output]", args)
	}
}

func TestReportEndsWithOneForErrorsAlone(t *testing.T) {
	for severity, want := range map[diag.Severity]int{diag.Error: exitFindings, diag.Warning: exitFine,
		diag.Note: exitFine} {
		for _, format := range []string{"text", "json", "github", "sarif"} {
			a := &app{stdout: &sink{w: &bytes.Buffer{}}, stderr: &bytes.Buffer{}}
			err := a.report(&choice{value: format}, []diag.Diagnostic{{Severity: severity, Code: "c", Text: "t"}})
			assert.Equal(t, want, a.finish(err), "%s %s", severity, format)
		}
	}
}

func TestWantsColorNeedsATerminal(t *testing.T) {
	assert.False(t, wantsColor(&bytes.Buffer{}))
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	defer file.Close()
	assert.False(t, wantsColor(file))
}

func TestWriteFileFailsOnAFolder(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "taken")
	require.NoError(t, os.Mkdir(name, 0o700))
	assert.ErrorContains(t, writeFile(name, []byte("text")), name)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "no other file remains")
}

// TestSchemasReject shows that the schemas can fail: a schema that takes anything
// would make the scripts' checks empty.
func TestSchemasReject(t *testing.T) {
	for name, docs := range map[string][]string{
		"compat.json": {
			`{}`, `[]`, `{"version":1,"old":"1.2","new":"1.3","breaking":false}`,
			`{"version":2,"old":"1.2","new":"1.3","breaking":false,"changes":[]}`,
			`{"version":1,"old":"1.2","new":"1.3","breaking":false,"changes":[{"kind":"worse","rule":"a-b","name":"n","text":"t"}]}`,
			`{"version":1,"old":"1.2","new":"1.3","breaking":false,"changes":[],"more":1}`,
		},
		"config.json": {`{}`, `[]`, `{"version":1}`, `{"version":2,"targets":{"c":{}}}`,
			`{"version":1,"targets":{"d":{}}}`,
			`{"version":1,"targets":{"c":{}},"kernels":{"f":{"args":{"x":"T[n] wide"}}}}`},
		"layout.json": {`{}`, `[]`, `{"version":2}`},
		"list.json": {`{}`, `[]`, `{"version":1}`, `{"version":1,"versions":[],"targets":[]}`,
			`{"version":1,"types":[]}`,
			`{"version":1,"kernel":"f","callers":[{"target":"c","verdict":"maybe","reasons":[]}]}`},
		"outputs.json": {`{}`, `[]`, `{"version":1}`, `{"version":1,"configs":[{}]}`,
			`{"version":1,"config":"c","out":"a",` +
				`"inputs":[],"targets":[],"include_directories":[],"outputs":[]}`,
			`{"version":1,"out":"a","inputs":[],"targets":[],"include_directories":[],` +
				`"outputs":[{"path":"a/b","kind":"folder"}]}`},
		"diagnostics.json": {`{}`, `[]`, `{"version":1,"findings":[{}]}`},
	} {
		schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "docs", "schema", name))
		require.NoError(t, err)
		for _, doc := range docs {
			var value any
			require.NoError(t, json.Unmarshal([]byte(doc), &value))
			assert.Error(t, schema.Validate(value), "%s: %s", name, doc)
		}
	}
}
