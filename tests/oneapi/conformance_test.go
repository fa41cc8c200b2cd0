package oneapi

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dlpackgen/dlpackgen/internal/need"
)

// The test that every back end must pass, over cards that Intel's driver simulates.
func TestConformance(t *testing.T) {
	simulates(t)
	program := filepath.Join(built(t, "conformance", func(dir string) {
		args := append([]string{"-o", filepath.Join(dir, "conformance")}, strict...)
		run(t, need.Program(t, "gcc", "gcc"), append(args, filepath.Join(folder(t), "conformance/conformance.c"), filepath.Join(folder(t), "dlpackgen_oneapi.c"), "-ldl", "-lpthread")...)
	}), "conformance")
	for _, hierarchy := range []string{"COMPOSITE", "FLAT"} {
		out := output(t, exec.Command("./run-level-zero.sh", program), "L0ROOT="+levelZero(t)+"/root", "HIER="+hierarchy, "ONEAPI_DEVICE_SELECTOR=level_zero:*")
		for _, line := range out[:len(out)-1] {
			assert.Regexp(t, "^ok ", line)
		}
		assert.Equal(t, "19 checks, 0 failed", out[len(out)-1])
	}
}
