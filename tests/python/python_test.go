package python

import (
	"fmt"
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

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// imports are libraries that take long to import, by script.
var imports = map[string]string{"with_torch.py": testkit.Torch, "attackers.py": testkit.Torch,
	"with_paddle.py": testkit.Frameworks}

// script runs a script with the modules in a folder.
func script(t *testing.T, python, modules string, env []string, args ...string) (string, error) {
	t.Helper()
	args = append([]string{"-W", "ignore"}, args...)
	cmd := exec.Command(python, args...)
	if library := imports[args[2]]; library != "" {
		cmd = testkit.Forked(python, library, args...)
	}
	cmd.Env = append(os.Environ(), "MODULES="+modules, "SCRATCH="+t.TempDir(), "PYTHONDONTWRITEBYTECODE=1")
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var passed = regexp.MustCompile(`(?m)^ok test_`)

// tests counts the tests of a script.
func tests(t *testing.T, name string) int {
	t.Helper()
	source, err := os.ReadFile(name)
	require.NoError(t, err)
	return len(regexp.MustCompile(`(?m)^def test_`).FindAll(source, -1))
}

// runs fails unless all tests of a script pass.
func runs(t *testing.T, python, modules, name string, env ...string) {
	t.Helper()
	out, err := script(t, python, modules, env, name)
	require.NoError(t, err, out)
	require.Positive(t, tests(t, name))
	assert.Len(t, passed.FindAllString(out, -1), tests(t, name), out)
}

// pythons returns one Python of each supported version, by version.
func pythons(t *testing.T) map[string]string {
	t.Helper()
	candidates := []string{testtool.RequirePython(t), "python3"}
	for minor := 11; minor <= 15; minor++ {
		candidates = append(candidates, fmt.Sprintf("python3.%d", minor))
	}
	found := map[string]string{}
	for _, path := range candidates {
		out, err := exec.Command(path, "-c",
			"import sys; sys.version_info >= (3, 11) and print('%d.%d' % sys.version_info[:2])").Output()
		version := strings.TrimSpace(string(out))
		if _, known := found[version]; err == nil && version != "" && !known {
			found[version] = path
		}
	}
	require.NotEmpty(t, found)
	return found
}

// calls are the scripts about calls, for every Python and every kind of build.
var calls = []string{"rules.py", "descriptions.py", "fits.py", "scalars.py", "access_methods.py", "queries.py",
	"order.py", "streams.py", "exports.py", "depth.py"}

// One file of each module works with every installed Python; none needs a library.
func TestEveryPythonHere(t *testing.T) {
	dir := modules(t)
	for version, python := range pythons(t) {
		for _, name := range append([]string{"inlined.py", "lives.py", "threads.py"}, calls...) {
			t.Run(version+" "+name, func(t *testing.T) {
				if testing.Short() && (python != testtool.RequirePython(t) || name == "lives.py" ||
					name == "threads.py") {
					t.Skip("takes some seconds for each Python, and -short was given")
				}
				runs(t, python, dir, name)
			})
		}
	}
}

// A debug build of CPython aborts if Python code runs while an exception is set, if a reference is
// released too often, and for many other mistakes.
func TestUnderADebugBuild(t *testing.T) {
	python := testtool.Require(t, "python3-dbg", "python3-dbg")
	version, err := exec.Command(python, "-c",
		"import sys; sys.gettotalrefcount(); print(sys.version_info >= (3, 11))").Output()
	if err != nil || strings.TrimSpace(string(version)) != "True" {
		t.Skip("needs a debug build of Python 3.11 or newer: apt-get install python3-dbg")
	}
	for _, name := range append([]string{"inlined.py", "lives.py"}, calls...) {
		t.Run(name, func(t *testing.T) {
			runs(t, python, modules(t), name)
		})
	}
	t.Run("failing.py", func(t *testing.T) {
		if testing.Short() {
			t.Skip("builds a module, and -short was given")
		}
		runs(t, python, failing(t), "failing.py")
	})
}

// All properties of calls also hold with inlined checks.
func TestEveryRuleInlined(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module, and -short was given")
	}
	b, dir := newBuilder(t), t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(modules(t), "untrusted.abi3.so"), filepath.Join(dir,
		"untrusted.abi3.so")))
	b.flags = append(b.flags, inlined)
	b.build(t, dir, "checked", "module/checked.c")
	for _, name := range calls {
		t.Run(name, func(t *testing.T) {
			if name != "rules.py" && name != "fits.py" {
				tier.OnlyNightly(t)
			}
			runs(t, b.python, dir, name)
		})
	}
}

