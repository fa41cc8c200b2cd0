package torchops

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A module over dlpackgen_python and the operators refuse the same mistakes in the same words.
func TestSentencesAreThoseOfModules(t *testing.T) {
	p, lib := library(t)
	modules := t.TempDir()
	require.NoError(t, command("", "gcc", "-shared", "-fPIC", "-O1", "-std=c11", "-DPy_LIMITED_API=0x030B0000",
		"-I", filepath.Join(scratch, "generated"), "-I", filepath.Join("..", "..", "gen", "c"), "-isystem", p.headers,
		"-o", filepath.Join(modules, "checked.abi3.so"), filepath.Join("..", "python", "module", "checked.c")))
	cmd := exec.Command(p.python, "-W", "ignore", "sentences.py")
	cmd.Env = append(os.Environ(), "LIBRARY="+lib, "MODULES="+modules, "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Equal(t, 2, strings.Count(string(out), "ok test_"), "%s", out)
}
