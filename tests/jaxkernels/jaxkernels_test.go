// Package jaxkernels calls described kernels as JAX functions, compared with the Python module in
// the same library, and their handlers with test frames.
package jaxkernels

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

// builder has the paths of Python and of C's dependencies, and a build folder.
type builder struct{ python, headers, gcc, dir string }

// prepare generates the sources, or skips the test.
func prepare(t *testing.T) builder {
	t.Helper()
	if testing.Short() {
		t.Skip("runs JAX for a minute, and -short was given")
	}
	b := builder{python: testtool.RequirePython(t), gcc: testtool.RequireRunCompiler(t, "gcc"), dir: t.TempDir()}
	if !testtool.Has(b.python, "jax", "jaxlib", "flatbuffers") {
		t.Skip("needs jax and flatbuffers: pip install -r tests/requirements-frameworks.txt")
	}
	b.headers = testtool.RequireHeaders(t, b.python)
	testkit.Generate(t, "testdata/dlpackgen.yaml", b.dir)
	return b
}

func (b builder) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	return testkit.RunIn(t, b.dir, name, args...)
}

// flags are the flags of all sources; they include nothing of JAX.
func (b builder) flags() []string {
	return []string{"-std=c11", "-fPIC", "-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror", "-Ic", "-Ikernels",
		"-Ipython", "-I.", "-isystem", b.headers}
}

func author(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	require.NoError(t, err)
	return path
}

// build builds the library of the module and the handlers; the flags are for the handlers.
func (b builder) build(t *testing.T, flags ...string) {
	t.Helper()
	c := append(b.flags(), testkit.Level(), "-c", "-o")
	b.run(t, b.gcc, append(c, "author.o", author(t, "author.c"))...)
	b.run(t, b.gcc, append(c, "kernels.o", "kernels/kernels.c")...)
	b.run(t, b.gcc, append(c, "module.o", "-DPy_LIMITED_API=0x030B0000", "python/_kernels.c")...)
	b.run(t, b.gcc, append(append(c, "handlers.o", "-fvisibility=hidden", "jax/kernels_jax.c"), flags...)...)
	b.run(t, b.gcc, "-shared", "-o", "_kernels.abi3.so", "module.o", "author.o", "kernels.o", "handlers.o", "-lm")
}

