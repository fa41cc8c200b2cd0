package torchkernels

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// wrongGradients are mistakes in the author's backward.
var wrongGradients = map[string][2]string{
	"of x":      {"get(x, at) * s * s * s * dot", "get(x, at) * s * s * dot"},
	"of weight": {"put(dw, i, get(dw, i) + get(g, at) * get(x, at) * s);", "put(dw, i, get(dw, i) + get(g, at) * get(x, at));"},
	"of bias":   {"put(db, i, get(db, i) + get(g, at));", "put(db, i, get(g, at));"},
}

// checkGradients runs the emitted tests of gradients, in float64 and in float32: they pass, and
// each mistake fails one of them.
func checkGradients(t *testing.T, b builder) {
	t.Helper()
	if !testtool.Has(b.python, "pytest", "hypothesis") {
		t.Log("gradients are not checked: needs pytest and hypothesis: make setup")
		return
	}
	author, err := os.ReadFile("testdata/author.c")
	require.NoError(t, err)
	for _, dtypes := range []string{`("float32", "float64")`, `("float32",)`} {
		test := filepath.Join(b.dir, "python/tests/test_rms_norm_contract.py")
		mutation.OnceIn(t, test, `types={"T": ("float32", "float64")}`, `types={"T": `+dtypes+`}`)
		t.Run("gradients in "+dtypes, func(t *testing.T) {
			out, err := b.gradients("operators.so")
			require.NoError(t, err, out)
			assert.Contains(t, out, "3 passed", "of rms_norm, scale and names")
			for name, m := range wrongGradients {
				t.Run(name, func(t *testing.T) {
					text := mutation.Once(t, string(author), m[0], m[1])
					require.NoError(t, os.WriteFile(filepath.Join(b.dir, "wrong.c"), []byte(text), 0o600))
					b.run(t, b.gcc, "-std=c11", "-O1", "-fPIC", "-Ic", "-Ikernels", "-c", "-o", "wrong.o", "wrong.c")
					b.link(t, "wrong.o", "wrong.so")
					out, err := b.gradients("wrong.so")
					assert.Error(t, err, out)
					assert.Contains(t, out, "Jacobian mismatch")
				})
			}
		})
	}
	out, err := b.gradients("")
	require.NoError(t, err, out)
	assert.Contains(t, out, "there is no torch.ops.described.rms_norm: name the library of target torch in "+
		"DLPACKGEN_OPERATORS")
}

// gradients runs the tests with the operators of a library.
func (b builder) gradients(library string) (string, error) {
	cmd := exec.Command(b.python, "-W", "ignore", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", "-k", "test_gradients",
		filepath.Join(b.dir, "python/tests"))
	cmd.Env = append(os.Environ(), "PYTHONPATH="+b.dir, "PYTHONDONTWRITEBYTECODE=1")
	if library != "" {
		cmd.Env = append(cmd.Env, "DLPACKGEN_OPERATORS="+filepath.Join(b.dir, library))
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}
