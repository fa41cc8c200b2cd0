package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/mutant"
)

// Example is a copy of an example of this repository, with the command that generates its bindings.
type Example struct{ Dir, dlpackgen string }

// NewExample copies an example without files and folders that were created in it manually.
func NewExample(t testing.TB, folder string, made ...string) Example {
	t.Helper()
	e := Example{Dir: t.TempDir(), dlpackgen: filepath.Join(t.TempDir(), "dlpackgen")}
	require.NoError(t, os.CopyFS(e.Dir, os.DirFS(folder)))
	for _, name := range made {
		require.NoError(t, os.RemoveAll(e.path(name)))
	}
	BuildProgram(t, e.dlpackgen)
	return e
}

func (e Example) path(name string) string { return filepath.Join(e.Dir, filepath.FromSlash(name)) }

// Generate generates the bindings.
func (e Example) Generate(t testing.TB) {
	t.Helper()
	cmd := exec.Command(e.dlpackgen, "generate", "--quiet")
	cmd.Dir = e.Dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// Change replaces a text that occurs once in a file, and returns a function that restores the file.
func (e Example) Change(t testing.TB, file, old, fresh string) (undo func()) {
	t.Helper()
	text, err := os.ReadFile(e.path(file))
	require.NoError(t, err)
	mutant.OnceIn(t, e.path(file), old, fresh)
	return func() { require.NoError(t, os.WriteFile(e.path(file), text, 0o600)) }
}
