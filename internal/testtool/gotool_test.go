package testtool

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A module's own tool is found by its directive in go.mod, as by "go tool", and no other is.
func TestGoToolRunsTheToolsOfTheModule(t *testing.T) {
	dir, path := t.TempDir(), GoTool(t)
	for name, text := range map[string]string{
		"go.mod":      "module example.org/user\n\ngo 1.25.0\n\ntool example.org/user/own\n",
		"own/own.go":  "package main\n\nfunc main() { println(\"own\") }\n",
		"free/own.go": "package main\n\nfunc main() { println(\"free\") }\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	run := func(words ...string) (string, error) {
		bin, _, _ := strings.Cut(path, string(os.PathListSeparator))
		cmd := exec.Command(filepath.Join(bin, "go"), words...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+path, "GOWORK=off")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run("tool", "own")
	require.NoError(t, err, out)
	assert.Equal(t, "own\n", out)
	out, err = run("tool", "free")
	require.Error(t, err)
	assert.Contains(t, out, "no such tool \"free\"")
	out, err = run("list", "-m")
	require.NoError(t, err, out)
	assert.Equal(t, "example.org/user\n", out)
}
