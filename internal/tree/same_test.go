package tree

import (
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// foldDisk is a disk that ignores case and preserves the case of created names, like the disks of
// Windows and macOS.
type foldDisk struct{ disk }

// real returns a path with the case on the disk.
func (d foldDisk) real(name string) string {
	out := "."
	for part := range strings.SplitSeq(name, "/") {
		entries, _ := d.disk.ReadDir(out)
		for _, e := range entries {
			if strings.EqualFold(e.Name(), part) {
				part = e.Name()
			}
		}
		out = path.Join(out, part)
	}
	return out
}

func (d foldDisk) Lstat(name string) (fs.FileInfo, error)     { return d.disk.Lstat(d.real(name)) }
func (d foldDisk) Stat(name string) (fs.FileInfo, error)      { return d.disk.Stat(d.real(name)) }
func (d foldDisk) ReadDir(name string) ([]fs.DirEntry, error) { return d.disk.ReadDir(d.real(name)) }
func (d foldDisk) Open(name string) (io.ReadCloser, error)    { return d.disk.Open(d.real(name)) }
func (d foldDisk) Mkdir(name string) error                    { return d.disk.Mkdir(d.real(name)) }
func (d foldDisk) Rename(from, to string) error               { return d.disk.Rename(d.real(from), d.real(to)) }
func (d foldDisk) Remove(name string) error                   { return d.disk.Remove(d.real(name)) }
func (d foldDisk) Create(name string, perm fs.FileMode) (io.WriteCloser, error) {
	return d.disk.Create(d.real(name), perm)
}

func folding() world {
	w := system()
	w.open = func(dir string) (disk, error) {
		d, err := openDisk(dir)
		return foldDisk{d}, err
	}
	return w
}

// content reads a file by a name in any case.
func content(t *testing.T, w world, dir, name string) string {
	t.Helper()
	d, err := w.open(dir)
	require.NoError(t, err)
	defer d.Close()
	data, err := readAll(d, name, maxFile)
	if err != nil {
		return ""
	}
	return string(data)
}

// A path whose case changes in the config is the same file on a disk that ignores case, and so is a
// link to the old path: it is neither deleted as stale nor reported as edited.
func TestTheSameFileUnderAnotherName(t *testing.T) {
	for _, c := range []struct {
		name     string
		world    world
		old, new string
		link     [2]string // a link to create between the runs: name, destination
	}{
		{name: "a target's path in other letters", world: folding(), old: "gen/C", new: "gen/c"},
		{name: "the first directory in other letters", world: folding(), old: "Gen/c", new: "gen/c"},
		{name: "letters beyond ASCII", world: folding(), old: "gen/Ärger", new: "gen/ärger"},
		{name: "a link to the old path", world: system(), old: "gen/old", new: "gen/new",
			link: [2]string{"gen/new", "old"}},
		{name: "a link on the way", world: system(), old: "gen/old", new: "new/old", link: [2]string{"new", "gen"}},
	} {
		for _, text := range []string{ours("a"), ours("a, new")} {
			t.Run(c.name, func(t *testing.T) {
				dir := t.TempDir()
				_, err := c.world.generate(request(dir,
					target("c", c.old, map[string]string{"dlpack/a.h": ours("a"), "b.h": ours("b")})), false)
				require.NoError(t, err)
				if c.link[0] != "" {
					link(t, c.link[1], filepath.Join(dir, filepath.FromSlash(c.link[0])))
				}
				req := request(dir, target("c", c.new, map[string]string{"dlpack/a.h": text, "b.h": ours("b")}))
				report, err := c.world.generate(req, false)
				require.NoError(t, err)
				assert.Empty(t, report.Of(Obsolete))
				assert.Equal(t, text, content(t, c.world, dir, c.new+"/dlpack/a.h"))
				assert.Equal(t, ours("b"), content(t, c.world, dir, c.new+"/b.h"))
				report, err = c.world.check(req)
				require.NoError(t, err)
				assert.False(t, report.Drift(), "%+v", report.Items)
				_, err = c.world.clean(req, false)
				require.NoError(t, err)
				assert.Empty(t, content(t, c.world, dir, c.new+"/b.h"))
			})
		}
	}
}

// A case-sensitive disk has two files, and the old one is stale.
func TestOtherLettersAreOtherFilesWhereTheDiskSaysSo(t *testing.T) {
	dir := t.TempDir()
	generated(t, request(dir, target("c", "gen/C", map[string]string{"a.h": ours("a")})))
	report := generated(t, request(dir, target("c", "gen/c", map[string]string{"a.h": ours("a")})))
	assert.Len(t, report.Of(Obsolete), 1)
	assert.Equal(t, []string{DefaultLock, "gen/c/a.h"}, names(disked(t, dir)))
	assert.NoDirExists(t, filepath.Join(dir, "gen", "C"))
}

// Hard links are separate files: tools that link equal files have no effect.
func TestHardLinksAreTwoFiles(t *testing.T) {
	dir := t.TempDir()
	req := request(dir, target("c", "c", map[string]string{"a.h": ours("a")}),
		target("cpp", "cpp", map[string]string{"a.h": ours("a")}))
	generated(t, req)
	remove(t, dir, "cpp/a.h")
	require.NoError(t, os.Link(filepath.Join(dir, "c", "a.h"), filepath.Join(dir, "cpp", "a.h")))
	requireFine(t, req)
	req.Targets = req.Targets[:1]
	report := generated(t, req)
	assert.Len(t, report.Of(Obsolete), 1)
	assert.Equal(t, []string{"c/a.h", DefaultLock}, names(disked(t, dir)))
}

// Files that belong to another target, another config or the user are not deleted under another
// name either.
func TestStaleFilesThatAreSomebodyElsesUnderAnotherName(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, dir string, req *Request){
		"another target's": func(t *testing.T, dir string, req *Request) {
			*req = only(*req, "c")
			appendLock(t, dir, DefaultLock, "go", "real/a.h")
		},
		"another config's": func(t *testing.T, dir string, req *Request) {
			setContent(t, dir, "vendor.lock", lockMark+" 2 v0.1.0 ab\n")
			appendLock(t, dir, "vendor.lock", "c", "real/a.h")
		},
		"an input": func(_ *testing.T, dir string,
			req *Request) {
			req.Inputs = []string{filepath.Join(dir, "real", "a.h")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			setContent(t, dir, "real/a.h", ours("a"))
			link(t, "real", filepath.Join(dir, "c"))
			setContent(t, dir, DefaultLock, lockMark+" 2 v0.1.0 ab\n")
			appendLock(t, dir, DefaultLock, "c", "c/a.h")
			req := request(dir, target("c", "c", nil), target("go", "go", nil))
			change(t, dir, &req)
			generated(t, req)
			assert.Equal(t, ours("a"), disked(t, dir)["real/a.h"])
			assert.NotContains(t, disked(t, dir)[DefaultLock], " c/a.h")
		})
	}
}

