package torchkernels

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// wrongGradients are mistakes in the author's backward.
var wrongGradients = map[string][2]string{
	"of x": {"get(x, at) * s * s * s * dot", "get(x, at) * s * s * dot"},
	"of weight": {"put(dw, i, get(dw, i) + get(g, at) * get(x, at) * s);",
		"put(dw, i, get(dw, i) + get(g, at) * get(x, at));"},
	"of bias": {"put(db, i, get(db, i) + get(g, at));", "put(db, i, get(g, at));"},
}

// author is the file of the author's functions.
const author = "author.c"

// mistaught copies the author's functions to a folder, and returns their mistakes.
func (b builder) mistaught(t *testing.T, folder string) (all []mutation.Mutant) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", author))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, author), text, 0o600))
	for _, name := range slices.Sorted(maps.Keys(wrongGradients)) {
		m := wrongGradients[name]
		all = append(all, mutation.Mutant{File: author, Old: m[0], New: m[1]})
	}
	return all
}

func prepend(t *testing.T, file, line string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append([]byte(line), text...), 0o600))
}

// testsOfGradients counts the emitted tests of gradients.
func testsOfGradients(t *testing.T, b builder) (count int) {
	t.Helper()
	scripts, err := filepath.Glob(filepath.Join(b.dir, "python/tests/test_*_contract.py"))
	require.NoError(t, err)
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		require.NoError(t, err)
		count += strings.Count(string(text), "\ndef test_gradients(")
	}
	require.Positive(t, count)
	return count
}

// checkGradients runs the emitted tests of gradients, in float64 and in float32: they pass, and
// each mistake fails one of them. The mistakes are numbered after others.
func checkGradients(t *testing.T, b builder, others int) {
	t.Helper()
	if !testtool.Has(b.python, "pytest", "hypothesis") {
		t.Log("gradients are not checked: needs pytest and hypothesis: make setup")
		return
	}
	names := slices.Sorted(maps.Keys(wrongGradients))
	for _, dtypes := range []string{`("float32", "float64")`, `("float32",)`} {
		test := filepath.Join(b.dir, "python/tests/test_rms_norm_contract.py")
		mutation.OnceIn(t, test, `types={"T": ("float32", "float64")}`, `types={"T": `+dtypes+`}`)
		t.Run("gradients in "+dtypes, func(t *testing.T) {
			if !strings.Contains(dtypes, "float64") {
				tier.OnlyNightly(t)
			}
			pairs := []string{"0", "test_gradients"}
			for i := range names {
				pairs = append(pairs, fmt.Sprint(others+i+1), "test_gradients")
			}
			out, err := b.emitted("operators.so", append([]string{"../collected.py", "torch,hypothesis",
				filepath.Join(b.dir, "python/tests")}, pairs...)...)
			require.NoError(t, err, out)
			printed := testkit.Verdicts(out)
			assert.Contains(t, printed["passed 0 test_gradients"], fmt.Sprint(testsOfGradients(t, b), " passed"), out)
			for i, name := range names {
				t.Run(name, func(t *testing.T) {
					assert.Contains(t, printed[fmt.Sprint("failed ", others+i+1, " test_gradients")],
						"Jacobian mismatch", out)
				})
			}
		})
	}
	out, err := b.emitted("", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", "-k", "test_gradients",
		filepath.Join(b.dir, "python/tests"))
	require.NoError(t, err, out)
	assert.Contains(t, out, "torch.ops.described.rms_norm does not exist: set DLPACKGEN_OPERATORS to the library of "+
		"target torch, or to the module kernels_torch of target torchshim")
}

// emitted runs emitted tests with the operators of a library.
func (b builder) emitted(library string, args ...string) (string, error) {
	cmd := testkit.Forked(b.python, testkit.Torch, append([]string{"-W", "ignore"}, args...)...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+b.dir, "PYTHONDONTWRITEBYTECODE=1")
	if library != "" {
		cmd.Env = append(cmd.Env, "DLPACKGEN_OPERATORS="+filepath.Join(b.dir, library))
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}
