package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// place creates files with their folders.
func place(t *testing.T, files ...string) {
	t.Helper()
	for _, f := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(f), 0o755))
		require.NoError(t, os.WriteFile(f, nil, 0o600))
	}
}

func TestFindListsEachConfigOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	place(t, "x.yaml", "b/x.yaml", "b/c/x.yaml", "a-b/x.yaml", "a/x.yaml", "a/y.yaml", "d/vendor/x.yaml",
		"d/.git/x.yaml",
		".hidden/x.yaml")
	for want, patterns := range map[string][]string{
		"all":                        {"./...", "b/..."},
		"a folder that has its name": {".hidden/..."},
	} {
		files, found := Find("x.yaml", patterns)
		require.Empty(t, found)
		expected := map[string][]string{
			"all":                        {"a-b/x.yaml", "a/x.yaml", "b/c/x.yaml", "b/x.yaml", "x.yaml"},
			"a folder that has its name": {".hidden/x.yaml"},
		}[want]
		for i := range expected {
			expected[i] = filepath.FromSlash(expected[i])
		}
		assert.Equal(t, expected, files, want)
	}
}

// The hint for a pattern without configs names each kind of folder that the search skips.
func TestFindNamesWhatItPassesOver(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, pattern := range notEntered {
		place(t, strings.ReplaceAll(pattern, "*", "a")+"/x.yaml")
	}
	_, found := Find("x.yaml", []string{"./..."})
	require.Len(t, found, 1)
	assert.Equal(t, "these folders are not searched: .*, _*, node_modules, testdata, vendor, and links", found[0].Hint)
}

// An unreadable folder is a finding, and the others are searched.
func TestFindReportsWhatItCannotRead(t *testing.T) {
	t.Chdir(t.TempDir())
	place(t, "a/x.yaml", "c/x.yaml", "file")
	files, found := Find("x.yaml", []string{"a/...", "file/...", "c/..."})
	assert.Len(t, files, 2)
	require.Len(t, found, 1)
	assert.Equal(t, "file", found[0].Pos.File)
	assert.Equal(t, "unreadable", found[0].Code)
}

func TestEachDoesAllOfThemAtOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	var met [2]chan struct{}
	for i := range met {
		met[i] = make(chan struct{})
	}
	var count atomic.Int64
	ticks := 0
	Each(50, func(i int) {
		count.Add(1)
		if i < 2 { // each of the first two ends only after the other has begun
			close(met[i])
			<-met[1-i]
		}
	}, func(done int) { ticks++; assert.Equal(t, ticks, done) })
	assert.EqualValues(t, 50, count.Load())
	assert.Equal(t, 50, ticks)
}

// project writes some files to out.
func project(config, out string, files ...string) Project {
	return Project{Config: config, Out: out, Roots: []string{out},
		Plan: func() (Plan, error) { return Plan{Files: files}, nil }}
}

func TestConflicts(t *testing.T) {
	root := filepath.FromSlash("/w")
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	found := Conflicts(root, "x.yaml", []Project{
		project("a", at("a"), at("a/f"), at("a/sub/F")),
		project("sub", at("a/sub"), at("a/sub/f")),
		project("b", at("b"), at("b/f")),
		project("B", at("B"), at("B/g")),
		project("nested", at("n"), at("n/f")),
		project("n", at("n/n"), at("n/n/f")),
	})
	var texts []string
	for _, f := range found {
		texts = append(texts, "")
		for _, d := range f {
			texts[len(texts)-1] += d.Pos.File + ": " + filepath.ToSlash(d.Text)
		}
	}
	assert.Equal(t, []string{
		"a: a/sub/f is also used by sub",
		"sub: a/sub/f is also used by a",
		"b: the output directory B is also used by B",
		"B: the output directory B is also used by b",
		"", "",
	}, texts, "names that differ only in case are the same file on many disks")
}

// The files of two configs are compared only if their folders overlap.
func TestFilesAreComparedWhereFoldersOverlap(t *testing.T) {
	requested := map[string]bool{}
	at := func(name string) Project {
		p := project(name, filepath.FromSlash("/w/"+name))
		p.Plan = func() (Plan, error) { requested[name] = true; return Plan{}, errors.New("a kernel is wrong") }
		return p
	}
	all := []Project{at("a"), at("a-b"), at("ab"), at("a/c"), at("d")}
	for _, f := range Conflicts(filepath.FromSlash("/w"), "x.yaml", all) {
		assert.Empty(t, f, "the run on the project itself reports why it has no files")
	}
	assert.Equal(t, map[string]bool{"a": true, "a/c": true}, requested)
}

// Inputs count where they are in a folder that another config writes to, but nothing is in them. A
// folder of templates counts in any case, because a template can make a config.
func TestFilesAreComparedWhereInputsAreWritten(t *testing.T) {
	requested := map[string]bool{}
	at := func(name, input string, templates ...string) Project {
		p := project(name, filepath.FromSlash("/w/"+name))
		p.Inputs, p.Templates = []string{filepath.FromSlash("/w/" + input)}, templates
		p.Plan = func() (Plan, error) { requested[name] = true; return Plan{}, nil }
		return p
	}
	Conflicts(filepath.FromSlash("/w"), "x.yaml",
		[]Project{at("a", "a/x.yaml"), at("b", "a/b/x.yaml"), at("c", "x.yaml"),
			at("d", "x.yaml"), at("e", "e/x.yaml", filepath.FromSlash("/w/f"))})
	assert.Equal(t, map[string]bool{"a": true, "b": true, "e": true}, requested)
}
