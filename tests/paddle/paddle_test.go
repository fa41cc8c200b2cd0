// Package paddle calls described kernels as PaddlePaddle functions, compared with the Python module
// in the same library: eager, with gradients, and in static graphs. The kernels are those of
// tests/jaxkernels, and more.
package paddle

import (
	"bytes"
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

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// builder has Python with Paddle, its headers, and a build folder.
type builder struct{ python, headers, dir string }

// prepare finds Paddle and generates the sources, or skips the test.
func prepare(t *testing.T) builder {
	t.Helper()
	if testing.Short() {
		t.Skip("runs Paddle for a minute, and -short was given")
	}
	b := builder{python: testtool.RequirePython(t), dir: t.TempDir()}
	if !testtool.Has(b.python, "paddle") {
		t.Skip("needs paddle: pip install -r tests/requirements-frameworks.txt")
	}
	b.headers = testtool.RequireHeaders(t, b.python)
	generate(t, b.dir)
	return b
}

// generate generates from the config of tests/jaxkernels, with Paddle instead of JAX, without a
// dtype that Paddle lacks.
func generate(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile("../jaxkernels/testdata/dlpackgen.yaml")
	require.NoError(t, err)
	more, err := os.ReadFile("testdata/more.yaml")
	require.NoError(t, err)
	before, behind, found := strings.Cut(string(text), "  nibbles:")
	require.True(t, found)
	made := strings.NewReplacer("jax: {path: jax,", "paddle: {path: made,", `z: "uint64[1]"`, `z: "int64[1]"`).Replace(
		before + behind[strings.Index(behind, "  update:"):] + string(more))
	file := filepath.Join(dir, "dlpackgen.yaml")
	require.NoError(t, os.WriteFile(file, []byte(made), 0o600))
	testkit.Generate(t, file, dir)
}

var warnings = []string{"-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror"}

// build builds one library with the Python module and the checks, without Paddle.
func (b builder) build(t *testing.T, flags ...string) {
	t.Helper()
	args := append([]string{"-std=c11", testkit.Level(), "-fPIC", "-shared", "-Ic", "-Ikernels",
		"-Ipython", "-isystem", b.headers,
		"-DPy_LIMITED_API=0x030B0000", "made/kernels_paddle.c", "kernels/kernels.c", "python/_kernels.c"}, warnings...)
	for _, author := range []string{"../jaxkernels/testdata/author.c", "testdata/author.c"} {
		path, err := filepath.Abs(author)
		require.NoError(t, err)
		args = append(args, path)
	}
	args = append(args, flags...)
	cmd := exec.Command(testtool.RequireRunCompiler(t, "gcc"), append(args, "-o", "_kernels.abi3.so", "-lm")...)
	cmd.Dir = b.dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// script runs a Python program with the build.
func (b builder) script(args ...string) (string, error) {
	cmd := testkit.Forked(b.python, testkit.Frameworks, append([]string{"-W", "ignore"}, args...)...)
	cmd.Env = append(os.Environ(), "BUILD="+b.dir, "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestFunctionsOfPaddle(t *testing.T) {
	t.Parallel()
	b := prepare(t)
	b.build(t)
	for _, name := range []string{described, mistakes} {
		out, err := b.script(name)
		require.NoError(t, err, out)
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Equal(t, strings.Count(string(text), "\ndef test_"), strings.Count(out, "ok test_"), out)
	}
}

// outside are the tests that pass with Paddle before 3.3, where static() does nothing. Its static
// graphs support no operators in Python, and it exports no writable memory.
var outside = []string{"test_cotangents", "test_dtypes_and_sizes", "test_gradients_do_not_change_sentences",
	"test_kernels_without_results_are_called", "test_kernels_without_tensors", "test_results_that_have_no_gradient",
	"test_second_derivatives", "test_signatures_and_documents", "test_strides", "test_values"}

// The same library works with other versions of Paddle.
func TestOtherPaddle(t *testing.T) {
	t.Parallel()
	pythons := strings.Fields(os.Getenv("DLPACKGEN_PADDLES"))
	if len(pythons) == 0 {
		t.Skip("needs other versions of Paddle: make hosts")
	}
	b := prepare(t)
	b.build(t)
	for _, b.python = range pythons {
		version, err := exec.Command(b.python, "-c", "import paddle.version as v; print(v.full_version)").Output()
		require.NoError(t, err)
		var passed []string
		for _, name := range []string{described, mistakes} {
			out, _ := b.script(name)
			for _, test := range regexp.MustCompile(`(?m)^ok (test_\w+)`).FindAllStringSubmatch(out, -1) {
				passed = append(passed, test[1])
			}
		}
		t.Logf("Paddle %s: %d tests passed", bytes.TrimSpace(version), len(passed))
		assert.Subset(t, passed, outside)
	}
}

// Neither AddressSanitizer nor UndefinedBehaviorSanitizer reports an error in the checks of graphs.
func TestSanitized(t *testing.T) {
	tier.OnlyNightly(t)
	t.Parallel()
	b := prepare(t)
	b.build(t, append([]string{"-g1"}, testkit.Sanitized...)...)
	preloaded := ""
	for _, name := range []string{"libasan.so", "libstdc++.so.6"} {
		path, err := exec.Command(testtool.Require(t, "g++", "g++"), "-print-file-name="+name).Output()
		require.NoError(t, err)
		preloaded += " " + strings.TrimSpace(string(path))
	}
	cmd := exec.Command(b.python, "-W", "ignore", mistakes, sentences)
	cmd.Env = append(os.Environ(), "BUILD="+b.dir, "PYTHONDONTWRITEBYTECODE=1", "LD_PRELOAD="+preloaded[1:],
		"ASAN_OPTIONS=detect_leaks=0", "UBSAN_OPTIONS=halt_on_error=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "ok "+sentences)
}

// The library needs no other library than the module alone.
func TestNothingIsLinked(t *testing.T) {
	t.Parallel()
	b := prepare(t)
	b.build(t)
	out, err := exec.Command(testtool.Require(t, "readelf", "binutils"), "-d",
		filepath.Join(b.dir, "_kernels.abi3.so")).Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "(NEEDED)") {
			assert.Regexp(t, `\[(lib[cm]|ld-linux[-_a-z0-9]*)\.so\.[0-9]\]`, line)
		}
	}
}

// mutant is a mistake in dlpackgen_paddle.py, and the test that detects it.
type mutant struct{ old, instead, script, test string }

const (
	described, mistakes = "described.py", "mistakes.py"
	sentences           = "test_the_sentences_of_graphs_are_those_of_the_module"
)

//mutants:in templates/paddle/*.py templates/traced/*.py
var mutants = map[string]mutant{
	"mistakes in graphs are ignored": {`raise _STATUSES[status](text.value.decode(errors="replace"))`, "pass", mistakes,
		sentences},
	"unknown extents are not looked beside": {"raise sentences[0]", "pass", described,
		"test_mistakes_beside_unknown_extents"},
	"unknown extents are all 1": {"_SIZES = 1, 2, 3, 64, 840, 4097",
		"_SIZES = (1,)", described, "test_mistakes_beside_unknown_extents"},
	"unknown extents are known": {"tuple(-1 if n is _UNKNOWN else n for n in shape)",
		"tuple(7 if n is _UNKNOWN else n for n in shape)", described, "test_programs"},
	"scalars have the key of others": {"key = kernel.name, self.saving, _key(self.statics), there, metas",
		"key = kernel.name, self.saving, there, metas", described, "test_scalars_differ"},
	"absent arguments have no key": {"_key(self.statics), there, metas",
		"_key(self.statics), metas", described, "test_values"},
	"shapes have no key": {"_key(self.statics), there, metas",
		"_key(self.statics), there", described, "test_programs"},
	"written arguments are in graphs": {"if self.out(words) is not None or self.outside:",
		"if False:", described, "test_what_stays_outside_of_graphs"},
	"writes are not told": {"tensor._bump_inplace_version()", "pass", described, "test_written_arguments"},
	"out= is not told": {"_bump(written + list(out if isinstance(out, (tuple, list)) else (out,)))",
		"_bump(written)", described, "test_out"},
	"out= drops gradients": {"if self.out(words) is not None:\n            text",
		"if False:\n            text", described, "test_out"},
	"keywords hide arguments": {" - {p.name for p in parameters}  # of the module",
		"", described, "test_arguments_with_the_names_of_keywords"},
	"gradients are dropped": {"_fail(kernel, i, NotImplementedError, text)",
		"return", described, "test_gradients_that_nothing_computes"},
	"graphs drop gradients": {"if any(map(_needs_gradient, tensors)):",
		"if False:", described, "test_gradients"},
	"no_grad has gradients": {"if needs and _paddle.is_grad_enabled():",
		"if needs:", described, "test_gradients_that_nothing_computes"},
	"no_grad has gradients in graphs": {"if not _paddle.is_grad_enabled():",
		"if False:", described, "test_gradients_that_nothing_computes"},
	"stopped gradients are computed": {"made.get(name) if need else None",
		"made.get(name)", described, "test_gradients"},
	"cotangents have any strides": {"c if c.is_contiguous() else c.contiguous()",
		"c", described, "test_cotangents"},
	"saved results are not returned": {"function = kernel.saving if self.saving else kernel.function",
		"function = kernel.function", described, "test_gradients"},
	"callers get saved results": {"shown = [results[i] for i in call.kernel.returned] if call.saving else results\n        ctx",
		"shown = results\n        ctx", described, "test_gradients"},
	"callers get saved results, static": {"shown = [results[i] for i in call.kernel.returned] if call.saving else results\n        context",
		"shown = results\n        context", described, "test_gradients"},
	"second derivatives are zero": {"if _paddle.is_grad_enabled():\n            at",
		"if False:\n            at", described, "test_second_derivatives"},
	"integers have gradients": {"ctx.mark_non_differentiable(*(t for t in shown if not _is_real(t)))",
		"pass", described, "test_results_that_have_no_gradient"},
	"results belong to the module": {"words.setdefault(\"like\", _like())",
		"pass", described, "test_kernels_without_tensors"},
	"results of graphs belong to it": {`words = {"like": _like()} if kernel.like else {}`,
		"words = {}", described, "test_kernels_without_tensors"},
	"arrays of others are tensors": {"if strange:", "if False:", mistakes, "test_what_paddle_has_no_tensor_for"},
	"values of graphs are numbers": {"got = _TRACED_HINT",
		"pass", mistakes, "test_what_paddle_has_no_tensor_for"},
	"graphs are converted again": {"return marker.unified(function) if hasattr(marker, \"unified\") else _paddle.jit.not_to_static(function)",
		"return function", described, "test_gradients"},
}

// writeMutant creates a folder with a mutant of the target's Python.
func (b builder) writeMutant(t *testing.T, number int, m mutant) {
	t.Helper()
	dir := filepath.Join(b.dir, "mutants", fmt.Sprint(number))
	require.NoError(t, os.MkdirAll(dir, 0o700))
	for _, name := range []string{"kernels_paddle.py", "dlpackgen_paddle.py"} {
		text, err := os.ReadFile(filepath.Join(b.dir, "made", name))
		require.NoError(t, err)
		made := string(text)
		if name == "dlpackgen_paddle.py" {
			made = mutation.Once(t, made, m.old, m.instead)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(made), 0o600))
	}
}

func TestMutantsAreSeen(t *testing.T) {
	tier.OnlyNightly(t)
	t.Parallel()
	b := prepare(t)
	b.build(t)
	names := slices.Sorted(maps.Keys(mutants))
	var base, args []string
	for i, name := range names {
		m := mutants[name]
		text, err := os.ReadFile(m.script)
		require.NoError(t, err)
		require.Contains(t, string(text), "\ndef "+m.test+"(", name)
		b.writeMutant(t, i+1, m)
		args = append(args, fmt.Sprint(i+1), m.script+" "+m.test)
		if script := m.script + " " + m.test; !slices.Contains(base, script) {
			base, args = append(base, script), append(args, "0", script)
		}
	}
	out, err := b.script(append([]string{"../mutants.py", "numpy,paddle"}, args...)...)
	require.NoError(t, err, out)
	testkit.RequireCaught(t, out, names, base)
}

func TestEveryMutantHasItsText(t *testing.T) {
	dir := t.TempDir()
	generate(t, dir)
	text, err := os.ReadFile(filepath.Join(dir, "made", "dlpackgen_paddle.py"))
	require.NoError(t, err)
	for _, m := range mutants {
		mutation.Once(t, string(text), m.old, m.instead)
	}
}
