package tree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
)

// requireUntouched runs every entry point; each must end with that kind and exit code 2, and
// without a trace: not even the output directory is created.
func requireUntouched(t *testing.T, dir string, req Request, kind Kind) *Error {
	t.Helper()
	before := disked(t, dir)
	_, statErr := os.Stat(req.Out)
	var out *Error
	for name, run := range verbs {
		if name == "clean" {
			continue // it plans no files, so most of these checks do not apply
		}
		report, err := run(forced(req))
		out = requireKind(t, err, kind)
		assert.Nil(t, report, name)
		assert.Equal(t, 2, out.ExitCode(), name)
	}
	assert.Equal(t, before, disked(t, dir))
	_, after := os.Stat(req.Out)
	assert.Equal(t, statErr == nil, after == nil, "the output directory was created")
	return out
}

func TestEscapingPaths(t *testing.T) {
	for _, c := range []struct{ name, target, file string }{
		{"target above", "../c", "a.h"},
		{"target through", "gen/../../c", "a.h"},
		{"target with dot dot", "gen/../c", "a.h"},
		{"target absolute", "/c", "a.h"},
		{"target empty", "", "a.h"},
		{"file above", "c", "../a.h"},
		{"file far above", "c", "../../a.h"},
		{"file too long", "c", strings.Repeat("a/", 50_000) + "a.h"},
		{"target too long", strings.Repeat("a/", 50_000), "a.h"},
		{"file absolute", "c", "/a.h"},
		{"file empty", "c", ""},
		{"file with backslash", "c", `..\a.h`},
		{"file with a line break", "c", "a\n.h"},
		{"file with NUL", "c", "a\x00.h"},
		{"file not UTF-8", "c", "a\xff.h"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			req := request(filepath.Join(dir, "out"), target("c", c.target, map[string]string{c.file: ours("a")}))
			requireUntouched(t, dir, req, KindEscape)
		})
	}
}

// All mistakes in the paths of a request are reported at once.
func TestEveryBadPathIsNamed(t *testing.T) {
	req := request(t.TempDir(), target("c", "c", map[string]string{"../a": "", "/b": "", "c": ""}),
		target("go", "..", nil))
	_, err := Check(req)
	assert.Len(t, requireKind(t, err, KindEscape).Findings, 3)
}

func TestEscapingLinks(t *testing.T) {
	for _, c := range []struct {
		name string
		link string // below out
		lock bool   // the path is in the lock, and no longer planned
	}{
		{"a directory on the way", "c", false},
		{"a deeper directory", "c/dlpack", false},
		{"the file itself", "c/dlpack/a.h", false},
		{"a directory of a locked path", "c", true},
		{"a locked path itself", "c/dlpack/a.h", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			out, outside := filepath.Join(dir, "out"), filepath.Join(dir, "outside")
			files := map[string]string{"dlpack/a.h": ours("a")}
			if c.lock {
				generated(t, request(out, target("c", "c", files)))
				remove(t, out, "c")
				files = nil
			}
			writeAll(t, outside, map[string]string{"a.h": ours("a"), "dlpack/a.h": ours("a")})
			to := outside
			if filepath.Base(c.link) == "a.h" {
				to = filepath.Join(outside, "a.h")
			}
			link(t, to, filepath.Join(out, filepath.FromSlash(c.link)))
			requireUntouched(t, dir, request(out, target("c", "c", files)), KindEscape)
		})
	}
}

func link(t *testing.T, to, name string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.Symlink(to, name))
}

// A link to a target inside is not an escape, but at a planned path it is not our file either:
// force replaces the link, never its target.
func TestInnerLinks(t *testing.T) {
	dir := t.TempDir()
	req := request(dir, target("c", "c", map[string]string{"a.h": ours("a"), "sub/b.h": ours("b")}))
	setContent(t, dir, "real/a.h", ours("a"))
	link(t, "../real/a.h", filepath.Join(dir, "c", "a.h"))
	link(t, "../real", filepath.Join(dir, "c", "sub"))
	_, err := Generate(req, false)
	requireKind(t, err, KindModified)
	generated(t, forced(req))
	assert.Equal(t, ours("a"), disked(t, dir)["c/a.h"])
	assert.Equal(t, ours("a"), disked(t, dir)["real/a.h"])
	assert.Equal(t, ours("b"), disked(t, dir)["real/b.h"])
	requireFine(t, req)
}

