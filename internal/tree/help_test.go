package tree

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
)

// ours returns the text of a generated file.
func ours(text string) string { return emit.Banner("x.go", "1.3") + text + "\n" }

// thisTool identifies the build of the tests, and thisHead is its line in locks.
var thisTool = Tool{Version: "v0.1.0", Digest: "0123456789abcdef"}

const thisHead = "dlpackgen-lock 2 v0.1.0 0123456789abcdef\n"

var specSum = strings.Repeat("5", 64)

// target returns a target from path -> content.
func target(name, path string, files map[string]string) Target {
	t := Target{Name: name, Release: "1.3", SpecSHA256: specSum, Path: path}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		t.Files = append(t.Files, emit.File{Path: p, Data: []byte(files[p])})
	}
	return t
}

// request returns a request for targets in dir.
func request(dir string, targets ...Target) Request {
	return Request{Out: dir, Tool: thisTool, Targets: targets}
}

// only narrows a request to one of its targets, like --only.
func only(req Request, name string) Request {
	out := req
	out.Targets, out.Only = nil, true
	for _, t := range req.Targets {
		if t.Name == name {
			out.Targets = append(out.Targets, t)
		} else {
			out.Others = append(out.Others, Owned{Name: t.Name, Path: t.Path})
		}
	}
	return out
}

func forced(req Request) Request {
	req.Force = true
	return req
}

func setContent(t *testing.T, dir, name, data string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(data), 0o644))
}

func writeAll(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, data := range files {
		setContent(t, dir, name, data)
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(filepath.Join(dir, filepath.FromSlash(name))))
}

// disked reads all files below dir, including hidden ones; links are written with an arrow.
func disked(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, _ := walked(t, dir)
	return files
}

// walked returns the files below dir like disked, and the empty directories.
func walked(t *testing.T, dir string) (files map[string]string, empty []string) {
	t.Helper()
	files = map[string]string{}
	entries := map[string]int{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || name == dir {
			return nil
		}
		require.NoError(t, err)
		entries[filepath.Dir(name)]++
		if e.IsDir() {
			entries[name] += 0
			return nil
		}
		rel, err := filepath.Rel(dir, name)
		files[filepath.ToSlash(rel)] = entryText(t, name, e)
		return err
	})
	require.NoError(t, err)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if entries[name] == 0 {
			empty = append(empty, strings.TrimPrefix(name, dir))
		}
	}
	return files, empty
}

// entryText is the content of a file, or a word for another kind of entry: reading a pipe would
// never end.
func entryText(t *testing.T, name string, e fs.DirEntry) string {
	t.Helper()
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		to, err := os.Readlink(name)
		require.NoError(t, err)
		return "-> " + to
	case !e.Type().IsRegular():
		return e.Type().String()
	}
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(data)
}

func mtime(t *testing.T, dir, name string) time.Time {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
	require.NoError(t, err)
	return info.ModTime()
}

// longAgo sets an old time on every file, so that rewritten files are detected.
func longAgo(t *testing.T, dir string) time.Time {
	t.Helper()
	when := time.Now().Add(-time.Hour).Truncate(time.Second)
	for name := range disked(t, dir) {
		require.NoError(t, os.Chtimes(filepath.Join(dir, filepath.FromSlash(name)), when, when))
	}
	return when
}

// generated runs Generate, which must succeed.
func generated(t *testing.T, req Request) *Report {
	t.Helper()
	report, err := Generate(req, false)
	require.NoError(t, err)
	return report
}

// clean reports whether a request needs no changes.
func requireFine(t *testing.T, req Request) {
	t.Helper()
	report, err := Check(req)
	require.NoError(t, err)
	require.False(t, report.Drift(), "%+v", report.Items)
}

// requireKind returns the error as an error of that kind.
func requireKind(t *testing.T, err error, kind Kind) *Error {
	t.Helper()
	var out *Error
	require.ErrorAs(t, err, &out)
	require.Equal(t, kind.String(), out.Kind.String(), "%v", err)
	require.NotEmpty(t, out.Findings)
	return out
}

// itemAt returns the item of a path, and whether it exists.
func itemAt(r *Report, path string) (Item, bool) {
	i := slices.IndexFunc(r.Items, func(it Item) bool { return it.Path == path })
	if i < 0 {
		return Item{}, false
	}
	return r.Items[i], true
}

// fastDir is a temporary directory in memory if the system has one, because the failures create
// some hundred thousand files.
func fastDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "dlpackgen-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// Drift reports whether the directory differs from the plan. Foreign files do not
// count.
func (r *Report) Drift() bool {
	for _, it := range r.Items {
		if it.State != Unchanged && it.State != Untracked {
			return true
		}
	}
	return false
}
