package torchops

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// direct runs direct.py with a C module and a version of the target's direct.py.
func direct(t *testing.T, source string) (string, error) {
	t.Helper()
	p, lib := library(t)
	dir := t.TempDir()
	pkg := filepath.Join(dir, "stable_package")
	require.NoError(t, os.Mkdir(pkg, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(pkg, "__init__.py"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(pkg, "direct.py"), []byte(source), 0o600))
	require.NoError(t, command("", p.gcc, "-std=c11", testkit.Level(), "-shared", "-fPIC", "-fvisibility=hidden",
		"-DPy_LIMITED_API=0x030B0000",
		"-I", filepath.Join(golden.Root(t), "gen", "c"), "-isystem", p.headers, "-o",
		filepath.Join(dir, "direct_module.abi3.so"), "module/direct.c"))
	cmd := testkit.Forked(p.python, testkit.Torch, "-W", "ignore", "direct.py")
	cmd.Env = append(os.Environ(), "LIBRARY="+lib, "PYTHONPATH="+dir, "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestDirectCallsPointToTheOperator(t *testing.T) {
	library(t)
	source, err := os.ReadFile(filepath.Join(scratch, "generated", "dlpackgen_torch", "direct.py"))
	require.NoError(t, err)
	text, err := os.ReadFile("direct.py")
	require.NoError(t, err)
	out, err := direct(t, string(source))
	assert.NoError(t, err, "%s", out)
	assert.Equal(t, strings.Count(string(text), "\ndef test_"), strings.Count(out, "ok test_"), "%s", out)
}

func TestMutantsOfDirectCallsAreSeen(t *testing.T) {
	tier.OnlyNightly(t)
	library(t)
	source, err := os.ReadFile(filepath.Join(scratch, "generated", "dlpackgen_torch", "direct.py"))
	require.NoError(t, err)
	for test, m := range map[string][2]string{
		"test_a_full_graph_points_to_the_operator": {"        return op(*args, **kwargs)\n",
			"        return function(*args, **kwargs)\n"},
		"test_other_keywords_break_the_graph": {"            if keyword not in known:\n", "            if False:\n"},
	} {
		out, err := direct(t, mutation.Once(t, string(source), m[0], m[1]))
		assert.Error(t, err)
		assert.Contains(t, out, "FAILED "+test)
	}
}