// The output directory may be a link itself, because the user named it.
func TestOutIsALink(t *testing.T) {
	dir := t.TempDir()
	setContent(t, dir, "real/x", "")
	link(t, "real", filepath.Join(dir, "out"))
	generated(t, request(filepath.Join(dir, "out"), target("c", "c", map[string]string{"a.h": ours("a")})))
	assert.Equal(t, ours("a"), disked(t, dir)["real/c/a.h"])
}

func TestConflicts(t *testing.T) {
	one := map[string]string{"a.h": ours("a")}
	for _, c := range []struct {
		name    string
		targets []Target
		change  func(t *testing.T, req *Request)
	}{
		{name: "two targets plan one path", targets: []Target{target("c", "gen", one), target("cpp", "gen", one)}},
		{name: "one path by two ways",
			targets: []Target{target("c", "gen", map[string]string{"c/a.h": ""}), target("cpp", "./gen/c", one)}},
		{name: "paths that differ in case",
			targets: []Target{target("c", "gen", one), target("cpp", "gen", map[string]string{"A.h": ""})}},
		{name: "a file and a directory", targets: []Target{target("c", "gen", map[string]string{"a": "", "a/b": ""})}},
		{name: "the lock's name", targets: []Target{target("c", ".", map[string]string{DefaultLock: ""})}},
		{name: "the journal's name", targets: []Target{target("c", ".", map[string]string{".dlpackgen.journal": ""})}},
		{name: "a temporary's name",
			targets: []Target{target("c", "c", map[string]string{filepath.Base(tempName("c/a.h")): ""})}},
		{name: "a path through the lock", targets: []Target{target("c", DefaultLock, one)}},
		{name: "a path far below the lock", targets: []Target{target("c", "./"+DefaultLock+"/x", one)}},
		{name: "a path through the lock in other letters", targets: []Target{target("c", "DLPackGen.Lock", one)}},
		{name: "a path through the journal", targets: []Target{target("c", ".dlpackgen.journal", one)}},
		{name: "a path through a temporary", targets: []Target{target("c", strings.ToUpper(tempName("a")), one)}},
		{name: "a file through the lock",
			targets: []Target{target("c", ".", map[string]string{DefaultLock + "/a.h": ""})}},
		{name: "a path through the depfile", targets: []Target{target("c", "c", one)},
			change: func(_ *testing.T, req *Request) { req.Depfile = filepath.Join(req.Out, "C") }},
		{name: "a depfile below a file", targets: []Target{target("c", "c", one)},
			change: func(_ *testing.T, req *Request) { req.Depfile = filepath.Join(req.Out, "c", "a.h", "d") }},
		{name: "an input", targets: []Target{target("c", ".", map[string]string{"dlpackgen.yaml": ""})},
			change: func(_ *testing.T,
				req *Request) {
				req.Inputs = []string{filepath.Join(req.Out, "dlpackgen.yaml")}
			}},
		{name: "a file on the way", targets: []Target{target("c", "c/d", one)},
			change: func(t *testing.T, req *Request) { setContent(t, req.Out, "c", "") }},
		{name: "a file far up", targets: []Target{target("c", "c/d/e", one)},
			change: func(t *testing.T, req *Request) { setContent(t, req.Out, "c", "") }},
		{name: "a directory at the lock", targets: []Target{target("c", "c", one)},
			change: func(t *testing.T, req *Request) { setContent(t, req.Out, DefaultLock+"/x", "") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			req := request(filepath.Join(dir, "out"), c.targets...)
			if c.change != nil {
				c.change(t, &req)
			}
			requireUntouched(t, dir, req, KindConflict)
		})
	}
}

