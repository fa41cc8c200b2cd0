package testtool

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

//go:embed gotool/go.sh
var goScript []byte

// GoRoot returns the folder of Go's distribution, which a test that was built with -trimpath does
// not know itself.
func GoRoot(t testing.TB) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(root))
}

// GoTool returns a value for PATH with a go command that runs the tools of a module with "go run".
// "go tool" ignores -trimpath in GOFLAGS, so it would compile the standard library and the tool
// again.
func GoTool(t testing.TB) string {
	t.Helper()
	program, err := exec.LookPath("go")
	require.NoError(t, err)
	bin := t.TempDir()
	require.NoError(t, os.Symlink(program, filepath.Join(bin, "real-go")))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "go"), goScript, 0o700)) //nolint:gosec // executable
	return bin + string(os.PathListSeparator) + os.Getenv("PATH")
}
