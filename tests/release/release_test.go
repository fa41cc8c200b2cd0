package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m, "release")) }

// run runs a command that must succeed, in a folder, and returns its output.
func run(t testing.TB, dir string, env []string, argv ...string) string {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", strings.Join(argv, " "), out)
	return string(out)
}

// published returns the folder of a release of this tree, and its version.
func published(t testing.TB) (dir, version string) {
	t.Helper()
	dir = testkit.Built(t, "published", func(dir string) { build(t, t.TempDir(), dir) })
	return dir, strings.TrimSpace(read(t, filepath.Join(golden.Root(t), "VERSION")))
}

// source is a copy of this tree. All releases are built from it, so that an edit during the tests
// does not make them differ.
func source(t testing.TB) string {
	t.Helper()
	return testkit.Built(t, "source", func(dir string) { copyTree(t, golden.Root(t), dir) })
}

// build commits a copy of this tree to a folder, and builds its release.
func build(t testing.TB, folder, out string, env ...string) {
	t.Helper()
	testtool.Require(t, "git", "git")
	copyTree(t, source(t), folder)
	date := "2026-01-02T03:04:05Z"
	env = append(env, "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date, "GIT_CONFIG_GLOBAL="+os.DevNull)
	for _, line := range []string{"init --quiet", "add .",
		"-c user.name=x -c user.email=x@example.org commit --quiet -m x"} {
		run(t, folder, env, append([]string{"git"}, strings.Fields(line)...)...)
	}
	argv := []string{"go", "run", ".", "-root", "../..", "-out", out, "-platforms", strings.Join(platforms(), ","),
		"-proxy", filepath.Join(filepath.Dir(out), "proxy")}
	if !tier.IsNightly() {
		argv = append(argv, "-quick")
	}
	for _, module := range []string{folder, filepath.Join(folder, "tools", "release")} {
		run(t, module, env, "go", "mod", "download")
	}
	run(t, filepath.Join(folder, "tools", "release"), append(env, nowhere...), append(withoutNetwork(), argv...)...)
}

// nowhere prevents programs that read these variables from finding a network.
var nowhere = []string{"GOPROXY=off", "GOSUMDB=off", "HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9",
	"ALL_PROXY=http://127.0.0.1:9"}

// withoutNetwork is a command that runs another in a network namespace without interfaces; empty if
// the system does not permit this user to create one.
func withoutNetwork() []string {
	argv := []string{"unshare", "--map-root-user", "--net"}
	if exec.Command(argv[0], append(argv[1:], "true")...).Run() != nil { //nolint:gosec // as above
		return nil
	}
	return argv
}

// After its modules are downloaded, a release is built without a network, which build disables.
func TestAReleaseNeedsNoNetwork(t *testing.T) {
	heavy(t)
	dir, _ := published(t)
	require.FileExists(t, filepath.Join(dir, "SHA256SUMS"))
	alone := withoutNetwork()
	if alone == nil {
		t.Skip("needs unshare, and user namespaces: releases were made with proxies that lead nowhere")
	}
	interfaces := run(t, dir, nil, append(alone, "cat", "/proc/net/dev")...)
	assert.NotRegexp(t, `(?m)^ *(eth|en|wl|tun|veth)\w*:`, interfaces)
	assert.Contains(t, interfaces, " lo:")
}

// Each wheel has at most 4 MB. Compressing one takes 20 seconds: make bench prints the largest
// size.
func TestWheelsAreSmall(t *testing.T) {
	heavy(t)
	if !tier.IsNightly() {
		t.Skip("wheels are compressed fast here: left to make nightly, and to make bench ONLY=release")
	}
	testtool.Require(t, "zopfli", "zopfli")
	dir, _ := published(t)
	wheels, err := filepath.Glob(filepath.Join(dir, "*.whl"))
	require.NoError(t, err)
	require.Len(t, wheels, len(platforms()))
	for _, wheel := range wheels {
		info, err := os.Stat(wheel)
		require.NoError(t, err)
		assert.LessOrEqual(t, info.Size(), int64(4_000_000), filepath.Base(wheel))
	}
}

// platforms are the built platforms: this machine's, and all six in make nightly.
func platforms() []string {
	if tier.IsNightly() {
		return []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}
	}
	return []string{runtime.GOOS + "/" + runtime.GOARCH}
}

