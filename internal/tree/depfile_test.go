package tree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

func TestDepfile(t *testing.T) {
	t.Chdir(t.TempDir())
	req := request("gen/out", target("c", "c", map[string]string{"a.h": ours("a")}))
	req.Inputs, req.Depfile = []string{"dlpackgen.yaml", "my spec/a#b$c.yaml"}, "x.d"
	_, err := Generate(req, true)
	require.NoError(t, err)
	assert.NoFileExists(t, "x.d")
	generated(t, req)
	assert.Equal(t, "gen/out/dlpackgen.lock: dlpackgen.yaml my\\ spec/a\\#b$$c.yaml\nmy\\ spec/a\\#b$$c.yaml:\n",
		disked(t, ".")["x.d"])

	when := longAgo(t, ".")
	generated(t, req)
	assert.Equal(t, when, mtime(t, ".", "x.d"))
	remove(t, ".", "x.d") // ninja removes it
	setContent(t, ".", tempName("x.d"), "half, by a killed run")
	generated(t, req)
	assert.FileExists(t, "x.d")
	requireNoTemps(t, ".", "after the depfile")
	assert.Equal(t, when, mtime(t, ".", "gen/out/dlpackgen.lock"))
}

func TestDepfileWithoutInputs(t *testing.T) {
	t.Chdir(t.TempDir())
	req := request(".", target("c", "c", nil))
	req.Depfile = "x.d"
	generated(t, req)
	assert.Equal(t, "dlpackgen.lock:\n", disked(t, ".")["x.d"])
}

func TestDepfileWithOutputs(t *testing.T) {
	t.Chdir(t.TempDir())
	req := request("out", target("c", "c", map[string]string{"a.h": ours("a"), "b.h": ours("b")}))
	req.Targets[0].Files = append(req.Targets[0].Files, emit.File{Path: "mine.c", Data: []byte("x"), Once: true})
	req.Inputs, req.Depfile, req.Stamp, req.DepfileOutputs = []string{"dlpackgen.yaml"}, "x.d", "stamp", true
	generated(t, req)
	assert.Equal(t, "stamp: dlpackgen.yaml out/c/a.h out/c/b.h\nout/c/a.h:\nout/c/b.h:\n", disked(t, ".")["x.d"])
	for _, incomplete := range []func(*Request){
		func(r *Request) { r.Stamp = "" }, func(r *Request) { r.Depfile = "" },
	} {
		bad := req
		incomplete(&bad)
		_, err := Generate(bad, false)
		assert.ErrorContains(t, err, "need a depfile and a stamp")
	}
}

// In the output directory, the depfile may be in a folder that the run creates.
func TestDepfileInAFreshDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	req := request("out", target("c", "c", map[string]string{"a.h": ours("a")}))
	req.Depfile = "out/c/x.d"
	generated(t, req)
	assert.Equal(t, []string{"out/c/a.h", "out/c/x.d", "out/dlpackgen.lock"}, names(disked(t, ".")))
	requireFine(t, req)
}

// An impossible depfile, or one that would replace another file of the run, is rejected before any
// write.
func TestBadDepfile(t *testing.T) {
	for _, c := range []struct {
		name, depfile string
		kind          Kind
	}{
		{"no such directory", "nowhere/x.d", KindIO},
		{"below a file", "dlpackgen.yaml/x.d", KindIO},
		{"the config", "./dlpackgen.yaml", KindConflict},
		{"a generated file", "out/c/a.h", KindConflict},
		{"the lock", "out/dlpackgen.lock", KindConflict},
		{"the journal", "out/.dlpackgen.journal", KindConflict},
		{"the config through a link", "here/dlpackgen.yaml", KindConflict},
		{"a link to the config", "config.d", KindConflict},
		{"the target of a config that is a link", "real.yaml", KindConflict},
		{"a generated file through a link", "here/out/c/a.h", KindConflict},
		{"the lock through a link", "here/out/dlpackgen.lock", KindConflict},
		{"a directory", "here", KindConflict},
		{"the output directory", "out", KindConflict},
		{"a directory that the run does not make", "out/d/x.d", KindIO},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			setContent(t, ".", "dlpackgen.yaml", "version: 1")
			setContent(t, ".", "real.yaml", "spec: 1")
			link(t, ".", "here")
			link(t, "dlpackgen.yaml", "config.d")
			link(t, "real.yaml", "spec.yaml")
			before := disked(t, ".")
			req := request("out", target("c", "c", map[string]string{"a.h": ours("a")}))
			req.Inputs, req.Depfile = []string{"dlpackgen.yaml", "spec.yaml"}, c.depfile
			_, err := Generate(req, false)
			requireKind(t, err, c.kind)
			req.Depfile, req.Stamp = "", c.depfile
			_, err = Generate(req, false)
			requireKind(t, err, c.kind)
			assert.Equal(t, before, disked(t, "."))
		})
	}
	req := request(t.TempDir(), target("c", "c", nil))
	req.Inputs, req.Depfile = []string{"a\nb"}, filepath.Join(req.Out, "x.d")
	_, err := Generate(req, false)
	requireKind(t, err, KindRequest)
}