// script runs a Python program with the build.
func (b builder) script(args ...string) (string, error) {
	cmd := testkit.Forked(b.python, testkit.JAX, append([]string{"-W", "ignore"}, args...)...)
	// XLA's optimization of the program around a call is not tested, so it is disabled.
	const unoptimized = "XLA_FLAGS=--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
	cmd.Env = append(os.Environ(), "BUILD="+b.dir, "PYTHONDONTWRITEBYTECODE=1", unoptimized)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestFunctionsOfJAX(t *testing.T) {
	t.Parallel()
	b := prepare(t)
	b.build(t)
	for _, name := range []string{"described.py", "mistakes.py"} {
		out, err := b.script(name)
		require.NoError(t, err, out)
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Equal(t, strings.Count(string(text), "\ndef test_"), strings.Count(out, "ok test_"), out)
	}
}

// beyond are the tests that a jaxlib version cannot pass: its FFI has no int4, and its shard_map is
// experimental.
var beyond = map[string][]string{
	"0.5.3": {"test_gradients_inside_shard_map", "test_shard_map", "test_short_dtypes_are_packed"},
}

// The same library works with other versions of JAX.
func TestOtherJAX(t *testing.T) {
	t.Parallel()
	pythons := strings.Fields(os.Getenv("DLPACKGEN_JAXES"))
	if len(pythons) == 0 {
		t.Skip("needs other versions of JAX: make hosts")
	}
	b := prepare(t)
	b.build(t)
	for _, b.python = range pythons {
		version, err := exec.Command(b.python, "-c", "import jaxlib; print(jaxlib.__version__)").Output()
		require.NoError(t, err)
		var failed []string
		for _, name := range []string{described, mistakes} {
			out, err := b.script(name)
			all := regexp.MustCompile(`FAILED (test_\w+)`).FindAllStringSubmatch(out, -1)
			require.Equal(t, err != nil, len(all) > 0, out)
			for _, test := range all {
				failed = append(failed, test[1])
			}
			t.Logf("jaxlib %s, %s: %d tests passed", bytes.TrimSpace(version), name, strings.Count(out, "ok test_"))
		}
		slices.Sort(failed)
		assert.Equal(t, beyond[strings.TrimSpace(string(version))], failed)
	}
}

// The library needs no other library than the module alone.
func TestNothingIsLinked(t *testing.T) {
	b := prepare(t)
	b.build(t)
	readelf := testtool.Require(t, "readelf", "binutils")
	for _, line := range strings.Split(b.run(t, readelf, "-d", "_kernels.abi3.so"), "\n") {
		if strings.Contains(line, "(NEEDED)") {
			assert.Regexp(t, `\[(lib[cm]|ld-linux[-_a-z0-9]*)\.so\.[0-9]\]`, line)
		}
	}
}

// Frames like XLA's, and like other callers', under the sanitizers.
func TestFrames(t *testing.T) {
	t.Parallel()
	b := prepare(t)
	args := append(b.flags(), "-g", testkit.Level(), "-Wno-pedantic", "-o", "frames", author(t, "frames.c"),
		author(t, "author.c"),
		"kernels/kernels.c", "-lm")
	b.run(t, b.gcc, append(args, testkit.Sanitized...)...)
	want, err := os.ReadFile("testdata/frames.txt")
	require.NoError(t, err)
	assert.Equal(t, string(want), b.run(t, filepath.Join(b.dir, "frames")))
}

// mutant is a mistake in a source, and the test that detects it.
type mutant struct{ old, instead, script, test string }

const described, mistakes = "described.py", "mistakes.py"

// inC are mistakes in the handlers.
//
//mutants:in templates/jax/handler.h
var inC = map[string]mutant{
	"strides begin at the other end": {"const int32_t at = is_column_major ? i : ndim - 1 - i;",
		"const int32_t at = is_column_major ? ndim - 1 - i : i;", described, "test_layouts"},
	"surplus arguments are ignored": {"passed != arguments", "0", described,
		"test_foreign_calls_are_rejected"},
	"surplus results are ignored": {"made != results", "0", described,
		"test_foreign_calls_are_rejected"},
	"attributes are not counted": {"call->frame->attrs.size != attributes", "0", described,
		"test_foreign_calls_are_rejected"},
	"a scalar has any dtype": {"return scalar && scalar->dtype == dtype ? scalar->value : NULL;",
		"return scalar ? scalar->value : NULL;", described, "test_foreign_calls_are_rejected"},
	"integers need not fit": {"dlpackgen_represents_integer(dtype, number)", "1", described,
		"test_foreign_calls_are_rejected"},
	"the mask is not read": {"*mask = *found;", "*mask = -1;", described, "test_values"},
	"an empty list is missing": {"array->size ? array->data : (void*)&none",
		"array->size ? array->data : NULL", described,
		"test_scalars_lists_and_texts"},
	"lists have no length": {"to->count = (int64_t)array->size;", ";", described, "test_scalars_lists_and_texts"},
	"a status is success": {"if (!DLPACKGEN_RARE(status)) return NULL;", "return NULL;",
		described, "test_failures_of_the_kernel"},
	"all failures are internal": {"case DLPACKGEN_STATUS_INDEX_ERROR: return DLPACKGEN_XLA_FFI_OUT_OF_RANGE;",
		"case DLPACKGEN_STATUS_INDEX_ERROR: break;",
		described, "test_failures_of_the_kernel"},
	"results are not checked": {
		"if (!status_) status_ = dlpackgen_check_results_kernel_rms_norm(&kernel_, all_, NULL, sites_, &message_);",
		";", described, "test_foreign_calls_are_rejected"},
	"shapes are not checked": {"const int status_ = dlpackgen_check_kernel_rms_norm(&kernel_, &message_);",
		"const int status_ = 0;", mistakes, "test_the_sentences_are_those_of_the_module"},
}

// inPython are mistakes in kernels_jax.py.
//
//mutants:in templates/jax/*.py templates/traced/*.py
var inPython = map[string]mutant{
	"0.0 is -0.0": {`"real": lambda value: _Float(0.0 if value is None else value),`,
		`"real": lambda value: 0.0 if value is None else value,`, described, "test_scalars_differ_by_their_bits"},
	"calls differ by values alone": {"_bits(value) if isinstance(value, float) else value", "value", described,
		"test_scalars_differ_by_their_bits"},
	"nothing is aliased": {"input_output_aliases={places[i]: len(made) + n for n, i in enumerate(written)}",
		"input_output_aliases={}", described, "test_written_arguments_come_back"},
	"columns are rows": {"return tuple(reversed(range(array.ndim))) if kernel.parameters[i].column_major else None",
		"return None", described, "test_layouts"},
	"calls without results are dropped": {"has_side_effect=not types", "has_side_effect=False", described,
		"test_kernels_without_results_are_called"},
	"batch: none is ignored": {`if kernel.batch == "none":`, "if False:", described,
		"test_vmap_of_kernels_that_forbid_it"},
	"nothing is joined": {`if kernel.batch == "joined" and joins:`, "if False:", described, "test_vmap_calls_once"},
	"everything is joined": {`if kernel.batch == "joined" and joins:`, `if kernel.batch == "joined":`, described,
		"test_vmap_calls_each_where_an_argument_has_no_leading_dimensions"},
	"only some get the batch": {"if array is None or is_batched or not p.leads:", "if True:", described,
		"test_vmap_gives_the_batch_to_all_with_leading_dimensions"},
	"every argument gets the batch dimension, as with JAX's broadcast_all": {
		"if array is None or is_batched or not p.leads:", "if array is None or is_batched:", described,
		"test_vmap_calls_once"},
	"gradients are dropped": {"_fail(kernel, i, NotImplementedError, text)", "return", described,
		"test_gradients_that_nothing_computes_are_rejected"},
	"gradients vary too little": {"return [None if a is None else _varying(a, names) for a in arrays]", "return arrays",
		described, "test_shard_map"},
	"results do not vary": {"return _jax.typeof(present[0]).update(shape=shape, dtype=dtype, weak_type=False)",
		"return _jax.ShapeDtypeStruct(shape, dtype)", described, "test_shard_map"},
	"saved results come first": {"shown = tuple(made[i] for i in kernel.returned) if saving else made",
		"shown = made[-1:] if saving else made", described, "test_gradients"},
	"a written None shifts the others": {
		"shown += [None if a is None else next(made) for p, a in zip(self.parameters, arrays) if p.written]",
		"shown += list(made)", described, "test_written_arguments_come_back"},
	"texts have no end": {`(value or "") + "\0"`, `(value or "")`, described, "test_scalars_lists_and_texts"},
	"large numbers overflow": {"return number - (1 << 64) if number >= 1 << 63 else number",
		"return number", described, "test_scalars_lists_and_texts"},
	"shapes may be symbols": {"if not all(isinstance(extent, int) for extent in shape):", "if False:", described,
		"test_export"},
	"a bool of NumPy is a float": {"    if isinstance(value, _np.bool_):\n", "    if False:\n", mistakes,
		"test_what_is_fine_for_the_module_is_fine"},
	"an integer is a float": {"        return _operator.index(value)\n    except TypeError:",
		"        return number\n    except TypeError:", mistakes,
		"test_the_sentences_are_those_of_the_module"},
	"__index__ is called again for the message": {
		`if most < float("inf") and hasattr(kind, "__index__") and not hasattr(kind, "__float__"):`, "if False:",
		mistakes,
		"test_index_is_called_once"},
	"a bool is an integer": {"if isinstance(value, bool):\n        _fail_kind", "if False:\n        _fail_kind",
		mistakes,
		"test_the_sentences_are_those_of_the_module"},
	"numbers need not fit": {"if not low <= number <= high:", "if False:", mistakes,
		"test_the_sentences_are_those_of_the_module"},
	"floats need not fit": {`if most < abs(number) < float("inf"):`, "if False:", mistakes,
		"test_the_sentences_are_those_of_the_module"},
	"a text may have NUL": {`if "\0" in value:`, "if False:", mistakes, "test_the_sentences_are_those_of_the_module"},
	"mistakes are ignored": {`raise _STATUSES[status](text.value.decode(errors="replace"))`, "pass", mistakes,
		"test_the_sentences_are_those_of_the_module"},
	"arguments come twice": {`raise TypeError(f"{kernel.name}() got multiple values for argument '{name}'")`, "pass",
		mistakes,
		"test_the_sentences_are_those_of_the_module"},
}

// writePython creates a folder with a mutant of kernels_jax.py.
func (b builder) writePython(t *testing.T, number int, m mutant) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, "jax", "kernels_jax.py"))
	require.NoError(t, err)
	dir := filepath.Join(b.dir, "mutants", fmt.Sprint(number))
	require.NoError(t, os.MkdirAll(dir, 0o700))
	made := mutation.Once(t, string(text), m.old, m.instead)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kernels_jax.py"), []byte(made), 0o600))
}

