// Package recipes runs the commands of README.md, CONTRIBUTING.md, the tutorials and the how-tos
// verbatim. It contains only tests.
package recipes

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(golden.Root(t), name))
	require.NoError(t, err)
	return string(text)
}

// block returns the text of the fenced block of a page that begins with ```info.
func block(t *testing.T, name, info string) string {
	t.Helper()
	_, after, found := strings.Cut(page(t, name), "\n```"+info+"\n")
	require.True(t, found, "%s has a block %q", name, info)
	text, _, closed := strings.Cut(after, "```\n")
	require.True(t, closed)
	return text
}

func howTo(t *testing.T, name, info string) string {
	t.Helper()
	return block(t, "docs/how-to/"+name, info)
}

var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "dlpackgen-recipes-")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", dir+string(filepath.Separator),
		"../../cmd/dlpackgen").CombinedOutput()
	if err != nil {
		return dir, &buildError{string(out), err}
	}
	return dir, nil
})

type buildError struct {
	printed string
	err     error
}

func (e *buildError) Error() string { return e.err.Error() + "\n" + e.printed }

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, _ := built(); dir != "" {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// project is a user's folder, with dlpackgen in the PATH of its commands.
type project struct {
	dir string
	env []string
}

func newProject(t *testing.T, files map[string]string) *project {
	t.Helper()
	bin, err := built()
	require.NoError(t, err)
	testtool.AddUnoptimized(t, bin)
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	p := &project{dir: t.TempDir(), env: os.Environ()}
	for name, text := range files {
		p.write(t, name, text)
	}
	return p
}

func (p *project) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

func (p *project) write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(p.path(name)), 0o755))
	require.NoError(t, os.WriteFile(p.path(name), []byte(text), 0o644))
}

func (p *project) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(p.path(name))
	require.NoError(t, err)
	return string(data)
}

// run returns the output of a command that must succeed.
func (p *project) run(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := p.try(argv...)
	require.NoError(t, err, "%v\n%s", argv, out)
	return out
}

