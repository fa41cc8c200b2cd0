// Package ci runs the parts of this repository for other projects' checks and packages: hooks of
// pre-commit, the GitHub action, the GitLab job, and the recipes of Conan and vcpkg. It contains
// only tests.
package ci

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m, "ci")) }

// tool finds a program of tests/requirements-ci.txt, or skips the test.
func tool(t *testing.T, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts Python's tools: left to make test")
	}
	path := filepath.Join(golden.Root(t), ".cache/ci/bin", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs %s in .cache/ci: make setup", name)
	}
	return path
}

// run runs a program that must end with a code, with dlpackgen in PATH if it is built, and returns
// both outputs.
func run(t *testing.T, dir string, code int, name string, args ...string) string {
	t.Helper()
	return runIn(t, dir, code, nil, name, args...)
}

func runIn(t *testing.T, dir string, code int, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	require.Equal(t, code, cmd.ProcessState.ExitCode(), "%s %v: %v\n%s", name, args, err, out)
	return string(out)
}

// path is the variable PATH with dlpackgen first.
func path(t *testing.T) string {
	t.Helper()
	return "PATH=" + filepath.Dir(testkit.Program(t, "")) + ":" + os.Getenv("PATH")
}

const config = "version: 1\ndlpack: \"1.3\"\ntargets: {c: {path: inc}}\n"

// project is a folder with a config and its generated files.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dlpackgen.yaml"), []byte(config), 0o600))
	run(t, dir, 0, testkit.Program(t, ""), "generate")
	return dir
}

func TestFilesForHostsFollowTheirSchemas(t *testing.T) {
	check, root := tool(t, "check-jsonschema"), golden.Root(t)
	for schema, files := range map[string][]string{
		"vendor.github-actions":      {"action.yml"},
		"vendor.github-workflows":    {"examples/ci/github.yml"},
		"vendor.gitlab-ci":           {"examples/ci/gitlab.yml"},
		"vendor.github-issue-forms":  {".github/ISSUE_TEMPLATE/bug.yml", ".github/ISSUE_TEMPLATE/feature.yml"},
		"vendor.github-issue-config": {".github/ISSUE_TEMPLATE/config.yml"},
	} {
		run(t, root, 0, check, append([]string{"--builtin-schema", schema}, files...)...)
		bad := filepath.Join(t.TempDir(), "bad.yml")
		require.NoError(t, os.WriteFile(bad, []byte("jobs: {x: 1}\nruns: 1\nstages: 1\n"), 0o600))
		run(t, root, 1, check, "--builtin-schema", schema, bad)
	}
	dir := t.TempDir() // the workflow of init
	run(t, dir, 0, testkit.Program(t, ""), "init", "--project", "mylib")
	run(t, dir, 0, check, "--builtin-schema", "vendor.github-workflows", "mylib/.github/workflows/test.yml")
}

// mistakesOfPowerShell prints the positions in a script that PowerShell's grammar rejects.
const mistakesOfPowerShell = `
import sys, tree_sitter, tree_sitter_powershell
script = open(sys.argv[1], "rb").read()
parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_powershell.language()))
waiting = [parser.parse(script).root_node]
while waiting:
    node = waiting.pop()
    waiting += node.children
    if node.is_error or node.is_missing:
        print(node.start_point[0] + 1, node.type)
`

// No package registry of these tests has PowerShell itself. Its grammar accepts the completion
// script, and rejects one with a missing brace.
func TestTheCompletionsOfPowerShellParse(t *testing.T) {
	python := tool(t, "python")
	if !testtool.Has(python, "tree_sitter_powershell") {
		t.Skip("needs tree-sitter-powershell in .cache/ci: make setup")
	}
	dir := t.TempDir()
	script := run(t, dir, 0, testkit.Program(t, ""), "completion", "powershell")
	require.Contains(t, script, "Register-ArgumentCompleter")
	script = strings.TrimRight(script, "\n") + "\n"
	for text, want := range map[string]string{script: `^$`, strings.TrimSuffix(script, "}\n"): `\d+ `} {
		file := filepath.Join(dir, "dlpackgen.ps1")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		assert.Regexp(t, want, run(t, dir, 0, python, "-c", mistakesOfPowerShell, file))
	}
	assert.Contains(t, run(t, dir, 0, testkit.Program(t, ""), "__complete", "gen"), "generate\t",
		"the calls of the script")
}

