package wine

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// testBindings runs the conformance tests of the Go bindings as a Windows program, where threads,
// calling conventions and the width of long differ.
func (m *machine) testBindings(t *testing.T) {
	cc := testtool.Require(t, "x86_64-w64-mingw32-gcc", "mingw-w64")
	program := filepath.Join(t.TempDir(), "conformance.exe")
	build := exec.Command("go", "test", "-c", "-o", program, "../../gen/go/dlpack/dlpacktest")
	build.Env = append(os.Environ(), "CGO_ENABLED=1", "GOOS=windows", "GOARCH=amd64", "CC="+cc)
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	code, printed := m.run(t, t.TempDir(), program, "-test.short", "-test.v")
	assert.Zero(t, code, printed)
	assert.Contains(t, printed, "--- PASS: TestConformance ")
	assert.Contains(t, printed, "--- PASS: TestConformance/Threads ")
}
