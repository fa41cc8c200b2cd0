package tree

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/mutant"
)

// held opens and guards a directory, like another run.
func held(t *testing.T, dir string, shared bool) disk {
	t.Helper()
	d, err := openDisk(dir)
	require.NoError(t, err)
	require.NoError(t, d.Guard(shared))
	return d
}

// A run that waits without success reports it, and writes nothing.
func TestBusyDirectory(t *testing.T) {
	dir, req := oneFile(t)
	setContent(t, dir, "c/a.h", ours("older"))
	before := disked(t, dir)
	d := held(t, dir, false)
	defer d.Close()
	w := system()
	w.wait = 50 * time.Millisecond
	for name, run := range map[string]func() (*Report, error){
		"generate": func() (*Report, error) { return w.generate(req, false) },
		"check":    func() (*Report, error) { return w.check(req) },
		"clean":    func() (*Report, error) { return w.clean(req, false) },
	} {
		start := time.Now()
		_, err := run()
		out := requireKind(t, err, KindBusy)
		assert.Equal(t, 2, out.ExitCode(), name)
		assert.GreaterOrEqual(t, time.Since(start), w.wait, name)
	}
	assert.Equal(t, before, disked(t, dir))
	assert.Equal(t, 10*time.Second, system().wait)
}

// The second run waits for the first one, and then does its work.
func TestSecondRunWaits(t *testing.T) {
	dir, req := oneFile(t)
	req.Targets[0] = target("c", "c", map[string]string{"a.h": ours("new")})
	d := held(t, dir, false)
	done := make(chan error)
	go func() {
		_, err := Generate(req, false)
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("the second run did not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	require.NoError(t, d.Close())
	require.NoError(t, <-done)
	assert.Equal(t, ours("new"), disked(t, dir)["c/a.h"])
}

// Checks exclude only writers.
func TestChecksShareTheDirectory(t *testing.T) {
	dir, req := oneFile(t)
	d := held(t, dir, true)
	defer d.Close()
	requireFine(t, req)
	w := system()
	w.wait = 0
	remove(t, dir, "c")
	_, err := w.generate(req, false)
	requireKind(t, err, KindBusy)
	again := held(t, dir, true)
	require.NoError(t, again.Close())
	other, err := openDisk(dir)
	require.NoError(t, err)
	defer other.Close()
	assert.ErrorIs(t, other.Guard(false), errBusy)
}

// Many concurrent runs, some for one target only, have the result of one of them; the output
// directory does not exist at the beginning.
func TestManyRunsAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "out")
	var all sync.WaitGroup
	errs := make([]error, 12)
	for i := range errs {
		all.Go(func() {
			req := requested(dir, 2)
			if i%3 == 1 {
				req = only(req, "go")
			}
			_, errs[i] = Generate(req, false)
		})
	}
	all.Wait()
	require.NoError(t, errors.Join(errs...))
	requireExactly(t, dir, plans[2], "after all runs")
	requireFine(t, requested(dir, 2))
}

// A run never removes temporary files of a run on a directory above or below its own, which may
// still be running: the guard covers one directory only.
func TestTemporariesOfNestedDirectories(t *testing.T) {
	dir := t.TempDir()
	inner := filepath.Join(dir, "sub")
	files := map[string]string{"x/a.h": ours("a")}
	outerReq, innerReq := request(dir,
		target("c", ".", map[string]string{"a.h": ours("a"), "sub/y/b.h": ours("b")})),
		request(inner, target("c", ".", files))
	generated(t, outerReq)
	generated(t, innerReq)
	remove(t, dir, "sub/dlpackgen.lock") // as in a first run
	ofOuter, ofInner := tempName("sub/y/b.h"), []string{path.Join("sub", tempName("x/a.h")),
		path.Join("sub", tempName(DefaultLock))}
	for _, name := range append(ofInner, ofOuter) {
		setContent(t, dir, name, "half")
	}
	report, err := Check(outerReq)
	require.NoError(t, err)
	assert.Len(t, report.Of(Interrupted), 1, "%+v", report.Items)
	report, err = Check(innerReq)
	require.NoError(t, err)
	assert.Len(t, report.Of(Interrupted), 2, "%+v", report.Items)

	generated(t, outerReq)
	files = disked(t, dir)
	assert.NotContains(t, files, ofOuter)
	assert.Contains(t, files, ofInner[0])
	assert.Contains(t, files, ofInner[1])
	setContent(t, dir, ofOuter, "half")
	generated(t, innerReq)
	files = disked(t, dir)
	assert.Contains(t, files, ofOuter)
	assert.NotContains(t, files, ofInner[0])
	assert.NotContains(t, files, ofInner[1])
}

// Concurrent runs on nested directories all succeed, even if none has a lock yet, and the files of
// each are complete.
func TestNestedDirectoriesAtOnce(t *testing.T) {
	count := 30
	if testing.Short() {
		count = 5
	}
	for range count {
		dir := fastDir(t)
		requests := []Request{request(dir, target("c", ".", plans[2])),
			request(filepath.Join(dir, "gen", "in"), target("c", ".", plans[1])),
			request(filepath.Join(dir, "gen", "in", "gen", "deep"), target("go", ".", plans[3]))}
		var all sync.WaitGroup
		errs := make([]error, 3*len(requests))
		for i := range errs {
			all.Go(func() { _, errs[i] = Generate(requests[i%len(requests)], false) })
		}
		all.Wait()
		require.NoError(t, errors.Join(errs...))
		requireNoTemps(t, dir, "after all runs")
		for _, req := range requests {
			requireFine(t, req)
			_, err := Clean(req, false)
			require.NoError(t, err)
		}
		assert.Empty(t, disked(t, dir))
	}
}