// The hooks of the manifest pass. A lost file or an invalid config makes them fail.
func TestPreCommitRunsTheHooks(t *testing.T) {
	hook, env := tool(t, "pre-commit"), []string{path(t), "PRE_COMMIT_HOME=" + t.TempDir(),
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	git := func(dir string, args ...string) string {
		return strings.TrimSpace(runIn(t, dir, 0, env, testtool.Require(t, "git", "git"), args...))
	}
	hooks := t.TempDir()
	manifest, err := os.ReadFile(filepath.Join(golden.Root(t), ".pre-commit-hooks.yaml"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(hooks, ".pre-commit-hooks.yaml"), manifest, 0o600))
	git(hooks, "init", "-q")
	git(hooks, "add", "-A")
	git(hooks, "commit", "-qm", "Hooks")

	dir := project(t)
	uses := "repos:\n- repo: " + hooks + "\n  rev: " + git(hooks, "rev-parse", "HEAD") +
		"\n  hooks: [{id: dlpackgen-vet}, {id: dlpackgen-check}, {id: dlpackgen-generate}]\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".pre-commit-config.yaml"), []byte(uses), 0o600))
	git(dir, "init", "-q")
	git(dir, "add", "-A")
	runIn(t, dir, 0, env, hook, "run", "--all-files")

	require.NoError(t, os.Remove(filepath.Join(dir, "inc/dlpack/dlpack.h")))
	out := runIn(t, dir, 1, env, hook, "run", "--all-files", "dlpackgen-check")
	assert.Contains(t, out, "inc/dlpack/dlpack.h: error: is missing [missing]")
	out = runIn(t, dir, 1, env, hook, "run", "--all-files", "dlpackgen-generate")
	assert.Contains(t, out, "files were modified by this hook")
	assert.FileExists(t, filepath.Join(dir, "inc/dlpack/dlpack.h"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dlpackgen.yaml"), []byte("version: 2\n"), 0o600))
	out = runIn(t, dir, 1, env, hook, "run", "--all-files", "dlpackgen-vet")
	assert.Contains(t, out, "[config-version]")
}

// stepOf prints the script of a step of action.yml.
const stepOf = `import sys, yaml
for step in yaml.safe_load(open(sys.argv[1]))["runs"]["steps"]:
    if step["id"] == sys.argv[2]: print(step["run"])
`

// The steps of the action annotate, write SARIF, and fail for findings.
func TestTheActionChecks(t *testing.T) {
	python, dir := tool(t, "python"), project(t)
	step := func(code int, id string) string {
		script := run(t, golden.Root(t), 0, python, "-c", stepOf, "action.yml", id)
		return runIn(t, dir, code, []string{path(t), "ARGUMENTS=./...", "SARIF=out.sarif"}, "bash", "-eo", "pipefail",
			"-c",
			script)
	}
	require.Empty(t, step(0, "check"))
	require.NoError(t, os.Remove(filepath.Join(dir, "inc/dlpack/dlpack.h")))
	step(0, "sarif")
	var log struct {
		Runs []struct{ Results []struct{ RuleID string } }
	}
	data, err := os.ReadFile(filepath.Join(dir, "out.sarif"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &log))
	require.Len(t, log.Runs, 1)
	require.Len(t, log.Runs[0].Results, 1)
	assert.Equal(t, "missing", log.Runs[0].Results[0].RuleID)
	assert.Contains(t, step(1, "check"), "::error file=inc/dlpack/dlpack.h,title=missing::")
}

// scriptOf prints the script of the GitLab job.
const scriptOf = `import sys, yaml
print("\n".join(yaml.safe_load(open(sys.argv[1]))["dlpackgen"]["script"]))
`

// The GitLab job writes a code quality report, and fails like the check.
func TestTheJobForGitLabReports(t *testing.T) {
	testtool.Require(t, "jq", "jq")
	python, dir := tool(t, "python"), project(t)
	script := run(t, golden.Root(t), 0, python, "-c", scriptOf, "examples/ci/gitlab.yml")
	require.NoError(t, os.Remove(filepath.Join(dir, "inc/dlpack/dlpack.h")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "inc/dlpackgen/rules.h"), nil, 0o600))
	runIn(t, dir, 1, []string{path(t)}, "bash", "-eo", "pipefail", "-c", script)
	data, err := os.ReadFile(filepath.Join(dir, "gl-code-quality-report.json"))
	require.NoError(t, err)
	var issues []struct {
		Description, Fingerprint, Severity string
		CheckName                          string `json:"check_name"`
		Location                           struct {
			Path  string
			Lines struct{ Begin int }
		}
	}
	require.NoError(t, json.Unmarshal(data, &issues))
	require.Len(t, issues, 2)
	assert.Equal(t, []any{"missing", "inc/dlpack/dlpack.h", 1, "major", "is missing"}, []any{issues[0].CheckName,
		issues[0].Location.Path, issues[0].Location.Lines.Begin, issues[0].Severity, issues[0].Description})
	assert.NotEqual(t, issues[0].Fingerprint, issues[1].Fingerprint)
}

// packaged copies the sources of the recipes.
func packaged(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, part := range []string{"packaging", "gen/c", "gen/cpp"} {
		require.NoError(t, os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join(golden.Root(t), part))))
	}
	licence, err := os.ReadFile(filepath.Join(golden.Root(t), "LICENSE-OUTPUT"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "LICENSE-OUTPUT"), licence, 0o600))
	return dir
}

