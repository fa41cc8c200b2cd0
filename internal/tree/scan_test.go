package tree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// states returns the state of every path in a report, except the planned path and the lock.
func states(t *testing.T, req Request) map[string]string {
	t.Helper()
	report, err := Check(req)
	require.NoError(t, err)
	out := map[string]string{}
	for _, it := range report.Items {
		if it.State != Unchanged && it.State != LockOutdated {
			out[it.Path] = it.State.String()
		}
	}
	return out
}

// Only the selected targets' paths are scanned, without those of other targets; the deeper path
// wins, in both nestings.
func TestScanKeepsToTheSelectedPaths(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, map[string]string{
		"left.h": ours(""), "gen/left.h": ours(""), "gen/go/left.go": ours(""), "gen/go/in/left.h": ours(""),
		"other/left.h": ours(""),
	})
	outer := target("c", "gen", map[string]string{"a.h": ours("a")})
	inner := target("go", "gen/go", map[string]string{"x.go": ours("x")})
	top := target("py", ".", map[string]string{"p.c": ours("p")})
	generated(t, request(dir, outer, inner))
	both := map[string]string{"gen/left.h": "orphaned", "gen/go/left.go": "orphaned", "gen/go/in/left.h": "untracked"}
	assert.Equal(t, both, states(t, request(dir, outer, inner)))
	assert.Equal(t, map[string]string{"gen/left.h": "orphaned"}, states(t, only(request(dir, outer, inner), "c")))
	assert.Equal(t, map[string]string{"gen/go/left.go": "orphaned", "gen/go/in/left.h": "untracked"},
		states(t, only(request(dir, outer, inner), "go")))
	assert.Equal(t, map[string]string{"p.c": "missing", "left.h": "orphaned", "other/left.h": "untracked"},
		states(t, only(request(dir, outer, top), "py")), "gen is c's")
}

// A target at the root of a project finds copies of other outputs there: a header that --out -
// printed, and vendored modules. A folder without files of the target contains no leftovers of it.
func TestCopiesOfOtherOutputsAreNoLeftovers(t *testing.T) {
	dir := t.TempDir()
	req := request(dir, target("go", ".", map[string]string{"x.go": ours("x"), "xpy/y.go": ours("y")}))
	generated(t, req)
	writeAll(t, dir, map[string]string{"third_party/dlpack.h": ours(""), "vendor/example.org/m/gen/z.go": ours("")})
	requireFine(t, req)
	writeAll(t, dir, map[string]string{"old.go": ours(""), "xpy/old.go": ours("")})
	report, err := Check(req)
	require.NoError(t, err)
	assert.Len(t, report.Of(Orphaned), 2, "in a folder with its own files they are")
	remove(t, dir, DefaultLock)
	remove(t, dir, "xpy/y.go")
	report, err = Check(req)
	require.NoError(t, err)
	assert.Len(t, report.Of(Orphaned), 2, "also if both the lock and the file are missing")
}

// Two targets may share a path, like cpp and torch. A run for one of them cannot assign files to
// it, and judges only the planned and recorded ones.
func TestScanOfASharedPath(t *testing.T) {
	dir := t.TempDir()
	req := request(dir, target("cpp", "cpp", map[string]string{"a.hpp": ours("a")}),
		target("torch", "cpp", map[string]string{"t.hpp": ours("t")}))
	generated(t, req)
	setContent(t, dir, "cpp/left.h", ours("left"))
	remove(t, dir, "cpp/t.hpp")
	assert.Equal(t, map[string]string{"cpp/left.h": "orphaned", "cpp/t.hpp": "missing"}, states(t, req))
	assert.Empty(t, states(t, only(req, "cpp")))
	assert.Equal(t, map[string]string{"cpp/t.hpp": "missing"}, states(t, only(req, "torch")))
}

// Own files are neither leftovers nor reported; nor are files in version control, in caches, and
// below other output directories.
func TestScanPassesOver(t *testing.T) {
	dir := t.TempDir()
	req := request(dir, target("go", ".", map[string]string{"x.go": ours("x")}))
	req.Inputs = []string{filepath.Join(dir, "dlpackgen.yaml"), filepath.Join(dir, "spec", "my.yaml")}
	req.Depfile = filepath.Join(dir, "x.d")
	generated(t, req)
	generated(t, request(filepath.Join(dir, "sub", "pkg"), target("go", ".", map[string]string{"y.go": ours("y")})))
	writeAll(t, dir, map[string]string{
		"dlpackgen.yaml": "", "spec/my.yaml": "", "x.d": "", ".git/config": "", ".venv/left.h": ours(""),
		"main.go": "package x", "sub/left.go": ours(""), "sub/pkg/left.go": ours(""),
	})
	assert.Equal(t, map[string]string{"main.go": "untracked", "sub/left.go": "untracked"}, states(t, req))
}

