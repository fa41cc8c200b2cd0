package devices

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// Under Windows, the driver is nvcuda.dll or amdhip64_6.dll, found in the folders of the system and
// of the program.
func TestWindows(t *testing.T) {
	tier.OnlyNightly(t)
	wine, gcc := testtool.Require(t, "wine", "wine"),
		testtool.Require(t, "x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64")
	prefix := t.TempDir()
	t.Cleanup(func() {
		kill := exec.Command("wineserver", "--kill", "--wait")
		kill.Env = append(os.Environ(), "WINEPREFIX="+prefix)
		_ = kill.Run()
	})
	for _, c := range []struct {
		backEnd
		source, standin, dll, absent string
	}{
		{cudaEnd, cuda(t), "testdata/standin.c", "nvcuda.dll",
			"nvcuda.dll: Windows error 126; install the NVIDIA driver"},
		{rocmEnd, rocm(t), "testdata/standin_hip.c", "amdhip64_6.dll",
			"amdhip64.dll: Windows error 126; install the ROCm runtime"},
	} {
		dir := t.TempDir()
		program := filepath.Join(dir, "probe.exe")
		args := append([]string{"-std=c11", "-w", "-static", "-I", c.source, "-o", program, "testdata/windows.c"},
			c.macros()...)
		testkit.Run(t, gcc, append(args, c.sources(t, c.source)...)...)
		probe := func() string {
			cmd := exec.Command(wine, program)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "WINEPREFIX="+prefix, "WINEDEBUG=-all",
				"WINEDLLOVERRIDES=mscoree,mshtml,winemenubuilder.exe=")
			out, err := cmd.Output()
			require.NoError(t, err)
			return string(out)
		}
		assert.Equal(t,
			"probe 1 0 "+c.name+": the driver is not installed, or not in the library path: "+c.absent+"\r\n",
			probe())
		testkit.Run(t, gcc, "-std=gnu11", "-w", "-static", "-shared", hip6, "-o", filepath.Join(dir, c.dll), c.standin,
			"-lpthread")
		assert.Equal(t, "probe 0 3 \r\nalloc and free 0\r\n", probe())
	}
}