// Two configs may share a directory, and even a folder in it. Each has its own lock, and files in
// the other's lock are never ours.
func TestTwoConfigsShareADirectory(t *testing.T) {
	dir := t.TempDir()
	first := request(dir, target("c", "gen", map[string]string{"a.h": ours("a"), "old.h": ours("old")}))
	second := request(dir, target("go", "gen", map[string]string{"x.go": ours("x")}))
	second.Lock = "vendor.lock"
	generated(t, first)
	report := generated(t, second)
	assert.Len(t, report.Items, 2, "%+v", report.Items)
	requireFine(t, first)
	requireFine(t, second)

	first.Targets[0] = target("c", "gen", map[string]string{"a.h": ours("a")})
	generated(t, first)
	assert.NotContains(t, disked(t, dir), "gen/old.h")
	requireFine(t, second)

	_, err := Clean(first, false)
	require.NoError(t, err)
	assert.Equal(t, []string{"gen/x.go", "vendor.lock"}, names(disked(t, dir)))
	requireFine(t, second)
}

func names(files map[string]string) []string { return slices.Sorted(maps.Keys(files)) }

func TestTwoConfigsPlanOnePath(t *testing.T) {
	dir, req := oneFile(t)
	other := req
	other.Lock = "vendor.lock"
	out := requireUntouched(t, dir, other, KindConflict)
	assert.Contains(t, out.Error(), DefaultLock)
	assert.Contains(t, out.Error(), "c/a.h")
}

// A path that moved to the other config is dropped from our lock without a report.
func TestPathMovesToTheOtherConfig(t *testing.T) {
	dir, req := oneFile(t)
	setContent(t, dir, "vendor.lock", disked(t, dir)[DefaultLock])
	req.Targets[0] = target("c", "c", nil)
	generated(t, req)
	assert.Equal(t, []string{"c/a.h", "vendor.lock"}, names(disked(t, dir)))
	_, err := Clean(req, false)
	require.NoError(t, err)
	assert.Contains(t, disked(t, dir), "c/a.h")
}

// Only the other config heals its killed run: its journal identifies its files, and is kept.
func TestSiblingJournalIsLeftAlone(t *testing.T) {
	dir, req := oneFile(t)
	text := strings.ReplaceAll(disked(t, dir)[DefaultLock], "c/a.h", "c/theirs.h")
	text = mutant.Once(t, text, lockMark, journalMark)
	text = mutant.Once(t, text, specSum+" ", specSum+" - ")
	setContent(t, dir, ".vendor.journal", text)
	setContent(t, dir, "c/theirs.h", ours("theirs"))
	requireFine(t, req)
	req.Targets[0] = target("c", "c", map[string]string{"a.h": ours("new")})
	report := generated(t, req)
	_, judged := itemAt(report, "c/theirs.h")
	assert.False(t, judged)
	assert.Equal(t, text, disked(t, dir)[".vendor.journal"])
}

// Other tools have locks too, and an invalid lock of ours must be rejected.
func TestOtherLocksInTheDirectory(t *testing.T) {
	dir, req := oneFile(t)
	req.Targets[0].Path = "."
	req.Targets[0].Files[0].Path = "c/a.h"
	writeAll(t, dir, map[string]string{"Cargo.lock": "version = 4\n", "empty.lock": "", ".x.journal": "x"})
	report, err := Check(req)
	require.NoError(t, err)
	assert.Len(t, report.Of(Untracked), 3)
	assert.False(t, report.Drift())
	setContent(t, dir, "vendor.lock", "dlpackgen-lock 2 v0.1.0 ab\n>>>>>>>\n")
	_, err = Check(req)
	assert.Contains(t, requireKind(t, err, KindInvalid).Error(), "vendor.lock:2:1")
}

// An unselected target keeps a path that moves to a selected one, until a run for all targets.
func TestPathOfAnotherTarget(t *testing.T) {
	dir, req := oneFile(t)
	req.Targets = []Target{target("c", "c", nil), target("cpp", "c", map[string]string{"a.h": ours("cpp")})}
	out := requireUntouched(t, dir, only(req, "cpp"), KindConflict)
	assert.Contains(t, out.Findings[0].Hint, "without --only")
	generated(t, req)
	requireFine(t, req)
}

// The guard leaves no visible files.
func TestGuardLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	d := held(t, dir, false)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
	require.NoError(t, d.Close())
	_, err = Generate(request(dir, target("c", "c", nil)), false)
	require.NoError(t, err)
	assert.Empty(t, disked(t, dir))
}

// overtaken is a disk on which another run creates each directory first.
type overtaken struct{ disk }

func (o overtaken) Mkdir(name string) error {
	return errors.Join(o.disk.Mkdir(name), &fs.PathError{Op: "mkdirat", Path: name, Err: fs.ErrExist})
}

func TestADirectoryThatAnotherRunMakesMeanwhile(t *testing.T) {
	req := request(fastDir(t), target("c", "gen/in", map[string]string{"a.h": ours("a")}))
	w := system()
	w.open = func(dir string) (disk, error) {
		d, err := openDisk(dir)
		return overtaken{d}, err
	}
	_, err := w.generate(req, false)
	require.NoError(t, err)
	requireFine(t, req)
}
