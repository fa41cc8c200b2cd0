package gobind

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// inner marks a run of these tests by these tests.
const inner = "DLPACKGEN_GOBIND_INNER"

// Each detector finds mistakes that the others and a plain run do not: races and invalid
// conversions, Go pointers in C memory, reads after a free, reads of uninitialized memory. These
// tests and the conformance tests run under each, except tests that only start other processes.
func TestUnderEachDetector(t *testing.T) {
	skipShort(t)
	if os.Getenv(inner) != "" {
		t.Skip("this is the run that the detectors are on in")
	}
	for name, detector := range map[string]struct{ env, flag string }{
		"race":      {"", "-race"},
		"cgocheck2": {"GOEXPERIMENT=cgocheck2", "-tags=dlpackcheck"},
		"asan":      {"ASAN_OPTIONS=detect_leaks=1", "-asan"},
		"msan":      {"CC=clang-16", "-msan"},
		"checkptr":  {"", "-gcflags=github.com/dlpackgen/dlpackgen/...=-d=checkptr"},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "race" {
				tier.OnlyNightly(t)
			}
			if name == "msan" {
				testtool.Require(t, "clang-16", "clang-16")
			}
			// With -trimpath, all test packages share a build of the standard library.
			args := []string{"test", "-trimpath", "-short", "-count=1", "-vet=off", "-timeout=0", "-skip=NumPy|Python"}
			if detector.flag != "" {
				args = append(args, detector.flag)
			}
			if tier.IsNightly() { // a detector takes a minute to build the imports of these tests
				args = append(args, ".")
			}
			cmd := exec.Command("go", append(args, "../../gen/go/dlpack/dlpacktest")...)
			cmd.Env = append(os.Environ(), inner+"=1")
			if detector.env != "" {
				cmd.Env = append(cmd.Env, detector.env)
			}
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), "ok  ")
		})
	}
}
