package testkit

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/tool"
)

// Program builds dlpackgen once. With the path of a source below templates, it builds a different
// dlpackgen, in which that source has an additional comment at its end.
func Program(t testing.TB, changed string) string {
	t.Helper()
	key := "dlpackgen " + strings.ReplaceAll(changed, "/", "_")
	return filepath.Join(Built(t, key, func(dir string) {
		if changed == "" {
			BuildProgram(t, dir+"/dlpackgen")
			return
		}
		goBuild(t, dir+"/dlpackgen", "-ldflags=-w", "-overlay", overlay(t, dir, changed))
	}), "dlpackgen")
}

// BuildProgram builds dlpackgen. As in a release, it contains its digest, which it would otherwise
// compute in each run.
func BuildProgram(t testing.TB, file string) {
	t.Helper()
	goBuild(t, file, "-ldflags=-w -X github.com/dlpackgen/dlpackgen/internal/tool.stamped="+tool.Digest())
}

func goBuild(t testing.TB, file string, flags ...string) {
	t.Helper()
	cmd := exec.Command("go", slices.Concat([]string{"build", "-o", file}, flags, []string{"./cmd/dlpackgen"})...)
	cmd.Dir = golden.Root(t)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// overlay writes an overlay for go build that replaces a template.
func overlay(t testing.TB, dir, changed string) (file string) {
	t.Helper()
	source := filepath.Join(golden.Root(t), "templates", filepath.FromSlash(changed))
	text, err := os.ReadFile(source)
	require.NoError(t, err)
	other, file := filepath.Join(dir, "source"), filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(other, append(text, "/* A template that has changed. */\n"...), 0o600))
	data, err := json.Marshal(map[string]any{"Replace": map[string]string{source: other}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, data, 0o600))
	return file
}

// Rebuilt returns a copy of a program with other bytes, as another compiler would make of the same
// sources. A byte after the end of an executable has no effect.
func Rebuilt(t testing.TB, program string) string {
	t.Helper()
	data, err := os.ReadFile(program)
	require.NoError(t, err)
	copied := filepath.Join(t.TempDir(), filepath.Base(program))
	require.NoError(t, os.WriteFile(copied, append(data, '\n'), 0o755)) //nolint:gosec // a program
	return copied
}
