package oneapi

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
)

// golang builds the Go program.
func golang(t *testing.T, env []string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	cmd := exec.Command("go", append(append([]string{"build", "-o", program}, flags...), "./testdata/golang")...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// Over Level Zero, the ids must be set; otherwise, the C++ implementation over SYCL, which does not
// need them, behaves the same.
func inGo(devices, known, none string) []string {
	return []string{"devices " + devices + " " + known, none, `pointer true \d`, "import true 1 0",
		`imported \[3 4\] OneAPI`}
}

func TestGo(t *testing.T) {
	simulates(t)
	program := golang(t, nil)
	cmd := exec.Command("./run-level-zero.sh", program)
	out := output(t, cmd, "L0ROOT="+levelZero(t)+"/root", "HIER=COMPOSITE")
	assert.True(t, testkit.Fits(append(inGo("2", "false",
		"oneapi: set_device_ids: no device has an id; pass NULL, in Go nil, if no other library of the program uses SYCL"),
		"false true"), out), "%q", out)
	out = output(t, exec.Command(program), "LD_LIBRARY_PATH="+standin(t, "-DNOGPU"))
	assert.Equal(t,
		[]string{"oneapi: Level Zero has started but found no GPU: none is installed, or ZE_AFFINITY_MASK hides it"},
		out)
	out = output(t, exec.Command(golang(t, nil, "-tags", "nodevice")))
	assert.Equal(t,
		[]string{"oneapi: this program was built without cgo, or with the tag nodevice; build it with cgo"}, out)
}

// The tag sycl selects the other implementation.
func TestGoOverSYCL(t *testing.T) {
	simulates(t)
	include, lib := filepath.Join(wheels(t), "include"), filepath.Join(wheels(t), "lib")
	program := golang(t, []string{
		"CGO_CXXFLAGS=-DSYCL_DISABLE_FSYCL_SYCLHPP_WARNING " + strings.Join([]string{"-isystem", include, "-isystem",
			filepath.Join(include, "sycl")}, " "),
		"CGO_LDFLAGS=-L" + lib + " -Wl,-rpath," + lib,
	}, "-tags", "sycl")
	for platform, devices := range map[string]string{"cpu": "1", "both": "3"} {
		cmd, env := onPlatform(t, platform, program)
		out := output(t, cmd, env...)
		assert.True(t, testkit.Fits(append(inGo(devices, "true", "<nil>"), "true true"), out), "%s %q", platform, out)
	}
}
