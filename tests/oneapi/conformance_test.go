package oneapi

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// Both implementations pass the conformance checks that need no hooks: on a CPU, on simulated
// cards, and on both together. Freed host memory is overwritten. SYCL keeps freed memory in pools,
// where the driver still recognizes it.
func TestConformance(t *testing.T) {
	simulates(t)
	wheels(t)
	hooks := filepath.Join(t.TempDir(), "hooks.h")
	require.NoError(t, os.WriteFile(hooks,
		[]byte("static const struct conformance_hooks conformance_hooks = {.defers = 1};\n"), 0o600))
	conforms := func(backEnd, platform string, env ...string) {
		dir, lib := t.TempDir(), filepath.Join(wheels(t), "lib")
		object, program := filepath.Join(dir, "conformance.o"), filepath.Join(dir, "conformance")
		testkit.Run(t, testtool.Require(t, "gcc", "gcc"),
			append(testkit.Strict, fmt.Sprintf("-DCONFORMANCE_HOOKS=%q", hooks), "-c", "-o", object,
				filepath.Join(folder(t), "conformance", "conformance.c"))...)
		testkit.Run(t, "g++", "-o", program, object, backEnd, "-L"+lib, "-Wl,-rpath,"+lib, "-lsycl", "-ldl",
			"-lpthread")
		cmd, more := onPlatform(t, platform, program)
		cmd.Env = environ(append(append(more, "MALLOC_PERTURB_=85"), env...)...)
		out := testkit.LinesOf(t, cmd, 77)
		assert.Regexp(t, `^\d\d checks, 0 failed$`, out[len(out)-1], "%s %q", platform, out)
	}
	sycl := syclObject(t, "backend", filepath.Join(folder(t), "dlpackgen_oneapi_sycl.cpp"))
	conforms(sycl, "cpu")
	conforms(sycl, "both")
	conforms(cObject(t), "COMPOSITE", "ONEAPI_DEVICE_SELECTOR=level_zero:*")
	conforms(cObject(t), "FLAT", "ONEAPI_DEVICE_SELECTOR=level_zero:*")
}