// Each successful run rewrites a stamp, which is then the depfile's target.
func TestStamp(t *testing.T) {
	t.Chdir(t.TempDir())
	setContent(t, ".", "bin/a tool", "")
	req := request("out", target("c", "c", map[string]string{"a.h": ours("a")}))
	req.Inputs, req.Binary = []string{"dlpackgen.yaml"}, "bin/a tool"
	req.Depfile, req.Stamp = "x.d", "x.stamp"
	_, err := Generate(req, true)
	require.NoError(t, err)
	assert.NoFileExists(t, "x.stamp")
	generated(t, req)
	assert.Equal(t, "x.stamp: dlpackgen.yaml bin/a\\ tool\nbin/a\\ tool:\n", disked(t, ".")["x.d"])
	assert.Equal(t, "v0.1.0 0123456789abcdef\n", disked(t, ".")["x.stamp"])

	when := longAgo(t, ".")
	generated(t, req)
	assert.True(t, mtime(t, ".", "x.stamp").After(when))
	assert.Equal(t, when, mtime(t, ".", "out/dlpackgen.lock"))
	assert.Equal(t, when, mtime(t, ".", "x.d"))

	when = longAgo(t, ".")
	setContent(t, ".", "out/c/a.h", "mine")
	_, err = Generate(req, false)
	requireKind(t, err, KindModified)
	assert.Equal(t, when, mtime(t, ".", "x.stamp"), "a run that fails leaves it")

	for _, taken := range []string{"./x.d", "bin/a tool"} {
		req.Stamp = taken
		_, err = Generate(req, false)
		requireKind(t, err, KindConflict)
	}
}

// Files of unselected targets and of other configs are not depfiles either.
func TestADepfileReplacesNoGeneratedFile(t *testing.T) {
	dir := t.TempDir()
	generated(t, requested(dir, 1))
	other := request(dir, target("c", "theirs", map[string]string{"b.h": ours("b")}))
	other.Lock = "vendor.lock"
	generated(t, other)
	link(t, "gen", filepath.Join(dir, "link"))
	for _, name := range []string{"gen/go/x.go", "link/go/x.go", "theirs/b.h", "vendor.lock"} {
		req := only(requested(dir, 1), "c")
		req.Depfile = filepath.Join(dir, filepath.FromSlash(name))
		before := disked(t, dir)
		_, err := Generate(req, false)
		requireKind(t, err, KindConflict)
		req.Depfile, req.Stamp = "", req.Depfile
		_, err = Generate(req, false)
		requireKind(t, err, KindConflict)
		assert.Equal(t, before, disked(t, dir), name)
	}
}