// copyTree copies the files that git does not ignore.
func copyTree(t testing.TB, from, to string) {
	t.Helper()
	ignored := []string{".git", ".venv", ".cache", "bin", "__pycache__"}
	require.NoError(t, filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		relative, _ := filepath.Rel(from, name)
		target := filepath.Join(to, relative)
		switch {
		case err != nil:
			return err
		case slices.Contains(ignored, entry.Name()) && filepath.Dir(relative) == ".":
			return skip(entry)
		case entry.IsDir():
			return os.MkdirAll(target, 0o755)
		case !entry.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o644)
	}))
}

func skip(entry fs.DirEntry) error {
	if entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func read(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(data)
}

// only returns the single file of a folder that matches a pattern.
func only(t testing.TB, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	require.NoError(t, err)
	require.Len(t, found, 1, pattern)
	return found[0]
}

func heavy(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a release: left to make test")
	}
	if !slices.Contains([]string{"linux/amd64", "linux/arm64"}, runtime.GOOS+"/"+runtime.GOARCH) {
		t.Skip("needs Linux on amd64 or arm64: installs packages for them")
	}
}

// The folder, the time zone, the locale, the umask and the user's Go settings have no effect.
func TestTwoBuildsHaveTheSameBytes(t *testing.T) {
	tier.OnlyNightly(t)
	heavy(t)
	first, _ := published(t)
	second, settings := t.TempDir(), filepath.Join(t.TempDir(), "env")
	require.NoError(t, os.WriteFile(settings, []byte("GOAMD64=v3\n"), 0o600))
	elsewhere := filepath.Join(t.TempDir(), "another folder")
	require.NoError(t, os.MkdirAll(elsewhere, 0o700))
	before := syscall.Umask(0o077)
	defer syscall.Umask(before)
	build(t, elsewhere, second, "TZ=Pacific/Apia", "LC_ALL=C", "GOENV="+settings, "GOFLAGS=-trimpath",
		"SOURCE_DATE_EPOCH=1767323045")
	assert.Equal(t, digests(t, first), digests(t, second))
	assert.NotEmpty(t, digests(t, first))
}

func digests(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	all := map[string]string{}
	for _, entry := range entries {
		sum := sha256.Sum256([]byte(read(t, filepath.Join(dir, entry.Name()))))
		all[entry.Name()] = hex.EncodeToString(sum[:])
	}
	return all
}

// The binary has no sources from which to compute the digest: it must equal the digest of a build
// with sources.
func TestReleasedBinariesHaveTheDigestOfTheirSources(t *testing.T) {
	heavy(t)
	_, version := published(t)
	ours := strings.Fields(run(t, golden.Root(t), nil, "go", "run", "./cmd/dlpackgen", "version"))
	released := strings.Fields(run(t, t.TempDir(), nil, filepath.Join(unpacked(t), "dlpackgen"), "version"))
	assert.Equal(t, []string{"dlpackgen", "devel", ours[2]}, ours)
	assert.Equal(t, []string{"dlpackgen", "v" + version, ours[2]}, released)
}

// The module of tools/release has tests too, which ./... omits.
func TestTheTestsOfTheTool(t *testing.T) {
	heavy(t)
	run(t, filepath.Join(golden.Root(t), "tools", "release"), nil, "go", "test", ".")
}

// An uncommitted change is not part of a release, and is reported.
func TestUncommittedChangesAreNotReleased(t *testing.T) {
	heavy(t)
	dir := t.TempDir()
	for _, line := range []string{"init --quiet", "commit --quiet --allow-empty -m x"} {
		run(t, dir, nil, append([]string{"git", "-c", "user.name=x", "-c", "user.email=x@example.org"},
			strings.Fields(line)...)...)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "VERSION"), []byte("9.9.9\n"), 0o600))
	cmd := exec.Command("go", "run", ".", "-root", dir, "-out", filepath.Join(dir, "out"))
	cmd.Dir = filepath.Join(golden.Root(t), "tools", "release")
	out, err := cmd.CombinedOutput()
	assert.Error(t, err)
	assert.Contains(t, string(out), "VERSION", "the commit has none")
	assert.NoDirExists(t, filepath.Join(dir, "out"))
}

