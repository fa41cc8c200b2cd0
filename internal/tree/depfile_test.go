package tree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/need"
)

func TestDepfile(t *testing.T) {
	t.Chdir(t.TempDir())
	req := request("gen/out", target("c", "c", map[string]string{"a.h": ours("a")}))
	req.Inputs, req.Depfile = []string{"dlpackgen.yaml", "my spec/a#b$c.yaml"}, "x.d"
	_, err := Generate(req, true)
	require.NoError(t, err)
	assert.NoFileExists(t, "x.d")
	generated(t, req)
	assert.Equal(t, "gen/out/dlpackgen.lock: dlpackgen.yaml my\\ spec/a\\#b$$c.yaml\n", disked(t, ".")["x.d"])

	when := longAgo(t, ".")
	generated(t, req)
	assert.Equal(t, when, mtime(t, ".", "x.d"))
	remove(t, ".", "x.d") // ninja takes it away
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

// In the output directory the depfile may lie in a folder that the run makes.
func TestDepfileInAFreshDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	req := request("out", target("c", "c", map[string]string{"a.h": ours("a")}))
	req.Depfile = "out/c/x.d"
	generated(t, req)
	assert.Equal(t, []string{"out/c/a.h", "out/c/x.d", "out/dlpackgen.lock"}, names(disked(t, ".")))
	requireFine(t, req)
}

// A depfile that cannot be, or that would replace another file of the run, is
// refused before anything is written.
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
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			setContent(t, ".", "dlpackgen.yaml", "version: 1")
			req := request("out", target("c", "c", map[string]string{"a.h": ours("a")}))
			req.Inputs, req.Depfile = []string{"dlpackgen.yaml"}, c.depfile
			_, err := Generate(req, false)
			requireKind(t, err, c.kind)
			assert.Equal(t, map[string]string{"dlpackgen.yaml": "version: 1"}, disked(t, "."))
		})
	}
	req := request(t.TempDir(), target("c", "c", nil))
	req.Inputs, req.Depfile = []string{"a\nb"}, filepath.Join(req.Out, "x.d")
	_, err := Generate(req, false)
	requireKind(t, err, KindRequest)
}

// Ninja is the judge of the spelling: it must find each input again.
func TestNinjaReadsTheDepfile(t *testing.T) {
	ninja := need.Program(t, "ninja", "ninja-build")
	t.Chdir(t.TempDir())
	req := request("out", target("c", "c", map[string]string{"a.h": ours("a")}))
	req.Inputs, req.Depfile = []string{"dlpackgen.yaml", "my spec/a#b$c.yaml"}, "made.d"
	for _, name := range req.Inputs {
		setContent(t, ".", name, "")
	}
	generated(t, req)
	setContent(t, ".", "build.ninja", "rule gen\n  command = cp made.d $out.d\n  depfile = $out.d\n  deps = gcc\n  restat = 1\nbuild out/dlpackgen.lock: gen\n")
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