// appendLock adds a line with the hash of the file a.h to a lock.
func appendLock(t *testing.T, dir, lock, target, name string) {
	t.Helper()
	line := fmt.Sprintf("%s 1.3 %s %s %s\n", target, specSum, sum([]byte(ours("a"))), name)
	setContent(t, dir, lock, disked(t, dir)[lock]+line)
}

// Plans with two names for the same file are rejected before any write.
func TestConflictsThatOnlyTheDiskKnows(t *testing.T) {
	one := map[string]string{"a.h": ours("a")}
	for name, change := range map[string]func(t *testing.T, dir string, req *Request){
		"two targets plan one file": func(_ *testing.T, _ string, req *Request) {
			req.Targets = append(req.Targets, target("cpp", "cpp", one))
		},
		"another target owns it": func(t *testing.T, dir string, req *Request) {
			setContent(t, dir, DefaultLock, lockMark+" 2 v0.1.0 ab\n")
			appendLock(t, dir, DefaultLock, "cpp", "cpp/a.h")
			req.Others = []Owned{{Name: "cpp", Path: "cpp"}}
		},
		"another config owns it": func(t *testing.T, dir string, _ *Request) {
			setContent(t, dir, "vendor.lock", lockMark+" 2 v0.1.0 ab\n")
			appendLock(t, dir, "vendor.lock", "c", "cpp/a.h")
		},
		"an input": func(_ *testing.T, dir string,
			req *Request) {
			req.Inputs = []string{filepath.Join(dir, "cpp", "a.h")}
		},
		"the depfile": func(_ *testing.T, dir string, req *Request) { req.Depfile = filepath.Join(dir, "cpp", "a.h") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(dir, "c"), 0o755))
			link(t, "c", filepath.Join(dir, "cpp"))
			req := request(dir, target("c", "c", one))
			change(t, dir, &req)
			requireUntouched(t, dir, req, KindConflict)
		})
	}
}