// A directory at a planned path counts as edited, and force does not remove it: its contents are
// unknown.
func TestADirectoryAtAPlannedPath(t *testing.T) {
	dir, req := oneFile(t)
	req.Targets[0].Files = append(req.Targets[0].Files, emit.File{Path: "b.h", Data: []byte(ours("b"))})
	remove(t, dir, "c/a.h")
	setContent(t, dir, "c/a.h/x", mine)
	setContent(t, dir, "c/b.h", mine)
	before := disked(t, dir)
	for _, req := range []Request{req, forced(req)} {
		for name, look := range map[string]func(Request) (*Report, error){
			"check": Check, "dry run": func(r Request) (*Report, error) { return Generate(r, true) },
		} {
			report, err := look(req)
			require.NoError(t, err, name)
			it, _ := itemAt(report, "c/a.h")
			assert.Equal(t, Item{Path: "c/a.h", Target: "c", State: Modified, Dir: true,
				Instead: "a directory", New: []byte(ours("a"))}, it, name)
			assert.True(t, report.Drift(), name)
		}
		_, err := Generate(req, false)
		out := requireKind(t, err, KindModified)
		assert.Equal(t, 1, out.ExitCode())
		assert.Contains(t, out.Error(), "expected a generated file, found a directory")
		assert.Contains(t, out.Findings[0].Hint, "--force removes no directory")
		assert.Equal(t, !req.Force, len(out.Findings) == 2, "b.h can be forced: %v", out)
		assert.Equal(t, before, disked(t, dir))
	}
	remove(t, dir, "c/a.h")
	generated(t, forced(req))
	requireFine(t, req)
}

// An impossible path is one finding, however many files are planned below it.
func TestAPathThroughTheLockIsNamedOnce(t *testing.T) {
	_, err := Generate(request(t.TempDir(), target("c", DefaultLock, map[string]string{"a.h": "", "b.h": ""})), false)
	out := requireKind(t, err, KindConflict)
	require.Len(t, out.Findings, 1)
	assert.Contains(t, out.Error(), "target c contains a file name that dlpackgen reserves")
}

// A lock has one name in every Unicode normalization.
func TestTheLockIsReservedInEachForm(t *testing.T) {
	dir := t.TempDir()
	req := request(dir, target("c", ".", map[string]string{"e\u0301.lock": ""}))
	req.Lock = "\u00e9.lock"
	requireUntouched(t, dir, req, KindConflict)
}

func TestBadRequests(t *testing.T) {
	good := func(dir string) Request {
		return request(filepath.Join(dir, "out"), target("c", "c", map[string]string{"a": ""}))
	}
	for name, spoil := range map[string]func(*Request){
		"no out":                 func(r *Request) { r.Out = "" },
		"an endless depfile":     func(r *Request) { r.Depfile = strings.Repeat("a/", 50_000) },
		"an endless input":       func(r *Request) { r.Inputs = []string{strings.Repeat("a/", 50_000)} },
		"no tool version":        func(r *Request) { r.Tool.Version = "" },
		"no digest of the tool":  func(r *Request) { r.Tool.Digest = "" },
		"a digest of words":      func(r *Request) { r.Tool.Digest = "of words" },
		"a lock elsewhere":       func(r *Request) { r.Lock = "x/y.lock" },
		"a lock above":           func(r *Request) { r.Lock = "../y.lock" },
		"a lock without its end": func(r *Request) { r.Lock = "dlpackgen.yaml" },
		"a lock without a name":  func(r *Request) { r.Lock = ".lock" },
		"a target with a space":  func(r *Request) { r.Targets[0].Name = "a b" },
		"no release":             func(r *Request) { r.Targets[0].Release = "" },
		"no spec":                func(r *Request) { r.Targets[0].SpecSHA256 = "" },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			req := good(dir)
			spoil(&req)
			requireUntouched(t, dir, req, KindRequest)
		})
	}
}

// Unreadable files end the run before any write.
func TestOutIsAFile(t *testing.T) {
	dir := t.TempDir()
	setContent(t, dir, "out", "x")
	req := request(filepath.Join(dir, "out"), target("c", "c", map[string]string{"a": ""}))
	out := requireUntouched(t, dir, req, KindIO)
	assert.Contains(t, out.Error(), "not a directory")
	req.Out = filepath.Join(dir, "out", "below")
	requireUntouched(t, dir, req, KindIO)
}