func TestMutantsAreSeen(t *testing.T) {
	tier.OnlyNightly(t)
	t.Parallel()
	b := prepare(t)
	var all []mutation.Mutant
	var names []string
	base := []string{described + " test_values", mistakes + " test_what_is_fine_for_the_module_is_fine"}
	args := []string{"../mutants.py", "numpy,jax,jax.export", "0", base[0], "0", base[1]}
	seen := func(name string, m mutant) {
		text, err := os.ReadFile(m.script)
		require.NoError(t, err)
		require.Contains(t, string(text), "\ndef "+m.test+"(", name)
		names = append(names, name)
		args = append(args, fmt.Sprint(len(names)), m.script+" "+m.test)
	}
	for _, name := range slices.Sorted(maps.Keys(inC)) {
		all = append(all, mutation.Mutant{File: "kernels_jax.c", Old: inC[name].old, New: inC[name].instead})
		seen(name, inC[name])
	}
	for _, name := range slices.Sorted(maps.Keys(inPython)) {
		seen(name, inPython[name])
		b.writePython(t, len(names), inPython[name])
	}
	written := mutation.Write(t, filepath.Join(b.dir, "jax"), all)
	require.Empty(t, written.Apart, "%q changes no statements", names)
	b.build(t, append([]string{"-Wno-error"}, written.Flags...)...)
	out, err := b.script(args...)
	require.NoError(t, err, out)
	testkit.RequireCaught(t, out, names, base)
}
