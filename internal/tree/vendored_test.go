package tree

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
)

// vendoredFolder is a folder with a lock, as it was vendored.
func vendoredFolder(t *testing.T) (dir string, bare Request) {
	t.Helper()
	dir = t.TempDir()
	req := request(dir, target("c", "c", map[string]string{"a.h": ours("a"), "b/b.h": ours("b"), "d.h": ours("d"),
		"e.h": ours("e")}))
	generated(t, req)
	return dir, Request{Out: dir, Tool: req.Tool}
}

// verdicts returns Verify's report, without unchanged files.
func verdicts(t *testing.T, req Request) (all []string) {
	t.Helper()
	report, err := Verify(req)
	require.NoError(t, err)
	for _, it := range report.Items {
		if it.State != Unchanged {
			all = append(all, strings.TrimSuffix(it.Path+" "+it.State.String()+": "+cmp.Or(it.Why, "-"), ": -"))
		}
	}
	return all
}

// Only the lock determines the expected files, whatever is at their paths.
func TestVerify(t *testing.T) {
	dir, bare := vendoredFolder(t)
	report, err := Verify(bare)
	require.NoError(t, err)
	assert.Len(t, report.Of(Unchanged), 4)
	assert.Len(t, report.Items, 4)
	assert.Equal(t, bare.Tool, report.Writer)
	assert.False(t, report.Drift())

	setContent(t, dir, "c/a.h", ours("other"))
	remove(t, dir, "c/b/b.h")
	remove(t, dir, "c/d.h")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "c", "d.h"), 0o755))
	setContent(t, dir, ".dlpackgen.journal", string(formatJournal(bare.Tool, nil)))
	setContent(t, dir, tempName("c/e.h"), "half")
	before := disked(t, dir)
	assert.Equal(t, []string{
		".dlpackgen.journal interrupted",
		tempName("c/e.h") + " interrupted",
		"c/a.h modified: expected SHA-256 " + sum([]byte(ours("a")))[:12] + "..., found " +
			sum([]byte(ours("other")))[:12] + "...",
		"c/b/b.h missing",
		"c/d.h modified: expected a regular file, found a directory",
	}, verdicts(t, bare))
	assert.Equal(t, before, disked(t, dir), "nothing is written")
}

// Files that the lock does not list are reported, once for each folder.
func TestVerifyReportsWhatTheLockDoesNotList(t *testing.T) {
	dir, bare := vendoredFolder(t)
	setContent(t, dir, "c/extra.h", "int extra;\n")
	setContent(t, dir, "c/old.h", ours("old"))
	setContent(t, dir, "README", "")
	setContent(t, dir, ".clang-format", "")
	setContent(t, dir, "more/x.h", ours("x"))
	setContent(t, dir, "more/deep/y.h", ours("y"))
	setContent(t, dir, "c/acme_impl.c", emit.StarterLine("a.c")+"int mine;\n")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "c", "b", "empty"), 0o755))
	setContent(t, dir, "dlpackgen.yaml", "version: 1\n")
	setContent(t, dir, "other.yaml", "")
	for _, name := range []string{".git/config", "c/b/.git", ".idea/x.xml"} { // from tools, not from the copy
		setContent(t, dir, name, "")
	}
	assert.Equal(t, []string{
		".clang-format untracked",
		"README untracked",
		"c/acme_impl.c untracked: it begins like a starter file, which belongs to its author",
		"c/b/empty untracked",
		"c/extra.h untracked",
		"c/old.h orphaned",
		"more untracked",
		"other.yaml untracked",
	}, verdicts(t, bare))
}

// A line missing from the lock is reported at the file, and a missing file at the lock's line.
func TestVerifyReportsALockThatWasEdited(t *testing.T) {
	_, bare := vendoredFolder(t)
	lock := disked(t, bare.Out)[DefaultLock]
	lines := strings.SplitAfter(strings.TrimSuffix(lock, "\n"), "\n")
	lines[4] += "\n"
	rest := func(i int) string { return strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "") }
	with := func(line string) string { return lock + line }
	other := mutant.Once(t, lines[4], "c/e.h", "c/f.h")
	for name, c := range map[string]struct{ lock, want string }{
		"removed line": {rest(1), "c/a.h orphaned"},
		"added line":   {with(other), "c/f.h missing"},
		"changed digest": {mutant.Once(t, lock, sum([]byte(ours("a"))), strings.Repeat("0", 64)),
			"c/a.h modified: expected SHA-256 000000000000..., found "},
		"crlf": {strings.ReplaceAll(lock, "\n", "\r\n"), ""},
	} {
		setContent(t, bare.Out, DefaultLock, c.lock)
		got := strings.Join(verdicts(t, bare), "\n")
		assert.True(t, strings.HasPrefix(got, c.want) && (got == "") == (c.want == ""), "%s: %s", name, got)
	}
	for name, c := range map[string]struct{ lock, want string }{
		"duplicate line": {with(lines[4]), ":6:1: c/e.h is listed twice"},
		"reordered": {lines[0] + lines[2] + lines[1] + lines[3] + lines[4],
			":3:1: expected c/a.h before c/b/b.h: the lock was edited"},
		"all removed":  {lines[0], ": the lock lists no files"},
		"cut off":      {lock[:len(lock)-1], ":5:1: the file ends in the middle of a line"},
		"no lock left": {"", ":1:1: expected "},
	} {
		setContent(t, bare.Out, DefaultLock, c.lock)
		_, err := Verify(bare)
		var e *Error
		require.True(t, errors.As(err, &e), name)
		assert.Equal(t, KindInvalid, e.Kind, name)
		assert.Contains(t, e.Error(), DefaultLock+c.want, name)
		assert.Contains(t, e.Findings[0].Hint, "vendor", name)
	}
}

