package clients

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// packages are the imports of a library's cases, and the minimum number of checks.
var packages = map[string]struct {
	imports []string
	least   int
}{
	"ours":    {nil, 4 * 15},
	"numpy":   {[]string{"numpy", "ml_dtypes"}, 4 * 194},
	"torch":   {[]string{"torch"}, 4 * 266},
	"jax":     {[]string{"jax"}, 4 * 126},
	"paddle":  {[]string{"paddle"}, 4 * 92},
	"tvm-ffi": {[]string{"tvm_ffi", "numpy"}, 4 * 85},
}

// Every tensor that a library exports is read with its own values, in its own memory, or rejected
// with the reason: for reading and writing, with and without the GIL.
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
		modules := withNanobind(t, python, modules)
		passes(t, python, modules, 4*33, "ours.py", "nanobind")
	})
}

func TestSpecialCasesOfLibraries(t *testing.T) {
	python := environment(t)
	modules := build(t, python, generated(t))
	for library, least := range map[string]int{"numpy": 7, "torch": 24, "jax": 5, "paddle": 10, "ours": 1} {
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

// NumPy's own tests of its exporter and importer pass with ours instead.
func TestNumPysOwnTests(t *testing.T) {
	python := environment(t)
	needs(t, python, "numpy", "pytest")
	out, log, err := script(python, build(t, python, generated(t)), "numpy_suite.py", t.TempDir())
	require.NoError(t, err, "%s\n%s", out, log)
	assert.Regexp(t, `(?m)^[0-9]{2} passed`, out)
}

// A module selects when tensors that require grad are rejected.
func TestRequiresGradIsTheModulesChoice(t *testing.T) {
	if testing.Short() {
		t.Skip("loads torch, and -short was given")
	}
	python := environment(t)
	needs(t, python, "torch")
	choices := map[string]string{
		"DLPACKGEN_WHILE_ON": "read with grad mode on: False off: True without: True\n",
		"DLPACKGEN_ALWAYS":   "read with grad mode on: False off: False without: True\n",
		"DLPACKGEN_NEVER":    "read with grad mode on: True off: True without: True\n",
	}
	runs := map[string]run{}
	for choice := range choices {
		modules := build(t, python, generated(t), "-DDLPACKGEN_TORCH_REJECTS_GRAD="+choice)
		runs[choice] = run{modules, []string{"policy.py"}}
	}
	printed := forked(t, python, "torch", slices.Collect(maps.Values(runs))...)
	for choice, says := range choices {
		t.Run(choice, func(t *testing.T) {
			assert.Equal(t, says, printed["missed 0 "+runs[choice].script()],
				printed["caught 0 "+runs[choice].script()])
		})
	}
}

// One binary also reads the tensors of older torches: 2.10 is the first with its own table, and 2.9
// stores the tensor at another offset.
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
			passes(t, python, modules, 21, "special.py", "torch")
		})
	}
}

// One binary reads the tensors of NumPy and torch under the release and debug builds of `make
// pythons`.
func TestOtherPythons(t *testing.T) {
	others := strings.Fields(os.Getenv("DLPACKGEN_PYTHONS"))
	if len(others) == 0 {
		t.Skip("needs other versions of Python: make pythons")
	}
	modules := build(t, environment(t), generated(t))
	for _, python := range others {
		for _, library := range []string{"numpy", "torch"} {
			t.Run(filepath.Base(python)+" "+library, func(t *testing.T) {
				if !testtool.Has(python, "ml_dtypes", library) {
					t.Skipf("%s or ml_dtypes has no wheel for this Python", library)
				}
				if exec.Command(python, "-c",
					"import sysconfig, sys; sys.exit(sysconfig.get_config_var('Py_GIL_DISABLED') == 1)").
					Run() != nil {
					t.Skip("a free-threaded Python does not load modules of the stable ABI; tests/python covers it")
				}
				passes(t, python, modules, packages[library].least, "ours.py", library)
			})
		}
	}
}

// The table in docs/records/clients.md contains the libraries' behaviour; -update rewrites it.
func TestTheTableOfTheDocs(t *testing.T) {
	if testing.Short() {
		t.Skip("loads every framework, and -short was given")
	}
	python := environment(t)
	needs(t, python, "numpy", "ml_dtypes", "torch", "jax", "paddle", "tvm_ffi", "nanobind")
	modules := withNanobind(t, python, build(t, python, generated(t)))
	out, log, err := script(python, modules, "matrix.py")
	require.NoError(t, err, "%s\n%s", out, log)
	t.Log("\n" + out)
	const begins = "| producer | tensor |"
	text, err := os.ReadFile(filepath.Join(golden.Root(t), "docs", "records", "clients.md"))
	require.NoError(t, err)
	prose, _, found := strings.Cut(string(text), begins)
	require.True(t, found, "docs/records/clients.md has no table that begins with %q", begins)
	golden.Assert(t, "../docs/records/clients.md", []byte(prose+out))
}

// The tests that docs/safety.md names for known bugs exist.
func TestTheBugsOfTheFieldHaveTests(t *testing.T) {
	root := golden.Root(t)
	text, err := os.ReadFile(filepath.Join(root, "docs", "safety.md"))
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "| where it occurred | the test here |")
	require.True(t, found)
	rows := 0
	for _, row := range strings.Split(table, "\n") {
		cells := strings.Split(row, " | ")
		if len(cells) != 3 {
			continue
		}
		rows++
		missing, named := unnamed(t, filepath.Join(root, "tests"), cells[2])
		assert.Empty(t, missing, row)
		assert.Positive(t, named, "no test: %s", row)
	}
	assert.Greater(t, rows, 25)
	missing, _ := unnamed(t, filepath.Join(root, "tests"), "`clients/ours.py`: `no_such_name`, `check`")
	assert.Equal(t, []string{"no_such_name"}, missing, "it finds missing tests")
}

var quoted = regexp.MustCompile("`([^`]+)`(:)?")

// sources returns the text of a file, or of all files in a folder.
func sources(t *testing.T, path string) (all string) {
	t.Helper()
	err := filepath.WalkDir(path, func(file string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			text, err := os.ReadFile(file)
			all += string(text)
			return err
		}
		return err
	})
	require.NoError(t, err)
	return all
}

// unnamed returns the names in a cell that the file or folder named before them does not contain.
func unnamed(t *testing.T, tests, cell string) (missing []string, named int) {
	t.Helper()
	var source string
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		if m[2] == ":" {
			source = sources(t, filepath.Join(tests, m[1]))
		} else if named++; !regexp.MustCompile(`\b` + regexp.QuoteMeta(m[1]) + `\b`).MatchString(source) {
			missing = append(missing, m[1])
		}
	}
	return missing, named
}
