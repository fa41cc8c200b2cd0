// Package gopy tests package dlpackpy with real Pythons and their frameworks: scripts of this
// folder import a module written in Go.
package gopy

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// library is the folder of the module, which is built once.
var library string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "gopy")
	if err == nil {
		defer os.RemoveAll(dir)
		library = dir
		err = build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// build builds gopy.so in a folder.
func build(dir string, flags ...string) error {
	args := append([]string{"build", "-trimpath", "-buildmode=c-shared", "-o", filepath.Join(dir, "gopy.so")}, flags...)
	out, err := exec.Command("go", append(args, "./module")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("building the module: %w\n%s", err, out)
	}
	return nil
}

// requireLinux skips tests that measure memory through /proc.
func requireLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux: the scripts measure memory by /proc")
	}
}

// environment returns the Python with the frameworks, or skips the test.
func environment(t *testing.T) string {
	t.Helper()
	requireLinux(t)
	return testtool.RequirePython(t)
}

// imports are modules that take long to import, by script. tvm-ffi imports torch.
var imports = map[string]string{"with_torch.py": testkit.Torch, "attack.py": testkit.Torch,
	"with_tvm_ffi.py": testkit.Torch, "with_jax.py": testkit.JAX, "with_paddle.py": testkit.Frameworks}

// script runs a script with the module in a folder. Warnings of frameworks, such as a missing GPU,
// are removed.
func script(python, library string, args ...string) (string, error) {
	cmd := exec.Command(python, append([]string{"-W", "ignore"}, args...)...)
	if before := imports[args[0]]; before != "" {
		cmd = testkit.Forked(python, before, append([]string{"-W", "ignore"}, args...)...)
	}
	cmd.Env = append(os.Environ(), "GOPY="+library, "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var skipped = regexp.MustCompile(`(?m)^SKIP (.*)$`)

// runs fails unless a script reports exactly the expected number of passed tests.
func runs(t *testing.T, python string, passes int, args ...string) {
	t.Helper()
	out, err := script(python, library, args...)
	if reason := skipped.FindStringSubmatch(out); reason != nil {
		t.Skip(reason[1])
	}
	require.NoError(t, err, out)
	assert.Equal(t, passes, len(regexp.MustCompile(`(?m)^ok test_`).FindAllString(out, -1)), out)
}

// The oldest supported Python is 3.10; one file works with all of them.
func TestEveryPythonHere(t *testing.T) {
	requireLinux(t)
	for i, python := range pythons(t) {
		t.Run(python.version, func(t *testing.T) {
			if testing.Short() && i > 0 {
				t.Skip("takes a second for each Python, and -short was given")
			}
			runs(t, python.path, 36, "plain.py")
			runs(t, python.path, 5, "odd.py")
		})
	}
}

// The Pythons of `make pythons`, whose debug builds abort if Python's API is called with an
// exception set.
func TestOtherPythons(t *testing.T) {
	others := strings.Fields(os.Getenv("DLPACKGEN_PYTHONS"))
	if len(others) == 0 {
		t.Skip("needs other versions of Python: make pythons")
	}
	for _, python := range others {
		for script, passes := range map[string]int{"plain.py": 36, "odd.py": 5, "attack.py": 3} {
			t.Run(filepath.Base(python)+" "+script, func(t *testing.T) { runs(t, python, passes, script) })
		}
	}
}

type python struct{ version, path string }

// pythons returns one Python of each supported version.
func pythons(t *testing.T) (found []python) {
	t.Helper()
	candidates := []string{environment(t), "python3"}
	for minor := 10; minor <= 15; minor++ {
		candidates = append(candidates, fmt.Sprintf("python3.%d", minor))
	}
	known := map[string]bool{}
	for _, path := range candidates {
		out, err := exec.Command(path, "-c",
			"import sys; sys.version_info >= (3, 10) and print('%d.%d' % sys.version_info[:2])").Output()
		version := strings.TrimSpace(string(out))
		if err == nil && version != "" && !known[version] {
			known[version] = true
			found = append(found, python{version, path})
		}
	}
	require.NotEmpty(t, found)
	return found
}

func TestFrameworks(t *testing.T) {
	python := environment(t)
	for name, passes := range map[string]int{"numpy": 18, "torch": 17, "jax": 8, "paddle": 11, "tvm_ffi": 6} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "numpy" {
				t.Skip("loads a large framework, and -short was given")
			}
			runs(t, python, passes, "with_"+name+".py")
		})
	}
}

// Hostile code at every place where reading an argument runs Python code.
func TestAttacks(t *testing.T) {
	if testing.Short() {
		t.Skip("loads torch and makes thousands of calls, and -short was given")
	}
	runs(t, environment(t), 3, "attack.py")
}

// The order in which objects are destroyed when Python ends is not specified, so every order is
// tested: none may crash, hang, or end a thread of Go.
func TestEndings(t *testing.T) {
	python := environment(t)
	ways := map[string]string{
		"holding": "end of holding\n", "held": "end of held\n", "late": "end of late\nlate\n",
		"after": "end of after\nreleased after the end\n", "daemon": "end of daemon\nall there\n",
	}
	for _, with := range []string{"", "numpy", "torch", "jax", "paddle"} {
		names, out := slices.Sorted(maps.Keys(ways)), ""
		if with == "jax" { // its own __dlpack__ needs an import, which then fails
			names = slices.DeleteFunc(names, func(how string) bool { return how == "late" })
		}
		if with == "" || with == "torch" && !testing.Short() || tier.IsNightly() {
			var err error
			out, err = script(python, library, strings.Fields("ending.py "+strings.Join(names, ",")+" "+with)...)
			require.NoError(t, err, out)
		}
		printed := testkit.Verdicts(out)
		for _, how := range names {
			t.Run(how+" "+with, func(t *testing.T) {
				if out == "" {
					tier.OnlyNightly(t)
				}
				if reason := skipped.FindStringSubmatch(out); reason != nil {
					t.Skip(reason[1])
				}
				require.Contains(t, printed, "ended 0 "+how, out)
				assert.Contains(t, printed["ended 0 "+how], ways[how])
			})
		}
	}
}

// Outside of Python, initialization returns an error.
func TestWithoutPython(t *testing.T) {
	requireLinux(t)
	if testing.Short() {
		t.Skip("builds a program in Go, and -short was given")
	}
	program := filepath.Join(t.TempDir(), "program")
	out, err := exec.Command("go", "build", "-o", program, "./module").CombinedOutput()
	require.NoError(t, err, "it links without Python too: %s", out)
	out, err = exec.Command(program).CombinedOutput()
	require.NoError(t, err)
	assert.Equal(t, "no module\n", string(out))
}
