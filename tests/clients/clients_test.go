package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
)

// packages are what the cases of a library import, and how many checks they are at least.
var packages = map[string]struct {
	imports []string
	least   int
}{
	"ours":    {nil, 4 * 15},
	"numpy":   {[]string{"numpy", "ml_dtypes"}, 4 * 50},
	"torch":   {[]string{"torch"}, 4 * 60},
	"jax":     {[]string{"jax"}, 4 * 30},
	"paddle":  {[]string{"paddle"}, 4 * 20},
	"tvm-ffi": {[]string{"tvm_ffi", "numpy"}, 4 * 11},
}

// Everything that a library hands out is read with its own values, in its own
// memory, or refused with the reason: for reading and writing, with and without the GIL.
func TestCases(t *testing.T) {
	python := environment(t)
	modules := build(t, python, generated(t))
	for library, test := range packages {
		t.Run(library, func(t *testing.T) {
			if testing.Short() && library != "numpy" && library != "ours" {
				t.Skip("loads a large framework, and -short was given")
			}
			needs(t, python, test.imports...)
			passes(t, python, modules, test.least, "ours.py", library)
		})
	}
	t.Run("nanobind", func(t *testing.T) {
		if testing.Short() {
			t.Skip("compiles nanobind, and -short was given")
		}
		buildNanobind(t, python, modules)
		passes(t, python, modules, 4*3, "ours.py", "nanobind")
	})
}

func TestWhatOneCaseDoesNotShow(t *testing.T) {
	python := environment(t)
	modules := build(t, python, generated(t))
	for library, least := range map[string]int{"numpy": 5, "torch": 8, "jax": 4, "paddle": 1, "ours": 1} {
		t.Run(library, func(t *testing.T) {
			if testing.Short() && library != "numpy" && library != "ours" {
				t.Skip("loads a large framework, and -short was given")
			}
			if library != "ours" {
				needs(t, python, library)
			}
			passes(t, python, modules, least, "special.py", library)
		})
	}
}

// NumPy's own tests of its exporter and importer pass with ours in their place.
func TestNumPysOwnTests(t *testing.T) {
	python := environment(t)
	needs(t, python, "numpy", "pytest")
	out, log, err := script(python, build(t, python, generated(t)), "numpy_suite.py", t.TempDir())
	require.NoError(t, err, "%s\n%s", out, log)
	assert.Regexp(t, `(?m)^[0-9]{2} passed`, out)
}

// A module chooses when tensors that require grad are refused.
func TestRequiresGradIsTheModulesChoice(t *testing.T) {
	if testing.Short() {
		t.Skip("loads torch, and -short was given")
	}
	python := environment(t)
	needs(t, python, "torch")
	for choice, says := range map[string]string{
		"DLPACKGEN_WHILE_ON": "read with grad mode on: False off: True without: True\n",
		"DLPACKGEN_ALWAYS":   "read with grad mode on: False off: False without: True\n",
		"DLPACKGEN_NEVER":    "read with grad mode on: True off: True without: True\n",
	} {
		t.Run(choice, func(t *testing.T) {
			out, log, err := script(python, build(t, python, generated(t), "-DDLPACKGEN_TORCH_REFUSES_GRAD="+choice), "policy.py")
			require.NoError(t, err, log)
			assert.Equal(t, says, out)
		})
	}
}

// One binary reads the tensors of older torches too: 2.10 is the first that has a
// table of its own, and in 2.9 the object holds its tensor elsewhere.
func TestOlderTorches(t *testing.T) {
	older := strings.Fields(os.Getenv("DLPACKGEN_TORCHES"))
	if len(older) == 0 {
		t.Skip("needs older versions of torch: make torches")
	}
	modules := build(t, environment(t), generated(t))
	for _, python := range older {
		version, err := exec.Command(python, "-c", "import torch; print(torch.__version__)").Output()
		require.NoError(t, err)
		t.Run(strings.TrimSpace(string(version)), func(t *testing.T) {
			passes(t, python, modules, 4*60, "ours.py", "torch")
			passes(t, python, modules, 8, "special.py", "torch")
		})
	}
}

// The table in docs/clients.md is what the libraries do here; -update blesses it.
func TestTheTableOfTheDocs(t *testing.T) {
	if testing.Short() {
		t.Skip("loads every framework, and -short was given")
	}
	python := environment(t)
	needs(t, python, "numpy", "ml_dtypes", "torch", "jax", "paddle", "tvm_ffi", "nanobind")
	modules := build(t, python, generated(t))
	buildNanobind(t, python, modules)
	out, log, err := script(python, modules, "matrix.py")
	require.NoError(t, err, "%s\n%s", out, log)
	t.Log("\n" + out)
	const begins = "| producer |"
	text, err := os.ReadFile(filepath.Join(golden.Root(t), "docs", "clients.md"))
	require.NoError(t, err)
	prose, _, found := strings.Cut(string(text), begins)
	require.True(t, found, "docs/clients.md has no table that begins with %q", begins)
	golden.Assert(t, "../docs/clients.md", []byte(prose+out))
}