// Files of another config are its own: its lock is only mentioned.
func TestVerifyLeavesOtherLocksAlone(t *testing.T) {
	dir, bare := vendoredFolder(t)
	second := request(dir, target("go", "go", map[string]string{"x.go": ours("x")}))
	second.Lock = "second.lock"
	generated(t, second)
	generated(t, request(filepath.Join(dir, "inner"), target("c", "c", map[string]string{"a.h": ours("a")})))
	assert.Equal(t, []string{"inner untracked: " + separately, "second.lock untracked: " + separately},
		verdicts(t, bare))
	bare.Lock = second.Lock
	assert.Contains(t, verdicts(t, bare), "dlpackgen.lock untracked: "+separately)
}

func TestVerifyFollowsNoLink(t *testing.T) {
	dir, bare := vendoredFolder(t)
	move := func(from, to string) {
		t.Helper()
		require.NoError(t, os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)))
	}
	link := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip("this system does not support links: ", err)
		}
	}
	link("a.h", "c/link.h")
	link("nowhere", "c/broken.h")
	assert.Equal(t, []string{"c/broken.h untracked", "c/link.h untracked"}, verdicts(t, bare))
	remove(t, dir, "c/link.h")
	remove(t, dir, "c/broken.h")
	move("c/a.h", "c/real.h")
	link("real.h", "c/a.h")
	assert.Equal(t, []string{"c/a.h modified: expected a regular file, found a symbolic link", "c/real.h orphaned"},
		verdicts(t, bare))
	remove(t, dir, "c/a.h")
	move("c/real.h", "c/a.h")
	move("c/b", "c/moved")
	link("moved", "c/b")
	assert.Contains(t, verdicts(t, bare), "c/b modified: expected a folder, found a symbolic link")
	remove(t, dir, "c/b")
	outside := t.TempDir()
	require.NoError(t, os.Rename(filepath.Join(dir, "c", "moved"), filepath.Join(outside, "b")))
	link(filepath.Join(outside, "b"), "c/b")
	_, err := Verify(bare)
	var e *Error
	require.True(t, errors.As(err, &e))
	assert.Equal(t, KindEscape, e.Kind)
}

func TestVerifyWithoutALock(t *testing.T) {
	_, err := Verify(Request{Out: t.TempDir(), Tool: request(".").Tool})
	var e *Error
	require.True(t, errors.As(err, &e))
	assert.Equal(t, KindRequest, e.Kind)
}

// A header without a line in the lock can be included instead of another one, whatever its first
// line is. Starter files are sources, and the hooks of backends.
func TestVerifyRejectsHeadersThatBeginAsStarterFiles(t *testing.T) {
	dir, bare := vendoredFolder(t)
	for _, name := range []string{"string.h", "x.HPP", "acme_hooks.h", "acme_impl.c"} {
		setContent(t, dir, "c/"+name, emit.StarterLine(name))
	}
	why := " untracked: it begins like a starter file, which belongs to its author"
	assert.Equal(t, []string{"c/acme_hooks.h" + why, "c/acme_impl.c" + why, "c/string.h untracked",
		"c/x.HPP untracked"},
		verdicts(t, bare))
}

// A lock without files verifies nothing.
func TestVerifyRejectsAnEmptyLock(t *testing.T) {
	dir := t.TempDir()
	req := request(dir, target("c", "c", map[string]string{"a.h": ours("a")}))
	generated(t, req)
	dropLine("c/a.h")(t, dir)
	remove(t, dir, "c")
	_, err := Verify(Request{Out: dir, Tool: req.Tool})
	assert.ErrorContains(t, requireKind(t, err, KindInvalid), "the lock lists no files")
}
