// Package builds builds the projects of examples/builds with each build system: from scratch, after
// each kind of change, and again. It contains only tests.
package builds

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m, "builds")) }

// project is a copy of examples/builds. Its builds log what they run: dlpackgen by its command, the
// compiler by its source.
type project struct {
	dir   string // of the copy
	tool  string // the program, which shims/dlpackgen runs
	build func(*testing.T, *project) string
	env   []string
}

const (
	dlpackgenShim = `#!/bin/sh
echo "$1" >> "$LOG"
exec "$TOOL" "$@"
`
	compilerShim = `#!/bin/sh
for word; do
    case $word in *.c) source=${word##*/} ;; -c) compiles=1 ;; esac
done
[ -z "$compiles" ] || echo "$source" >> "$LOG"
exec gcc "$@"
`
)

func newProject(t *testing.T, build func(*testing.T, *project) string) *project {
	t.Helper()
	testtool.Require(t, "gcc", "gcc")
	p := &project{dir: t.TempDir(), build: build}
	require.NoError(t, os.CopyFS(p.path("ex"), os.DirFS(filepath.Join(golden.Root(t), "examples", "builds"))))
	for name, text := range map[string]string{"dlpackgen": dlpackgenShim, "cc": compilerShim} {
		require.NoError(t, os.MkdirAll(p.path("shims"), 0o755))
		require.NoError(t, os.WriteFile(p.path("shims/"+name), []byte(text), 0o755)) //nolint:gosec // executable
	}
	p.tool = p.path("tool/dlpackgen")
	p.install(t, testkit.Program(t, ""))
	p.env = append(os.Environ(), "PATH="+p.path("shims")+":"+os.Getenv("PATH"), "LOG="+p.path("log"), "TOOL="+p.tool,
		"CC="+p.path("shims/cc"), "dlpackgen_DIR="+filepath.Join(golden.Root(t), "cmake"))
	return p
}

func (p *project) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

// install replaces the build of dlpackgen.
func (p *project) install(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(p.tool), 0o755))
	require.NoError(t, os.WriteFile(p.tool, data, 0o755)) //nolint:gosec // executable
	p.touch(t, "shims/dlpackgen")
}

// renew installs another build of dlpackgen from the same sources: its time and its bytes differ,
// its output does not.
func (p *project) renew(t *testing.T) {
	t.Helper()
	p.install(t, testkit.Rebuilt(t, testkit.Program(t, "")))
}

// touch rewrites a file, which tools that compare times or sizes detect.
func (p *project) touch(t *testing.T, name string) {
	t.Helper()
	data, err := os.ReadFile(p.path(name))
	require.NoError(t, err)
	p.put(t, name, data)
}

// tick is longer than the steps in which the times of files advance. Make takes files of the same
// time for up to date.
const tick = 20 * time.Millisecond

// put writes a file, with a later time than the outputs of the build before.
func (p *project) put(t *testing.T, name string, data []byte) {
	t.Helper()
	time.Sleep(tick)
	require.NoError(t, os.WriteFile(p.path(name), data, 0o600))
}

func (p *project) replace(t *testing.T, name, old, fresh string) {
	t.Helper()
	data, err := os.ReadFile(p.path(name))
	require.NoError(t, err)
	p.put(t, name, []byte(mutant.Once(t, string(data), old, fresh)))
}

// write creates a file and its folder.
func (p *project) write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(p.path(name)), 0o755))
	p.put(t, name, []byte(text))
}

func (p *project) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(p.path(name))
	require.NoError(t, err)
	return string(data)
}

// extend appends a text to a file.
func (p *project) extend(t *testing.T, name, text string) {
	t.Helper()
	data, err := os.ReadFile(p.path(name))
	require.NoError(t, err)
	p.put(t, name, append(data, text...))
}

// run returns the output of a command that must succeed.
func (p *project) run(t *testing.T, dir string, argv ...string) string {
	t.Helper()
	out, err := p.try(dir, argv...)
	require.NoError(t, err, "%v\n%s", argv, out)
	return out
}

func (p *project) try(dir string, argv ...string) (string, error) {
	cmd := exec.Command("env", argv...)
	cmd.Dir, cmd.Env = p.path(dir), p.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// work is the part of a log that a build may run for a project: without `list outputs`, and without
// the queries of build systems to compilers.
var work = []string{"generate", "main.c", "plain.c", "module.c", check}

// builds runs the build, and compares its log.
func (p *project) builds(t *testing.T, what string, want ...string) string {
	t.Helper()
	require.NoError(t, os.WriteFile(p.path("log"), nil, 0o600))
	out := p.build(t, p)
	log, err := os.ReadFile(p.path("log"))
	require.NoError(t, err)
	var ran []string
	for _, word := range strings.Fields(string(log)) {
		if slices.Contains(work, word) {
			ran = append(ran, word)
		}
	}
	slices.Sort(ran)
	slices.Sort(want)
	assert.Equal(t, append([]string{}, want...), append([]string{}, ran...), "%s\n%s", what, out)
	return out
}
