package oneapi

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// libraries returns the two implementations as libraries, by name.
func libraries(t *testing.T) map[string]string {
	t.Helper()
	lib := filepath.Join(wheels(t), "lib")
	dir := testkit.Built(t, "libraries", func(dir string) {
		testkit.Run(t, testtool.Require(t, "g++", "g++"),
			append(syclFlags(t), "-fPIC", "-shared", "-o", filepath.Join(dir, "sycl.so"),
				filepath.Join(folder(t), "dlpackgen_oneapi_sycl.cpp"),
				"-L"+lib, "-Wl,-rpath,"+lib, "-lsycl")...)
		testkit.Run(t, testtool.Require(t, "gcc", "gcc"),
			append(testkit.Strict, "-fPIC", "-shared", "-o", filepath.Join(dir, "levelzero.so"),
				filepath.Join(folder(t), "dlpackgen_oneapi.c"), "-ldl")...)
	})
	return map[string]string{"sycl": filepath.Join(dir, "sycl.so"), "levelzero": filepath.Join(dir, "levelzero.so")}
}

// dpnp passes tensors to both implementations and imports theirs, on every device.
func TestDpnp(t *testing.T) {
	venv := wheels(t)
	simulates(t)
	packages, err := filepath.Glob(filepath.Join(venv, "lib/python3.*/site-packages"))
	require.NoError(t, err)
	require.Len(t, packages, 1)
	python, err := filepath.EvalSymlinks(filepath.Join(venv, "bin/python"))
	require.NoError(t, err)
	for _, c := range []struct {
		platform, implementation, selector string
		want                               []string
	}{
		{"cpu", "sycl", "", []string{"device 0 opencl parts 0"}},
		{"COMPOSITE", "sycl", "", []string{"device 0 level_zero parts 2", "device 1 level_zero parts 2"}},
		{"FLAT", "sycl", "", []string{"device 0 level_zero parts 0", "device 1 level_zero parts 0",
			"device 2 level_zero parts 0", "device 3 level_zero parts 0"}},
		{"both", "sycl", "", []string{"device 0 opencl parts 0", "device 1 level_zero parts 2",
			"device 2 level_zero parts 2"}},
		{"COMPOSITE", "levelzero", "level_zero:*",
			[]string{"device 0 level_zero parts 2", "device 1 level_zero parts 2"}},
	} {
		t.Run(c.implementation+" "+c.platform, func(t *testing.T) {
			cmd, env := onPlatform(t, c.platform, python, "testdata/exchange.py",
				filepath.Join(golden.Root(t), "tests/gpu"), libraries(t)[c.implementation], c.implementation)
			env = append(env, "PYTHONPATH="+packages[0], "PYTHONDONTWRITEBYTECODE=1",
				"ONEAPI_DEVICE_SELECTOR="+c.selector)
			out := output(t, cmd, env...)
			assert.Equal(t, c.want, out)
		})
	}
	cmd, env := onPlatform(t, "both", python, "testdata/exchange.py", filepath.Join(golden.Root(t), "tests/gpu"),
		libraries(t)["levelzero"], "levelzero")
	cmd.Env = environ(append(env, "PYTHONPATH="+packages[0], "PYTHONDONTWRITEBYTECODE=1")...)
	out, err := cmd.CombinedOutput()
	require.Error(t, err, "it detects differences")
	assert.Contains(t, string(out), "the ids of devices are SYCL's, which Level Zero does not report")
}
