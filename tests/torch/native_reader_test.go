package torch

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// clients builds the module of tests/clients in a folder.
func clients(t *testing.T, to torches, dir string) {
	t.Helper()
	out, err := exec.Command(testtool.RequireCompiler(t, "gcc", "gcc"), "-std=c11", testkit.Level(), "-fPIC", "-shared",
		"-fvisibility=hidden",
		"-DPy_LIMITED_API=0x030B0000", "-I"+filepath.Join(golden.Root(t), "gen", "c"), "-I"+to.Include,
		"-o", filepath.Join(dir, "clients.abi3.so"), "../clients/module/clients.c").CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// Modules over dlpackgen_python try the compiled table first.
func TestModulesInC(t *testing.T) {
	to, dir := modules(t)
	eachPasses(t, to, dir, nil, testsOf(t, "native_reader.py")...)
}

// The expected outcome of each torch tensor is the same with the table installed.
func TestClientsWithTheTable(t *testing.T) {
	to, dir := modules(t)
	for _, library := range []string{"torch", "numpy", "tvm-ffi"} {
		t.Run(library, func(t *testing.T) {
			out, err := script(to, dir, nil, "../clients/ours.py", "--install=dlpackgen_torch", library)
			require.NoError(t, err, out)
			assert.Greater(t, strings.Count("\n"+out, "\nok "), 300)
		})
	}
}