func TestNothingLeaks(t *testing.T) {
	if testing.Short() {
		t.Skip("runs 50,000 rounds, and -short was given")
	}
	runs(t, testtool.RequirePython(t), modules(t), "leaks.py")
}

// Exhausted memory is reported everywhere, without leaks.
func TestEveryAllocationFailsOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module, and -short was given")
	}
	runs(t, testtool.RequirePython(t), failing(t), "failing.py")
}

// failing returns a folder with the modules, one of which has failing allocations.
func failing(t *testing.T) string {
	t.Helper()
	b, dir := newBuilder(t), t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(modules(t), "untrusted.abi3.so"), filepath.Join(dir,
		"untrusted.abi3.so")))
	b.flags = append(b.flags, "-include", "module/failing.h")
	b.build(t, dir, "checked", "module/checked.c")
	return dir
}

// Properties that torch's table does not check are queried separately.
func TestTheTableOfTorch(t *testing.T) {
	python := testtool.RequirePython(t)
	if testing.Short() {
		t.Skip("loads torch, and -short was given")
	}
	if !testtool.Has(python, "torch") {
		t.Skip("needs torch: pip install -r tests/requirements-frameworks.txt")
	}
	runs(t, python, modules(t), "with_torch.py")
}

// Memory that a library frees while a call borrows it is not read again.
func TestPaddle(t *testing.T) {
	python := testtool.RequirePython(t)
	if testing.Short() {
		t.Skip("loads paddle, and -short was given")
	}
	if !testtool.Has(python, "paddle") {
		t.Skip("needs paddle: pip install -r tests/requirements-frameworks.txt")
	}
	runs(t, python, modules(t), "with_paddle.py")
}

// Hostile code at every place where foreign code can run cannot change checked properties.
func TestAttackers(t *testing.T) {
	python := testtool.RequirePython(t)
	if testing.Short() {
		t.Skip("runs thousands of attacks, and -short was given")
	}
	if !testtool.Has(python, "numpy", "torch") {
		t.Skip("needs numpy and torch: pip install -r tests/requirements-frameworks.txt")
	}
	runs(t, python, modules(t), "attackers.py", "MALLOC_PERTURB_=165")
}

// The order in which objects are destroyed when Python ends is not specified, so every order is
// tested: none may crash or hang.
func TestEndings(t *testing.T) {
	python, dir := testtool.RequirePython(t), modules(t)
	ways := map[string]string{
		"objects": "end of objects\n", "consumed": "end of consumed\n",
		"after": "end of after\nreleased after the end\n",
		"while": "end of while\nreleased while it ends\n", "late": "end of late\ncalled while it ends\n",
		"daemon": "end of daemon\n",
	}
	for _, with := range []string{"", "numpy", "torch", "jax"} {
		printed := map[string]string{}
		if with == "" || !testing.Short() && testtool.Has(python, with) {
			names := strings.Join(slices.Sorted(maps.Keys(ways)), ",")
			out, err := script(t, python, dir, nil, append([]string{"ending.py", names}, strings.Fields(with)...)...)
			require.NoError(t, err, out)
			printed = testkit.Verdicts(out)
		}
		for how, says := range ways {
			t.Run(how+" "+with, func(t *testing.T) {
				if testing.Short() && with != "" {
					t.Skip("loads a library, and -short was given")
				}
				if how == "late" && with == "jax" {
					t.Skip("jax imports a module when it is asked for a tensor, which fails while Python ends")
				}
				if len(printed) == 0 {
					t.Skip("needs " + with + ": make setup")
				}
				require.Contains(t, printed, "ended 0 "+how, printed)
				assert.Contains(t, printed["ended 0 "+how], says)
			})
		}
	}
}

// Under AddressSanitizer and UndefinedBehaviorSanitizer, which stop at the first error.
func TestSanitized(t *testing.T) {
	if testing.Short() {
		t.Skip("builds for the sanitizers, and -short was given")
	}
	b := newBuilder(t)
	flags, preload := testkit.RequireSanitizers(t)
	dir := t.TempDir()
	b.flags = slices.Concat(b.flags, []string{"-g"}, flags)
	b.build(t, dir, "checked", "module/checked.c")
	b.build(t, dir, "untrusted", "module/untrusted.c")
	env := []string{"LD_PRELOAD=" + preload, "ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1",
		"PYTHONMALLOC=malloc"}
	for _, name := range append([]string{"lives.py"}, calls...) {
		t.Run(name, func(t *testing.T) {
			runs(t, b.python, dir, name, env...)
		})
	}
	t.Run("ending.py", func(t *testing.T) {
		out, err := script(t, b.python, dir, env, "ending.py", "after")
		require.NoError(t, err, out)
		assert.Contains(t, out, "released after the end\n")
	})
}
