package recipes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// newMachine is a project whose system commands are stand-ins that append their arguments to the
// file log. It lacks ninja and clang, finds clang only without a version, and has its Python
// packages.
func newMachine(t *testing.T, uid string) *project {
	t.Helper()
	testtool.Require(t, "sh", "dash")
	p := newProject(t, nil)
	for _, name := range []string{"tools/setup.sh", "tests/packages.txt", "tests/requirements.txt",
		"tests/requirements-frameworks.txt"} {
		data, err := os.ReadFile(filepath.Join(golden.Root(t), name))
		require.NoError(t, err)
		p.write(t, name, string(data))
	}
	p.command(t, "bin/id", "echo "+uid)
	p.command(t, "bin/dpkg-query", `tr '|' '\n' <tests/packages.txt | sed -n 's/^[a-z]/installed &/p' |
		sed -E 's/^installed (ninja-build|clang)/not-&/'`)
	p.command(t, "bin/apt-cache", `case "$3" in ninja-build | clang) echo "Package: $3" ;; esac`)
	p.command(t, "bin/apt-get", `echo "apt-get $*" >>log`)
	p.command(t, "bin/python3",
		`[ "$1" = -c ] || { echo "python $*" >>log; mkdir -p .venv/bin; cp bin/pip .venv/bin/python; }`)
	p.command(t, "bin/pip", `echo "venv $*" >>log`)
	p.command(t, ".venv/bin/python", "true")
	p.command(t, "bin/df", "echo Available; echo 0 0 0 99999999")
	p.write(t, ".venv/installed.txt", p.read(t, "tests/requirements.txt"))
	p.write(t, ".venv/frameworks.txt", p.read(t, "tests/requirements-frameworks.txt"))
	p.write(t, "log", "")
	t.Setenv("PATH", p.path("bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	p.env = os.Environ()
	return p
}

// command adds a stand-in, as a shell script.
func (p *project) command(t *testing.T, name, script string) {
	t.Helper()
	p.write(t, name, "#!/bin/sh\n"+script+"\n")
	require.NoError(t, os.Chmod(p.path(name), 0o755))
}

func (p *project) setUp(t *testing.T) (printed, done string) {
	t.Helper()
	return p.run(t, "sh", "tools/setup.sh"), p.read(t, "log")
}

func TestSetUpInstallsWhatIsMissing(t *testing.T) {
	printed, done := newMachine(t, "0").setUp(t)
	assert.Contains(t, printed, "apt-get install clang ninja-build\n")
	lines := strings.Split(strings.TrimSpace(done), "\n")
	require.Len(t, lines, 2)
	assert.Contains(t, lines[0], "apt-get update")
	assert.Regexp(t, "^apt-get install .* clang ninja-build$", lines[1])
}

func TestSetUpLeavesACompleteMachineAlone(t *testing.T) {
	p := newMachine(t, "0")
	p.command(t, "bin/dpkg-query", `tr '|' '\n' <tests/packages.txt | sed -n 's/^[a-z]/installed &/p'`)
	printed, done := p.setUp(t)
	assert.Empty(t, done)
	assert.Equal(t, 3, strings.Count(printed, "all installed"))
}

func TestSetUpWithoutRootOnlyNamesThePackages(t *testing.T) {
	printed, done := newMachine(t, "1000").setUp(t)
	assert.Regexp(t, `not root, so not installed: clang-16\|clang .*ninja-build\n`, printed)
	assert.Empty(t, done)
}

func TestSetUpGoesOnWhenPackagesCannotBeHad(t *testing.T) {
	p := newMachine(t, "0")
	p.command(t, "bin/apt-get", "exit 100")
	p.command(t, "bin/apt-cache", "true")
	printed, _ := p.setUp(t)
	assert.Contains(t, printed, "apt-get update failed")
	assert.Contains(t, printed, "apt has no package clang-16|clang")
	assert.Contains(t, printed, "tests that need these packages skip")
}

func TestSetUpMakesAnOutdatedVenvAnew(t *testing.T) {
	p := newMachine(t, "1000")
	p.write(t, ".venv/installed.txt", "numpy==1.0\n")
	p.write(t, ".venv/left", "")
	_, done := p.setUp(t)
	assert.Contains(t, done, "python -m venv .venv\n")
	assert.Regexp(t, `venv -m pip install .*--no-deps .*-r tests/requirements\.txt\n`, done)
	assert.NoFileExists(t, p.path(".venv/left"))
	assert.Equal(t, p.read(t, "tests/requirements.txt"), p.read(t, ".venv/installed.txt"))

	p.write(t, ".venv/installed.txt", "numpy==1.0\n")
	p.command(t, "bin/pip", "exit 1")
	printed, _ := p.setUp(t)
	assert.Contains(t, printed, "the Python packages could not be installed")
	assert.NoFileExists(t, p.path(".venv/installed.txt"), "so the next run tries again")
}

func TestSetUpInstallsFrameworksWhereThereIsRoom(t *testing.T) {
	p := newMachine(t, "1000")
	installed := p.path(".venv/frameworks.txt")
	require.NoError(t, os.Remove(installed))
	require.NoError(t, os.Rename(p.path("bin/pip"), p.path(".venv/bin/python")))
	p.command(t, "bin/df", "echo Available; echo 0 0 0 15999999")
	printed, done := p.setUp(t)
	assert.Contains(t, printed, "less than 16 GB free")
	assert.NotContains(t, done, "frameworks")
	assert.NoFileExists(t, installed)

	p.command(t, "bin/df", "echo Available; echo 0 0 0 16000000")
	_, done = p.setUp(t)
	assert.Regexp(t, `venv -m pip install .*--no-deps .*-r tests/requirements-frameworks\.txt\n`, done)
	assert.FileExists(t, installed)

	require.NoError(t, os.Remove(installed))
	p.command(t, ".venv/bin/python", `[ "$1" = -c ]`)
	printed, _ = p.setUp(t)
	assert.Contains(t, printed, "the frameworks could not be installed")
	assert.NoFileExists(t, installed, "so the next run tries again")
}

func TestSetUpFetchesCrates(t *testing.T) {
	p := newMachine(t, "1000")
	p.command(t, "bin/cargo", `echo "cargo $*" >>log`)
	p.write(t, "tests/tvmffi/testdata/rust/Cargo.toml", "[package]\n")
	_, done := p.setUp(t)
	assert.Equal(t, "cargo fetch --quiet --locked --manifest-path tests/tvmffi/testdata/rust/Cargo.toml\n", done)
	p.command(t, "bin/cargo", "exit 1")
	printed, _ := p.setUp(t)
	assert.Contains(t, printed, "the crate tvm-ffi could not be fetched: the test that needs it skips")
}

func TestSetUpDownloadsGoModulesAndAsksARegistryThatFailsAgain(t *testing.T) {
	p := newMachine(t, "1000")
	p.write(t, "tools/release/go.mod", "module x\n")
	p.command(t, "bin/go",
		`[ "$1" = mod ] || exit 0; echo "go $* in ${PWD##*/}" >>"$LOG"; [ "$(wc -l <"$LOG")" -ne 1 ]`)
	p.env = append(p.env, "LOG="+p.path("log"))
	printed, done := p.setUp(t)
	assert.NotContains(t, printed, "could not be downloaded")
	assert.Regexp(t, `^(go mod download in .*\n){2}go mod download in release\n$`, done)
	p.command(t, "bin/go", "exit 1")
	printed, _ = p.setUp(t)
	assert.Contains(t, printed, "the Go modules of tools/release could not be downloaded")
}

func TestSetUpInstallsApart(t *testing.T) {
	p := newMachine(t, "1000")
	const required, installed = "tests/requirements-zig.txt", ".cache/zig/installed.txt"
	p.write(t, required, "ziglang==0.17.0\n")
	p.write(t, "tests/packages.txt", "")
	p.command(t, "bin/uname", "echo x86_64")
	p.command(t, ".venv/bin/python", `[ "$2" != venv ] || { mkdir -p "$3/bin" && cp bin/pip "$3/bin/python"; }`)
	printed, done := p.setUp(t)
	assert.Contains(t, printed, "installing Zig into .cache/zig\n")
	assert.Regexp(t, `venv -m pip install .*--no-deps .*-r tests/requirements-zig\.txt\n`, done)
	assert.Equal(t, p.read(t, required), p.read(t, installed))
	printed, _ = p.setUp(t)
	assert.NotContains(t, printed, "Zig", "it is there")

	p.write(t, required, "ziglang==0.17.1\n")
	p.command(t, "bin/pip", "exit 1")
	printed, _ = p.setUp(t)
	assert.Contains(t, printed, "Zig could not be installed")
	assert.NoFileExists(t, p.path(installed), "so the next run tries again")
	p.command(t, "bin/df", "echo Available; echo 0 0 0 999999")
	printed, _ = p.setUp(t)
	assert.Contains(t, printed, "less than 1 GB free: tests that need Zig skip")
	p.command(t, "bin/uname", "echo aarch64")
	printed, _ = p.setUp(t)
	assert.Contains(t, printed, "not an x86-64 machine: tests that need Zig skip")
}