// conan create builds the package, and its test compiles C and C++ with it, without a server.
func TestConanCreatesThePackage(t *testing.T) {
	conan, dir := tool(t, "conan"), packaged(t)
	testtool.Require(t, "g++", "g++")
	env := []string{"CONAN_HOME=" + t.TempDir()}
	runIn(t, dir, 0, env, conan, "profile", "detect")
	out := runIn(t, dir, 0, env, conan, "create", "packaging/conan", "--no-remote")
	assert.Contains(t, out, "test.cpp.out")
	require.NoError(t, os.Remove(filepath.Join(dir, "gen/c/dlpackgen/rules.h")))
	runIn(t, dir, 1, env, conan, "create", "packaging/conan", "--no-remote")
}

// standIns replace the vcpkg functions that the port calls. vcpkg itself is not run.
const standIns = `
function(vcpkg_from_github)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_SOURCE_PATH;REPO;REF;SHA512;HEAD_REF" "")
  set(${arg_OUT_SOURCE_PATH} "${ROOT}" PARENT_SCOPE)
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  file(INSTALL ${arg_FILE_LIST} DESTINATION "${CURRENT_PACKAGES_DIR}/share")
endfunction()
include("${ROOT}/packaging/vcpkg/dlpackgen-headers/portfile.cmake")
`

func TestTheVcpkgPortInstallsTheHeaders(t *testing.T) {
	cmake, dir := testtool.Require(t, "cmake", "cmake"), packaged(t)
	script := filepath.Join(dir, "run.cmake")
	require.NoError(t, os.WriteFile(script, []byte(standIns), 0o600))
	run(t, dir, 0, cmake, "-DROOT="+dir, "-DCURRENT_PACKAGES_DIR="+dir+"/made", "-P", script)
	for _, file := range []string{"include/dlpack/dlpack.h", "include/dlpackgen/rules.h", "include/dlpackgen/all.hpp",
		"share/LICENSE-OUTPUT"} {
		assert.FileExists(t, filepath.Join(dir, "made", file))
	}
	data, err := os.ReadFile(filepath.Join(dir, "packaging/vcpkg/dlpackgen-headers/vcpkg.json"))
	require.NoError(t, err)
	require.True(t, json.Valid(data))
}
