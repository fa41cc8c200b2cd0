package gopy

import (
	"os"
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

func TestGoTorch(t *testing.T) {
	python := environment(t)
	if testing.Short() {
		t.Skip("loads torch, and -short was given")
	}
	if !testtool.Has(python, "torch") {
		t.Skip("needs torch: pip install -r tests/requirements-frameworks.txt")
	}
	cmd := exec.Command(filepath.Join(golden.Root(t), "examples", "go-torch", "run.sh"), "10")
	cmd.Env = append(os.Environ(), "DLPACKGEN_PYTHON="+testkit.ForkedProgram(t, python, testkit.Torch),
		"GOFLAGS=-trimpath")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Equal(t, 8, strings.Count(string(out), "ok  "), "%s", out)
	assert.Regexp(t, `(?m)^Go takes [0-9.]+ times as long as torch`, string(out))
}