// A link stays, and the file that it leads to is written, also one elsewhere.
func TestSideFilesAreWrittenThroughLinks(t *testing.T) {
	t.Chdir(t.TempDir())
	elsewhere := t.TempDir()
	req := request("out", target("c", "c", map[string]string{"a.h": ours("a")}))
	req.Inputs = []string{"dlpackgen.yaml"}
	link(t, filepath.Join(elsewhere, "file"), "there")
	link(t, "there", "two")
	link(t, "file", "here")
	for _, name := range []string{"here", "there", "two"} {
		for _, field := range []*string{&req.Depfile, &req.Stamp} {
			setContent(t, elsewhere, "file", "old")
			setContent(t, ".", "file", "old")
			require.NoError(t, os.Chmod(name, 0o640))
			*field = name
			generated(t, req)
			*field = ""
			requireWrittenThrough(t, name)
			requireNoTemps(t, ".", "after a side file")
			requireNoTemps(t, elsewhere, "after a side file")
		}
	}
}

// requireWrittenThrough requires that a name is still a link, to a new text in a file with its old
// mode.
func requireWrittenThrough(t *testing.T, name string) {
	t.Helper()
	info, err := os.Lstat(name)
	require.NoError(t, err)
	assert.Equal(t, os.ModeSymlink, info.Mode().Type(), name)
	info, err = os.Stat(name)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), info.Mode(), name)
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.NotEqual(t, "old", string(text), name)
}

// A link that leads to no regular file is rejected before anything is written.
func TestSideFilesReplaceNoLink(t *testing.T) {
	t.Chdir(t.TempDir())
	setContent(t, ".", "folder/file", "")
	for name, to := range map[string]string{
		"a folder": "folder", "a folder elsewhere": t.TempDir(), "nothing": "nowhere",
		"nothing elsewhere": filepath.Join(t.TempDir(), "nowhere"), "itself": "itself",
	} {
		link(t, to, name)
	}
	requireSidesRejected(t, "a folder", "a folder elsewhere", "nothing", "nothing elsewhere", "itself")
}

// requireSidesRejected requires that a run writes nothing if one of these is its depfile or stamp.
func requireSidesRejected(t *testing.T, names ...string) {
	t.Helper()
	before := disked(t, ".")
	for _, name := range names {
		req := request("out", target("c", "c", map[string]string{"a.h": ours("a")}))
		for _, field := range []*string{&req.Depfile, &req.Stamp} {
			*field = name
			_, err := Generate(req, false)
			out := requireKind(t, err, KindConflict)
			assert.Equal(t, name, out.Findings[0].Pos.File)
			assert.Contains(t, out.Error(), "must be a regular file")
			assert.Equal(t, before, disked(t, "."), name)
			*field = ""
		}
	}
}

// Two names of one file are found through links too.
func TestStampAndDepfileAreTwoFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	setContent(t, ".", "file", "")
	link(t, "file", "link")
	req := request("out", target("c", "c", nil))
	for depfile, stamp := range map[string]string{"link": "file", "file": "link", "./link": "link"} {
		req.Depfile, req.Stamp = depfile, stamp
		_, err := Generate(req, false)
		assert.Contains(t, requireKind(t, err, KindConflict).Error(), "are one file")
	}
}

// Ninja must parse the depfile, and find each input.
func TestNinjaReadsTheDepfile(t *testing.T) {
	ninja := testtool.Require(t, "ninja", "ninja-build")
	t.Chdir(t.TempDir())
	req := request("out", target("c", "c", map[string]string{"a.h": ours("a")}))
	req.Inputs, req.Depfile = []string{"dlpackgen.yaml", "my spec/a#b$c.yaml"}, "made.d"
	for _, name := range req.Inputs {
		setContent(t, ".", name, "")
	}
	generated(t, req)
	setContent(t, ".", "build.ninja",
		"rule gen\n  command = cp made.d $out.d\n  depfile = $out.d\n  deps = gcc\n  restat = 1\nbuild "+
			"out/dlpackgen.lock: gen\n")
	remove(t, ".", "out")
	generated(t, req)
	require.NoError(t, os.Chtimes("out/dlpackgen.lock", longAgo(t, "."), longAgo(t, ".")))
	run := func(args ...string) string {
		text, err := exec.Command(ninja, args...).CombinedOutput()
		require.NoError(t, err, "%s", text)
		return string(text)
	}
	run()
	deps := run("-t", "deps", "out/dlpackgen.lock")
	for _, name := range req.Inputs {
		assert.Contains(t, strings.Split(deps, "\n"), "    "+name)
	}
}
