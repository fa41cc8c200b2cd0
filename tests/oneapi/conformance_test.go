package oneapi

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dlpackgen/dlpackgen/internal/need"
	"github.com/dlpackgen/dlpackgen/internal/trial"
)

// What every back end must do, of both implementations: on a CPU, on simulated cards,
// and on both at once. Freed memory of the host is overwritten.
func TestConformance(t *testing.T) {
	simulates(t)
	wheels(t)
	conforms := func(backEnd, platform string, env ...string) {
		dir, lib := t.TempDir(), filepath.Join(wheels(t), "lib")
		object, program := filepath.Join(dir, "conformance.o"), filepath.Join(dir, "conformance")
		trial.Run(t, need.Program(t, "gcc", "gcc"), append(trial.Strict, "-c", "-o", object, filepath.Join(folder(t), "conformance", "conformance.c"))...)
		trial.Run(t, "g++", "-o", program, object, backEnd, "-L"+lib, "-Wl,-rpath,"+lib, "-lsycl", "-ldl", "-lpthread")
		cmd, more := onPlatform(t, platform, program)
		out := output(t, cmd, append(append(more, "MALLOC_PERTURB_=85"), env...)...)
		assert.Regexp(t, `^\d\d checks, 0 failed$`, out[len(out)-1], "%s %q", platform, out)
	}
	sycl := syclObject(t, "backend", filepath.Join(folder(t), "dlpackgen_oneapi_sycl.cpp"))
	conforms(sycl, "cpu")
	conforms(sycl, "both")
	conforms(cObject(t), "COMPOSITE", "ONEAPI_DEVICE_SELECTOR=level_zero:*")
	conforms(cObject(t), "FLAT", "ONEAPI_DEVICE_SELECTOR=level_zero:*")
}