// try returns the output of a command that may fail. It is looked up in the project's PATH.
func (p *project) try(argv ...string) (string, error) {
	cmd := exec.Command("env", argv...)
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestTheVerbsAreTheVerbsOfTheCommand(t *testing.T) {
	p := newProject(t, nil)
	_, listed, _ := strings.Cut(p.run(t, "dlpackgen", "--help"), "Available Commands:\n")
	listed, _, _ = strings.Cut(listed, "\n\n")
	var want, got []string
	for _, m := range regexp.MustCompile(`(?m)^  (\w+) `).FindAllStringSubmatch(listed, -1) {
		want = append(want, m[1])
	}
	_, table, found := strings.Cut(page(t, "docs/cli.md"), "| command | what it does |\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	for _, m := range regexp.MustCompile("(?m)^\\| \\[?`(\\w+)[^`]*`.* \\|").FindAllStringSubmatch(table, -1) {
		got = append(got, m[1])
	}
	require.NotEmpty(t, want)
	want = slices.DeleteFunc(want, func(command string) bool { return command == "help" })
	assert.ElementsMatch(t, want, got)
}

// The README takes about one screen. Its config is valid, its message is one that a tutorial gets,
// and its table has the results that the how-to prints.
func TestTheFirstScreen(t *testing.T) {
	p := newProject(t, map[string]string{"dlpackgen.yaml": block(t, "README.md", "yaml kernel")})
	assert.LessOrEqual(t, strings.Count(p.read(t, "dlpackgen.yaml"), "\n"), 20)
	assert.LessOrEqual(t, strings.Count(page(t, "README.md"), "\n"), 64)
	p.run(t, "dlpackgen", "generate")
	assert.FileExists(t, p.path("csrc/rms_norm_impl.c"))
	assert.Contains(t, page(t, "docs/tutorials/kernel.md"), block(t, "README.md", "text message"))
	shown := howTo(t, "reject-read-only-memory.md", "text output")
	results := regexp.MustCompile(`(?m)^(NumPy|JAX) to (.+) (wrote to it|raised)`).FindAllStringSubmatch(shown, -1)
	require.Len(t, results, 8)
	for _, m := range results {
		row := regexp.MustCompile(`(?m)^\| .*\b` + m[2] + ` .*(?:overwritten|immutable).*$`).FindString(
			page(t, "README.md"))
		cells := strings.Split(row, " | ")
		require.Len(t, cells, 3, "the table has a row for %s", m[2])
		cell := cells[map[string]int{"NumPy": 1, "JAX": 2}[m[1]]]
		assert.Equal(t, m[3] == "wrote to it", strings.Contains(cell, "**overwritten**"), m[0])
	}
}

// The versions in the README are those whose results the how-to shows.
func TestTheReadmeNamesTheVersionsOfItsTable(t *testing.T) {
	pinned := page(t, "tests/requirements.txt") + page(t, "tests/requirements-frameworks.txt")
	for name, packaged := range map[string]string{"PyTorch": "torch", "Paddle": "paddlepaddle",
		"tvm-ffi": "apache-tvm-ffi"} {
		m := regexp.MustCompile(`(?m)^\|.*` + name + ` (\d[\d.]*\d).*overwritten`).FindStringSubmatch(
			page(t, "README.md"))
		require.NotNil(t, m, name)
		assert.Regexp(t, `(?m)^`+packaged+`==`+regexp.QuoteMeta(m[1])+`\b`, pinned, name)
	}
}

// The command of the page finds a program that go install wrote, in a shell that has no such folder
// in PATH.
func TestTheFolderOfInstalledProgramsIsAddedToThePath(t *testing.T) {
	testtool.Require(t, "go", "golang")
	p := newProject(t, map[string]string{"go/bin/installed": "#!/bin/sh\necho installed\n"})
	require.NoError(t, os.Chmod(p.path("go/bin/installed"), 0o700))
	p.env = append(p.env, "GOPATH="+p.path("go"), "GOMODCACHE="+p.path("go/mod"))
	_, err := p.try("sh", "-c", "installed")
	require.Error(t, err)
	assert.Equal(t, "installed\n", p.run(t, "sh", "-ec", howTo(t, "install.md", "sh go-path")+"installed\n"))
}

func TestThePictureIsDrawnByTheCommand(t *testing.T) {
	joined := strings.ReplaceAll(howTo(t, "draw-layouts.md", "sh picture"), "\\\n", "")
	line := regexp.MustCompile(`(?m)^dlpackgen layout .*--svg (\S+)$`).FindStringSubmatch(joined)
	require.NotNil(t, line, "the page has the command for the picture")
	require.Contains(t, page(t, "docs/explanation/dlpack.md"), "](../"+filepath.Base(line[1])+")")
	p := newProject(t, map[string]string{"docs/.keep": ""})
	argv := strings.Fields(line[0])
	p.run(t, argv...)
	golden.Assert(t, "../"+line[1], []byte(p.read(t, line[1])))
}

func TestTheTwoCommands(t *testing.T) {
	commands := block(t, "CONTRIBUTING.md", "sh start")
	assert.Contains(t, commands, "go run ./cmd/dlpackgen generate")
	assert.Contains(t, commands, "make test")
	testtool.Require(t, "make", "make")
	out, err := exec.Command("make", "-C", golden.Root(t), "--dry-run", "test").CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "tools/setup.sh", "it does its own set-up")
	assert.Contains(t, string(out), "./tools/suite", "it counts the commands that ran")
	for target, runs := range map[string]string{"docs": "go run ./tools/site", "bench": "go run ./bench -only=all",
		"release": "cd tools/release && go run . -root ../.. -out ../../bin/release"} {
		out, err := exec.Command("make", "-C", golden.Root(t), "--dry-run", target).CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Contains(t, string(out), runs, "the program that other tests run")
	}
}

// TestGenerateInAFreshCheckout makes all that is committed out of what makes it.
func TestGenerateInAFreshCheckout(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command in another place: left to make test")
	}
	root, p := golden.Root(t), newProject(t, nil)
	for _, dir := range []string{"cmd", "internal", "spec", "templates"} {
		require.NoError(t, os.CopyFS(p.path(dir), os.DirFS(filepath.Join(root, dir))))
	}
	for _, name := range []string{"go.mod", "go.sum", "dlpackgen.yaml"} {
		data, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		p.write(t, name, string(data))
	}
	p.run(t, "go", "run", "./cmd/dlpackgen", "generate")
	for _, name := range append(p.locked(t, "."), "dlpackgen.lock") {
		committed, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		made := p.read(t, name)
		if name == "dlpackgen.lock" { // the build that changed a file last is in the first line
			_, made, _ = strings.Cut(made, "\n")
			_, after, _ := strings.Cut(string(committed), "\n")
			committed = []byte(after)
		}
		assert.True(t, string(committed) == made, "%s differs from the output of generate", name)
	}
}
