// Package wine shows that the command builds for other systems, that the Windows build generates,
// checks and cleans under wine, and that the Go bindings conform there. It contains only tests.
package wine

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// compile compiles the command for a system, and returns the path of the program.
func compile(t *testing.T, goos, goarch string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "dlpackgen.exe")
	argv := append([]string{"build", "-o", program}, flags...)
	cmd := exec.Command("go", append(argv, "./cmd/dlpackgen")...)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

func TestTheCommandBuildsForOtherSystems(t *testing.T) {
	tier.OnlyNightly(t)
	magic := map[string]string{"windows": "MZ", "darwin": "\xcf\xfa\xed\xfe", "linux": "\x7fELF"}
	for _, system := range [][2]string{{"windows", "amd64"}, {"darwin", "arm64"}, {"darwin", "amd64"},
		{"linux", "arm64"}} {
		t.Run(system[0]+"/"+system[1], func(t *testing.T) {
			program, err := os.ReadFile(compile(t, system[0], system[1]))
			require.NoError(t, err)
			require.True(t, bytes.HasPrefix(program, []byte(magic[system[0]])), "an executable of that system")
		})
	}
}

// deleteFix returns the flags that build with one more status in a list of Go's own: wine 8 answers
// FileDispositionInformationEx with STATUS_NOT_IMPLEMENTED, unlike Windows, so os.Root.Remove does
// not fall back to the older way of deleting. Without this, a run under wine would fail at the
// first removed file.
func deleteFix(t *testing.T) []string {
	t.Helper()
	file := filepath.Join(testtool.GoRoot(t), "src/internal/syscall/windows/at_windows.go")
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	fixed := bytes.ReplaceAll(source, []byte("case STATUS_INVALID_INFO_CLASS,"),
		[]byte("case NTStatus(0xC0000002), STATUS_INVALID_INFO_CLASS,"))
	if bytes.Equal(fixed, source) {
		return nil
	}
	dir := t.TempDir()
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {file: filepath.Join(dir, "at_windows.go")}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "at_windows.go"), fixed, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o644))
	return []string{"-overlay", filepath.Join(dir, "overlay.json")}
}
