// Package additions adds a data type, a rule of validation, a target and a release to copies of the
// repository, in the places that docs/architecture.md lists, and uses them.
package additions

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// TestInputs lets go test see what child processes of these tests read.
func TestInputs(t *testing.T) { tier.Record(t) }

// copied copies what the program is built of, what it generates, and the tests of the rules.
func copied(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, folder := range []string{"cmd", "internal", "spec", "templates", "gen", "backends", "tests/rules",
		"tests/gobind", "tests/safety", "tools/site", "docs"} {
		require.NoError(t, os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join(golden.Root(t), folder))))
	}
	require.NoError(t, os.Symlink(filepath.Join(golden.Root(t), ".venv"), filepath.Join(dir, ".venv")))
	for _, file := range []string{"go.mod", "go.sum", "VERSION", "dlpackgen.yaml", "dlpackgen.lock"} {
		text, err := os.ReadFile(filepath.Join(golden.Root(t), file))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), text, 0o600))
	}
	return dir
}

// change inserts the texts of a place, or creates its file.
func (p place) change(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, p.file)
	if p.created != "" {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(p.created), 0o600))
		return
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	changed := string(text)
	for _, i := range p.inserted {
		changed = mutant.Once(t, changed, i.before, i.text+i.before)
	}
	if p.edited != nil {
		changed = p.edited(changed)
		require.NotEqual(t, string(text), changed)
	}
	require.NoError(t, os.WriteFile(path, []byte(changed), 0o600))
}

// use writes the files that use the addition, and runs its commands.
func (a addition) use(t *testing.T, dir string) (out string, err error) {
	t.Helper()
	for name, text := range a.files {
		path := filepath.Join(dir, "use", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	cmd := exec.Command("sh", "-ec", a.commands)
	cmd.Dir = dir
	printed, err := cmd.CombinedOutput()
	return string(printed), err
}

func TestAdditions(t *testing.T) {
	tier.OnlyNightly(t)
	for _, a := range additions {
		t.Run(a.name, func(t *testing.T) {
			t.Run("complete", func(t *testing.T) {
				dir := copied(t)
				for _, p := range a.places {
					p.change(t, dir)
				}
				out, err := a.use(t, dir)
				require.NoError(t, err, out)
			})
			for i, omitted := range a.places {
				name := fmt.Sprintf("without place %d of %s", i+1, omitted.file)
				t.Run(name, func(t *testing.T) { a.assertNeeds(t, i) })
			}
		})
	}
}

// assertNeeds fails the test if the addition works without one of its places.
func (a addition) assertNeeds(t *testing.T, place int) {
	t.Helper()
	dir := copied(t)
	for i, p := range a.places {
		if i != place {
			p.change(t, dir)
		}
	}
	out, err := a.use(t, dir)
	require.Error(t, err, out)
	assert.Contains(t, out, a.places[place].missing)
}

// The texts before which the additions insert theirs must exist. This test is quick, so that a
// change of them is noticed early.
func TestPlacesExist(t *testing.T) {
	for _, a := range additions {
		for _, p := range a.places {
			path := filepath.Join(golden.Root(t), p.file)
			if p.created != "" {
				assert.NoFileExists(t, path)
				continue
			}
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, i := range p.inserted {
				assert.Equal(t, 1, strings.Count(string(text), i.before), "%s: %q", p.file, i.before)
			}
			if p.edited != nil {
				assert.NotEqual(t, string(text), p.edited(string(text)), p.file)
			}
		}
	}
}

func unique(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// places are the list items of a section that begin with a file: those of sources are numbered, and
// those of tests and documentation are not.
var places = regexp.MustCompile("(?m)^(?:[0-9]+[.]|-) `([^`]+)`")

// docs/architecture.md lists the places of each addition, and no others.
func TestDocsListThePlaces(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(golden.Root(t), "docs", "architecture.md"))
	require.NoError(t, err)
	for _, a := range additions {
		_, section, found := strings.Cut(string(text), "\n## "+a.section+"\n")
		require.True(t, found, a.section)
		section, _, _ = strings.Cut(section, "\n## ")
		want := slices.Clone(a.protocol)
		var listed []string
		for _, item := range places.FindAllStringSubmatch(section, -1) {
			listed = append(listed, item[1])
		}
		for _, p := range a.places {
			want = append(want, p.documented)
		}
		assert.Equal(t, unique(want), unique(listed), a.section)
	}
}
