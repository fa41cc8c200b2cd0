package devices

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/need"
)

// Under Windows the driver is nvcuda.dll, found in the folders of the system and
// of the program.
func TestWindows(t *testing.T) {
	if testing.Short() {
		t.Skip("starts wine")
	}
	wine, gcc := need.Program(t, "wine", "wine"), need.Program(t, "x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64")
	dir, prefix := t.TempDir(), t.TempDir()
	program := filepath.Join(dir, "probe.exe")
	run(t, gcc, "-std=c11", "-w", "-static", "-I", cuda(t), "-o", program, "testdata/windows.c", source(t))
	probe := func() string {
		cmd := exec.Command("timeout", "120", wine, program)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "WINEPREFIX="+prefix, "WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml,winemenubuilder.exe=")
		out, err := cmd.Output()
		require.NoError(t, err)
		return string(out)
	}
	t.Cleanup(func() {
		kill := exec.Command("timeout", "60", "wineserver", "--kill", "--wait")
		kill.Env = append(os.Environ(), "WINEPREFIX="+prefix)
		_ = kill.Run()
	})
	assert.Equal(t, "probe 1 0 cuda: the driver is not installed, or not where libraries are found: nvcuda.dll: Windows gives the error 126; install the NVIDIA driver\r\n", probe())
	run(t, gcc, "-std=gnu11", "-w", "-static", "-shared", "-o", filepath.Join(dir, "nvcuda.dll"), "testdata/standin.c", "-lpthread")
	assert.Equal(t, "probe 0 3 \r\nalloc and free 0\r\n", probe())
}
