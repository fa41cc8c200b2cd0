package targets

import (
	"path"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

var included = regexp.MustCompile(`(?m)^\s*#\s*include\s+<([\w/.]+)>`)

// The table's list of required targets corresponds to the includes of each target's files.
func TestNeedsAreWhatTheFilesInclude(t *testing.T) {
	release, err := spec.Embedded().Release("1.3")
	require.NoError(t, err)
	made, files := map[string]string{}, map[string][]emit.File{} // the target by the header's path
	for _, row := range All() {
		files[row.Name], err = row.Emit(&emit.Model{Release: release})
		require.NoError(t, err)
		for _, f := range files[row.Name] {
			if _, shared := made[f.Path]; !shared && path.Dir(f.Path) != "." {
				made[f.Path] = row.Name
			}
		}
	}
	for _, row := range All() {
		var needs []string
		for _, f := range files[row.Name] {
			if row.Name == "shm" && path.Dir(f.Path) == "python" {
				continue // a module over target python, which C and Go do not need
			}
			for _, m := range included.FindAllSubmatch(f.Data, -1) {
				if from, ok := made[string(m[1])]; ok && from != row.Name && !slices.Contains(needs, from) {
					needs = append(needs, from)
				}
			}
		}
		assert.ElementsMatch(t, row.Needs, needs, row.Name)
		for _, name := range row.Needs {
			assert.Contains(t, Names(), name)
		}
	}
}
