package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/codes"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// Each example produces the code that it explains, and its output is the command's. With -update,
// the outputs are rewritten.
func TestExamplesOfCodesLeadToThem(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the command for each code, and -short was given")
	}
	testtool.Require(t, "gcc", "gcc")
	start := startFolder(t)
	outputs := map[string]string{}
	var writes sync.Mutex
	t.Run("codes", func(t *testing.T) {
		for _, e := range codes.All() {
			if e.Example == nil {
				continue
			}
			t.Run(e.Code, func(t *testing.T) {
				t.Parallel()
				for _, tool := range neededBy(e.Example) {
					testtool.Require(t, tool, tool)
				}
				out := exampleOutput(t, start, e.Example)
				assert.Regexp(t, reports(e.Code), out)
				writes.Lock()
				defer writes.Unlock()
				outputs[e.Code] = out
				if !golden.Updates() {
					assert.Equal(t, e.Example.Output, out)
				}
			})
		}
	})
	if golden.Updates() {
		rewrite(t, outputs)
	}
}

// reports matches a finding with a code, or a change with a rule.
func reports(code string) string {
	return `(?m)\[` + code + `\]$|^(breaking|source-breaking|additive) +` + code + ` `
}

// neededBy lists the programs of an example that only some machines have.
func neededBy(e *codes.Example) (tools []string) {
	for _, tool := range []string{"clang-16", "flock"} {
		if strings.Contains(e.Input, tool+" ") {
			tools = append(tools, tool)
		}
	}
	return tools
}

func TestOnlyTheRightCodeIsReported(t *testing.T) {
	const finding, change = "a.yaml:1:1: error: no [no-doc]\n", "breaking  flag-bit  F  a flag: 0 -> 1\n"
	assert.Regexp(t, reports("no-doc"), finding)
	assert.Regexp(t, reports("flag-bit"), change)
	assert.NotRegexp(t, reports("doc"), finding)
	assert.NotRegexp(t, reports("flag"), change)
	assert.NotRegexp(t, reports("F"), change)
}

// startFolder is the initial folder of the examples for a shell.
func startFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	runShell(t, dir, "dlpackgen init && dlpackgen generate --quiet")
	return dir
}

func exampleOutput(t *testing.T, start string, e *codes.Example) string {
	t.Helper()
	if e.Language == "yaml" {
		return diag.Text(vetSource("example.yaml", []byte(e.Input)), false)
	}
	dir := filepath.Join(t.TempDir(), "example")
	require.NoError(t, os.CopyFS(dir, os.DirFS(start)))
	return runShell(t, dir, e.Input)
}

// runShell runs lines with one build of the tool, in a folder that the output names /project.
func runShell(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DLPACKGEN_TEST_VERSION=v0.1.0",
		"DLPACKGEN_TEST_DIGEST=fedcba9876543210")
	out, err := cmd.CombinedOutput()
	if failed := (&exec.ExitError{}); err != nil {
		require.ErrorAs(t, err, &failed, "%s", out)
	}
	return strings.ReplaceAll(string(out), dir, "/project")
}

func rewrite(t *testing.T, outputs map[string]string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(golden.Root(t), "internal", "codes", "text", "*.md"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		fresh := ""
		for _, section := range strings.SplitAfter(string(text), "\n\n## ") {
			fresh += withOutput(section, outputs)
		}
		require.NoError(t, os.WriteFile(file, []byte(fresh), 0o644))
	}
}

// withOutput replaces the output of a section, which begins with its code.
func withOutput(section string, outputs map[string]string) string {
	code, _, _ := strings.Cut(section, "\n")
	out, ok := outputs[code]
	if !ok {
		return section
	}
	head, rest, _ := strings.Cut(section, "```\n")
	fresh := head + "```\n\n```text\n" + out + "```\n"
	if strings.HasSuffix(rest, "\n## ") {
		fresh += "\n## "
	}
	return fresh
}
