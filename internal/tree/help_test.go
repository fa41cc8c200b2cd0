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

// ours gives the text of a generated file.
func ours(text string) string { return emit.Banner("x.go", "1.3") + text + "\n" }

// thisTool is the build that the tests are, and thisHead how locks name it.
var thisTool = Tool{Version: "v0.1.0", Digest: "0123456789abcdef"}

const thisHead = "dlpackgen-lock 2 v0.1.0 0123456789abcdef\n"

var specSum = strings.Repeat("5", 64)

// target makes a target from path -> content.
func target(name, path string, files map[string]string) Target {
	t := Target{Name: name, Release: "1.3", SpecSHA256: specSum, Path: path}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		t.Files = append(t.Files, emit.File{Path: p, Data: []byte(files[p])})
	}
	return t
}

// request asks for targets in dir.
func request(dir string, targets ...Target) Request {
	return Request{Out: dir, Tool: thisTool, Targets: targets}
}

// only narrows a request to one of its targets, as --only does.
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

// disked reads all files below dir, hidden ones too; links are named with an arrow.
func disked(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && e.IsDir() {
			return nil
		}
		require.NoError(t, err)
		rel, err := filepath.Rel(dir, name)
		require.NoError(t, err)
		rel = filepath.ToSlash(rel)
		if e.Type()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(name)
			out[rel] = "-> " + to
			return err
		}
		if !e.Type().IsRegular() { // reading a pipe would never end
			out[rel] = e.Type().String()
			return nil
		}
		data, err := os.ReadFile(name)
		out[rel] = string(data)
		return err
	})
	require.NoError(t, err)
	return out
}

func mtime(t *testing.T, dir, name string) time.Time {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
	require.NoError(t, err)
	return info.ModTime()
}

// longAgo makes every file old, so that a rewritten one shows.
func longAgo(t *testing.T, dir string) time.Time {
	t.Helper()
	when := time.Now().Add(-time.Hour).Truncate(time.Second)
	for name := range disked(t, dir) {
		require.NoError(t, os.Chtimes(filepath.Join(dir, filepath.FromSlash(name)), when, when))
	}
	return when
}

// generated runs Generate, which must work.
func generated(t *testing.T, req Request) *Report {
	t.Helper()
	report, err := Generate(req, false)
	require.NoError(t, err)
	return report
}

// clean tells that nothing is to be done for a request.
func requireFine(t *testing.T, req Request) {
	t.Helper()
	report, err := Check(req)
	require.NoError(t, err)
	require.False(t, report.Drift(), "%+v", report.Items)
}

// requireKind gives the error as one of that kind.
func requireKind(t *testing.T, err error, kind Kind) *Error {
	t.Helper()
	var out *Error
	require.ErrorAs(t, err, &out)
	require.Equal(t, kind.String(), out.Kind.String(), "%v", err)
	require.NotEmpty(t, out.Findings)
	return out
}

// itemAt gives the item of a path, and whether there is one.
func itemAt(r *Report, path string) (Item, bool) {
	i := slices.IndexFunc(r.Items, func(it Item) bool { return it.Path == path })
	if i < 0 {
		return Item{}, false
	}
	return r.Items[i], true
}

// fastDir is a temporary directory in memory where the system has one: the
// failures make some hundred thousand files.
func fastDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "dlpackgen-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}