// unpacked returns the folder of this machine's archive.
func unpacked(t testing.TB) string {
	t.Helper()
	dir, _ := published(t)
	into := testkit.Built(t, "unpacked", func(into string) {
		run(t, into, nil, "tar", "-xzf", only(t, dir, "*_linux_"+runtime.GOARCH+".tar.gz"))
	})
	return only(t, into, "*")
}

func TestArchives(t *testing.T) {
	heavy(t)
	dir, version := published(t)
	for _, p := range platforms() {
		system, arch, _ := strings.Cut(p, "/")
		name := "dlpackgen_" + version + "_" + system + "_" + arch
		var listed string
		program := "dlpackgen"
		if system == "windows" {
			program += ".exe"
			listed = run(t, dir, nil, "python3", "-m", "zipfile", "-l", name+".zip")
		} else {
			listed = run(t, dir, nil, "tar", "-tzf", name+".tar.gz")
		}
		for _, want := range []string{program, "LICENSE", "LICENSE-OUTPUT", "LICENSES-THIRD-PARTY", "README.md",
			"man/man1/dlpackgen.1", "man/man1/dlpackgen-generate.1", "completions/dlpackgen.bash",
			"completions/_dlpackgen", "completions/dlpackgen.fish", "completions/dlpackgen.ps1",
			"cmake/dlpackgenConfig.cmake", "cmake/CMakeLists.txt"} {
			assert.Contains(t, listed, name+"/"+want, name)
		}
	}
	if slices.Contains(platforms(), "linux/amd64") { // the example in docs/how-to/install.md
		beside := t.TempDir()
		require.NoError(t, os.CopyFS(beside, os.DirFS(dir)))
		assert.Contains(t, run(t, beside, nil, "sh", "-ec", block(t, "sh archive")), "\ndlpackgen v"+version+" ")
	}
	run(t, dir, nil, "sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Equal(t, len(entries)-1, strings.Count(read(t, filepath.Join(dir, "SHA256SUMS")), "\n"), "all but itself")
	third := read(t, filepath.Join(unpacked(t), "LICENSES-THIRD-PARTY"))
	for _, holder := range []string{"The Go Authors", "Alex Ogier", "David Brophy", "Kirill Simonov"} {
		assert.Contains(t, third, holder)
	}
}

var overstrike = regexp.MustCompile(`.\x08`) // man's form of bold letters

// man warns about pages that it cannot render, and each command has one.
func TestManPagesRender(t *testing.T) {
	heavy(t)
	testtool.Require(t, "man", "man-db")
	pages, err := filepath.Glob(filepath.Join(unpacked(t), "man", "man1", "*.1"))
	require.NoError(t, err)
	assert.Greater(t, len(pages), 10)
	for _, page := range pages {
		cmd := exec.Command("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", page)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANROFFSEQ=", "MANWIDTH=80", "PAGER=cat")
		var text, warnings bytes.Buffer
		cmd.Stdout, cmd.Stderr = &text, &warnings
		require.NoError(t, cmd.Run(), page)
		assert.Empty(t, warnings.String(), page)
		assert.Contains(t, overstrike.ReplaceAllString(text.String(), ""), "EXIT STATUS", page)
	}
}

// Each shell loads its script, and shells that can list completions complete a command.
func TestCompletionsLoad(t *testing.T) {
	heavy(t)
	dir := unpacked(t)
	for _, c := range []struct{ shell, debian, flag, script, prints string }{
		{"bash", "bash", "-c", `. completions/dlpackgen.bash; complete -p dlpackgen`, "__start_dlpackgen"},
		{"zsh", "zsh", "-fc",
			`autoload -Uz compinit; compinit -u -D; . completions/_dlpackgen; echo $_comps[dlpackgen]`,
			"_dlpackgen"},
		{"fish", "fish", "-Nc", `set -x PATH . $PATH; . completions/dlpackgen.fish; complete -C "dlpackgen gen"`,
			"generate\t"},
		{"pwsh", "powershell, which Debian has not", "-c", `. ./completions/dlpackgen.ps1; "loaded"`, "loaded"},
	} {
		t.Run(c.shell, func(t *testing.T) {
			testtool.Require(t, c.shell, c.debian)
			assert.Contains(t, run(t, dir, []string{"HOME=" + t.TempDir()}, c.shell, c.flag, c.script), c.prints)
		})
	}
}