// If the case of the config's name changes, the records have a different case too, and are the same
// records.
func TestALockInOtherLetters(t *testing.T) {
	dir, w := t.TempDir(), folding()
	req := request(dir, target("c", "c", map[string]string{"a.h": ours("a")}))
	_, err := w.generate(req, false)
	require.NoError(t, err)
	req.Lock = "DLPackGen.lock"
	report, err := w.check(req)
	require.NoError(t, err)
	assert.False(t, report.Drift(), "%+v", report.Items)
}

// spelling returns a random path in a small tree in which many paths are the same file.
func spelling(random *rand.Rand) string {
	dirs := []string{"a", "A", "b", "B", "a/b", "A/B", "a/B", "link", "Link/b", "c/link"}
	return dirs[random.IntN(len(dirs))] + "/" + []string{"x.h", "X.h", "y.h", "Y.H"}[random.IntN(4)]
}

// drawn returns a random plan of two targets.
func drawn(random *rand.Rand, dir string) Request {
	req := request(dir)
	for _, name := range []string{"c", "go"} {
		files := map[string]string{}
		for range 1 + random.IntN(3) {
			files[spelling(random)] = ours(fmt.Sprint(random.IntN(3)))
		}
		req.Targets = append(req.Targets, target(name, ".", files))
	}
	return req
}

// TestRandomSpellings runs random plans in sequence over links and a disk that ignores case. A
// successful run leaves each planned file with its contents, check reports nothing, no run changes
// the user's files, and clean leaves only these.
func TestRandomSpellings(t *testing.T) {
	random, ran, rounds := rand.New(rand.NewPCG(2, 22)), 0, 400
	if testing.Short() {
		rounds = 40
	}
	for n := range rounds {
		dir, w := fastDir(t), system()
		if n%2 == 0 {
			w = folding()
		}
		setContent(t, dir, "a/mine", mine)
		setContent(t, dir, "b/mine", mine)
		link(t, "a", filepath.Join(dir, "link"))
		link(t, "../b", filepath.Join(dir, "c", "link"))
		for range 4 {
			req := drawn(random, dir)
			if random.IntN(3) == 0 {
				req = only(req, "c")
			}
			_, err := w.generate(req, false)
			require.Equal(t, mine, disked(t, dir)["a/mine"])
			if err != nil {
				requireKind(t, err, KindConflict)
				continue
			}
			ran++
			for _, planned := range req.Targets {
				for _, f := range planned.Files {
					require.Equal(t, string(f.Data), content(t, w, dir, f.Path), "plan %d: %s", n, f.Path)
				}
			}
			again, err := w.check(req)
			require.NoError(t, err)
			require.False(t, again.Drift(), "plan %d: %+v", n, again.Items)
		}
		_, err := w.clean(drawn(random, dir), false)
		require.NoError(t, err)
		require.Equal(t, []string{"a/mine", "b/mine", "c/link", "link"}, names(disked(t, dir)), "plan %d", n)
	}
	assert.Greater(t, ran, rounds/2, "most plans conflict")
}