// Unreadable files belong to the user, unless they are planned.
func TestUnreadable(t *testing.T) {
	dir, req := oneFile(t)
	writeAll(t, dir, map[string]string{"c/data/x.h": ours("x"), "c/secret.h": ours("secret"), "c/sub/secret.lock": ""})
	w := system()
	w.open = func(dir string) (disk, error) {
		d, err := openDisk(dir)
		return deniedDisk{d}, err
	}
	report, err := w.check(req)
	require.NoError(t, err)
	assert.False(t, report.Drift())
	assert.Len(t, report.Of(Untracked), 3)

	req.Targets[0] = target("c", "c", map[string]string{"secret.h": ours("secret")})
	_, err = w.check(req)
	out := requireKind(t, err, KindIO)
	assert.ErrorIs(t, out, os.ErrPermission)
	assert.Contains(t, out.Error(), "c/secret.h: permission denied")
}

// A file that is too large to be generated is not read into memory.
func TestHugeFile(t *testing.T) {
	dir, req := oneFile(t)
	require.NoError(t, os.Truncate(filepath.Join(dir, "c", "a.h"), 1<<40))
	report, err := Check(req)
	require.NoError(t, err)
	it, _ := itemAt(report, "c/a.h")
	assert.Equal(t, Modified, it.State)
	assert.Nil(t, it.Old)
	setContent(t, dir, "c/notes.txt", strings.Repeat("x", 1<<20))
	generated(t, forced(req))
	assert.Equal(t, ours("a"), disked(t, dir)["c/a.h"])
}

// Leftovers of a killed run are drift, and the next run removes them.
func TestUnfinished(t *testing.T) {
	dir, req := oneFile(t)
	temps := []string{tempName("c/a.h"), tempName(DefaultLock)}
	setContent(t, dir, temps[0], "half")
	setContent(t, dir, temps[1], "half")
	setContent(t, dir, ".dlpackgen.journal", "dlpackgen-journal 2 v0.1.0 ab\n")
	nested := req
	nested.Targets = append([]Target{target("go", ".", nil)}, req.Targets...)
	report, err := Check(nested)
	require.NoError(t, err)
	assert.Len(t, report.Of(Interrupted), 3, "each once")
	want := map[string]string{temps[0]: "interrupted", temps[1]: "interrupted", ".dlpackgen.journal": "interrupted"}
	assert.Equal(t, want, states(t, req))
	when := longAgo(t, dir)
	generated(t, req)
	assert.Equal(t, []string{"c/a.h", DefaultLock}, names(disked(t, dir)))
	assert.Equal(t, when, mtime(t, dir, "c/a.h"))
	requireFine(t, req)
}

// Next to an edited file, nothing is written: neither by healing nor as a depfile.
func TestEditedStopsEverything(t *testing.T) {
	dir, req := oneFile(t)
	req.Targets = []Target{target("c", "c", map[string]string{"a.h": ours("new"), "new.h": ours("new")})}
	req.Depfile = filepath.Join(dir, "x.d")
	writeAll(t, dir, map[string]string{"c/a.h": "mine", tempName("c/a.h"): "half",
		".dlpackgen.journal": "dlpackgen-journal 2 v0.1.0 ab\n"})
	before := disked(t, dir)
	report, err := Generate(req, false)
	out := requireKind(t, err, KindModified)
	assert.Equal(t, 1, out.ExitCode())
	assert.Len(t, out.Findings, 1)
	assert.Contains(t, out.Findings[0].Hint, "--force")
	assert.Len(t, report.Of(Modified), 1)
	assert.Equal(t, before, disked(t, dir))
}

// A directory that loses its last file is removed; a non-empty one is kept.
func TestEmptyDirectories(t *testing.T) {
	dir := t.TempDir()
	generated(t, request(dir, target("c", "gen/c", map[string]string{"a/b/one.h": ours("1"), "k/two.h": ours("2"),
		"three.h": ours("3")})))
	setContent(t, dir, "gen/c/k/notes.txt", "mine")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "gen", "c", "empty"), 0o755))
	generated(t, request(dir, target("c", "gen/c", map[string]string{"three.h": ours("3")})))
	assert.NoDirExists(t, filepath.Join(dir, "gen/c/a"))
	assert.DirExists(t, filepath.Join(dir, "gen/c/k"))
	assert.DirExists(t, filepath.Join(dir, "gen/c/empty"), "it never had a file of ours")
}

// A replacement of such a directory is not ours to remove.
func TestReplacedDirectories(t *testing.T) {
	dir := t.TempDir()
	generated(t, request(dir, target("c", "gen/c", map[string]string{"a/one.h": ours("1"), "b/two.h": ours("2")})))
	remove(t, dir, "gen/c")
	setContent(t, dir, "gen/c/a", "mine")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "elsewhere"), 0o755))
	link(t, "../../elsewhere", filepath.Join(dir, "gen", "c", "b"))
	generated(t, request(dir, target("c", "gen/c", nil)))
	assert.Equal(t, map[string]string{"gen/c/a": "mine", "gen/c/b": "-> ../../elsewhere"}, disked(t, dir))
}