// A replaced file keeps its mode, which the user may have chosen.
func TestModeIsKept(t *testing.T) {
	dir, req := oneFile(t)
	file := filepath.Join(dir, "c", "a.h")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c", "usual"), nil, 0o666))
	assert.Equal(t, permOf(t, filepath.Join(dir, "c", "usual")), permOf(t, file), "as any new file")
	for _, perm := range []os.FileMode{0o600, 0o666, 0o444, 0o755} {
		require.NoError(t, os.Chmod(file, perm))
		req.Targets[0].Files = []emit.File{{Path: "a.h", Data: []byte(ours(perm.String()))}}
		generated(t, req)
		assert.Equal(t, perm, permOf(t, file))
	}
}

// The lock, which changes most often, also keeps its mode, and so does the depfile.
func TestModeOfOurOwnFilesIsKept(t *testing.T) {
	t.Chdir(t.TempDir())
	req := request(".", target("c", "c", map[string]string{"a.h": ours("a")}))
	req.Depfile = "x.d"
	generated(t, req)
	for _, perm := range []os.FileMode{0o600, 0o666, 0o444, 0o755} {
		require.NoError(t, os.Chmod(DefaultLock, perm))
		require.NoError(t, os.Chmod("x.d", perm))
		req.Targets[0].Files = []emit.File{{Path: "a.h", Data: []byte(ours(perm.String()))}}
		req.Inputs = append(req.Inputs, perm.String())
		generated(t, req)
		assert.Equal(t, perm, permOf(t, DefaultLock))
		assert.Equal(t, perm, permOf(t, "x.d"))
	}
}

// A file with mode 0, which only root can read, is not an exception.
func TestAModeOfNoRightsIsKept(t *testing.T) {
	dir, req := oneFile(t)
	file := filepath.Join(dir, "c", "a.h")
	require.NoError(t, os.Chmod(file, 0))
	if f, err := os.Open(file); err != nil {
		t.Skipf("needs the right to read files of mode 0: %v", err)
	} else {
		require.NoError(t, f.Close())
	}
	req.Targets[0].Files = []emit.File{{Path: "a.h", Data: []byte(ours("new"))}}
	generated(t, req)
	assert.Zero(t, permOf(t, file))
}

func permOf(t *testing.T, file string) os.FileMode {
	t.Helper()
	info, err := os.Stat(file)
	require.NoError(t, err)
	return info.Mode().Perm()
}

// A conflict names both files, and the targets that plan them.
func TestConflictsNameBothFiles(t *testing.T) {
	plan := func(files ...string) map[string]string {
		all := map[string]string{}
		for _, name := range files {
			all[name] = ""
		}
		return all
	}
	for want, targets := range map[string][]Target{
		"out/gen/a.h: targets c and cpp both plan this file": {
			target("c", "gen", plan("a.h")), target("cpp", "gen", plan("a.h"))},
		"out/gen/A.h: targets c and cpp both plan this file: out/gen/a.h is the same file ": {
			target("c", "gen", plan("a.h")), target("cpp", "gen", plan("A.h"))},
		"out/gen/e\u0301.h: targets c and cpp both plan this file: out/gen/\u00e9.h is the same file where a letter and its accent ": {
			target("c", "gen", plan("\u00e9.h")), target("cpp", "gen", plan("e\u0301.h"))},
		"out/gen/a.h: target c plans this file twice: out/gen/A.h is the same file ": {
			target("c", "gen", plan("A.h", "a.h"))},
		"out/gen/a: is planned as a file by target c, and as a directory by target c": {
			target("c", "gen", plan("a", "a/b"))},
		"out/gen/a: is planned as a file by target c, and as a directory by target cpp": {
			target("c", "gen", plan("a")), target("cpp", "gen/a", plan("b", "c/d", "e"))},
	} {
		_, err := Plan(request("out", targets...))
		out := requireKind(t, err, KindConflict)
		assert.True(t, strings.HasPrefix(out.Error(), want), "%s: %s", want, out)
		assert.Len(t, out.Findings, 1)
		assert.NotEmpty(t, out.Findings[0].Hint)
	}
}
