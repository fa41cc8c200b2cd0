// Package torchshim calls described kernels as PyTorch operators that plain C registers through the
// C shim, with the programs of tests/torchkernels for the compiled form.
package torchshim

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// The programs, and the config and the C sources of both forms.
const (
	shared = "../torchkernels/described.py"
	own    = "shim.py"
	data   = "../torchkernels/testdata/"
)

// builder has the paths for a build, and its folder.
type builder struct{ python, headers, gcc, dir string }

// prepare generates the sources. A build has no access to PyTorch's headers.
func prepare(t *testing.T) builder {
	t.Helper()
	python := testtool.RequirePython(t)
	if !testtool.Has(python, "torch") {
		t.Skip("needs torch: pip install -r tests/requirements-frameworks.txt")
	}
	b := builder{python, testtool.RequireHeaders(t, python), testtool.RequireRunCompiler(t, "gcc"), t.TempDir()}
	testkit.Generate(t, data+"dlpackgen.yaml", b.dir)
	return b
}

func (b builder) run(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command(b.gcc, args...)
	cmd.Dir = b.dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

var warnings = []string{"-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-pedantic", "-Werror"}

// build builds the Python module with the operators; the flags are for these.
func (b builder) build(t *testing.T, flags ...string) {
	t.Helper()
	author, err := filepath.Abs(data + "author.c")
	require.NoError(t, err)
	c := []string{"-std=c11", testkit.Level(), "-fPIC", "-fvisibility=hidden", "-Ic", "-Ikernels", "-Ipython",
		"-isystem",
		b.headers, "-c", "-o"}
	b.run(t, append(c, "author.o", author)...)
	b.run(t, append(c, "kernels.o", "kernels/kernels.c")...)
	b.run(t, append(c, "module.o", "python/_kernels.c", "-DPy_LIMITED_API=0x030B0000")...)
	b.run(t, slices.Concat(c, []string{"torch.o", "torchshim/kernels_torch.c", "-fexceptions"}, flags)...)
	b.run(t, append(flags, "-shared", "-o", "_kernels.abi3.so", "module.o", "author.o", "kernels.o", "torch.o",
		"-lm")...)
}

// script runs a Python program with the build.
func (b builder) script(python string, env []string, args ...string) (string, error) {
	cmd := testkit.Forked(python, testkit.Torch, append([]string{"-W", "ignore"}, args...)...)
	cmd.Env = append(append(os.Environ(), env...), "STABLE=1", "MODULE="+filepath.Join(b.dir, "_kernels.abi3.so"),
		"PYTHONPATH=../torchops:"+filepath.Join(b.dir, "torchshim"), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// tests counts the tests of a program.
func tests(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return strings.Count(string(text), "\ndef test_")
}

// runsAll runs both programs completely.
func (b builder) runsAll(t *testing.T, python string) {
	t.Helper()
	for _, file := range []string{shared, own} {
		out, err := b.script(python, nil, file)
		require.NoError(t, err, out)
		assert.Equal(t, tests(t, file), strings.Count(out, "ok test_"), out)
	}
}

// The operators have the behaviour and messages of the compiled form, and the library needs nothing
// of PyTorch or C++.
func TestOperators(t *testing.T) {
	t.Parallel()
	b := prepare(t)
	b.build(t, append([]string{"-O2"}, warnings...)...)
	out, err := exec.Command(testtool.Require(t, "readelf", "binutils"), "-d",
		filepath.Join(b.dir, "_kernels.abi3.so")).Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "(NEEDED)") {
			assert.Regexp(t, `\[(libc\.so|libm\.so|ld-linux)`, line)
		}
	}
	b.runsAll(t, b.python)
}

// The same library works with older versions of PyTorch.
func TestOlderTorches(t *testing.T) {
	t.Parallel()
	pythons := strings.Fields(os.Getenv("DLPACKGEN_TORCHES"))
	if len(pythons) == 0 {
		t.Skip("needs older versions of torch: make torches")
	}
	b := prepare(t)
	b.build(t, "-O2")
	for _, python := range pythons {
		version, err := exec.Command(python, "-c", "import torch; print(torch.__version__)").Output()
		require.NoError(t, err)
		t.Log("torch", string(version))
		if strings.HasPrefix(string(version), "2.9") {
			out, err := b.script(python, nil, "-c", "import "+
				"importlib.util as u, os, sys; s = u.spec_from_file_location('_kernels', os.environ['MODULE']); "+
				"sys.modules['_kernels'] = u.module_from_spec(s); s.loader.exec_module(sys.modules['_kernels']); "+
				"import kernels_torch; kernels_torch.register()")
			require.Error(t, err)
			assert.Contains(t, out, "use torch 2.10 or newer", out)
			continue
		}
		b.runsAll(t, python)
	}
}

// An exception cannot pass frames without unwind tables.
func TestItNeedsExceptions(t *testing.T) {
	t.Parallel()
	b := prepare(t)
	cmd := exec.Command(b.gcc, "-std=c11", "-Ic", "-Ikernels", "-fsyntax-only", "torchshim/kernels_torch.c")
	cmd.Dir = b.dir
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "compile kernels_torch.c with -fexceptions")
}

// eager are the tests that compile nothing in the process, so that they work with the sanitizers.
var eager = map[string][]string{
	shared: {"test_schemas", "test_values", "test_scalars_lists_and_texts", "test_gradients",
		"test_gradients_that_nothing_computes_are_rejected", "test_names_of_arguments", "test_training",
		"test_threads", "test_bits_are_resolved", "test_shapes_are_checked_without_data",
		"test_the_sentences_are_those_of_modules", "test_nothing_is_written_before_a_mistake_is_found",
		"test_vmap_calls_once", "test_vmap_and_gradients", "test_autocast_leaves_them_alone"},
	own: {"test_forward_mode_is_rejected", "test_gradients_are_rejected_where_the_mode_is_on",
		"test_inference_tensors_are_written_in_their_mode_alone", "test_what_was_saved_is_not_changed_unseen",
		"test_negated_tensors_are_written", "test_undefined_tensors", "test_storage_that_was_made_smaller",
		"test_memory_that_is_shared_until_it_is_written", "test_errors_have_their_classes",
		"test_failed_calls_release_their_arguments", "test_layouts_without_a_kernel"},
}

// No call leaks memory, reads invalid memory or has undefined behaviour, and errors pass C frames
// under a sanitizer.
func TestSanitized(t *testing.T) {
	tier.OnlyNightly(t)
	t.Parallel()
	b := prepare(t)
	b.build(t, "-O0", "-g1", "-fno-omit-frame-pointer", "-fsanitize=address,undefined",
		"-fno-sanitize-recover=undefined")
	for file, names := range eager {
		out, err := b.script(b.python, []string{
			"LD_PRELOAD=" + testkit.RequireRuntime(t, "libasan.so") + " " + testkit.RequireRuntime(t, "libstdc++.so.6"),
			"PYTHONMALLOC=malloc", "UBSAN_OPTIONS=halt_on_error=1", "ASAN_OPTIONS=detect_leaks=1:" +
				"allocator_may_return_null=1:alloc_dealloc_mismatch=0:exitcode=0"}, append([]string{file}, names...)...)
		require.NoError(t, err, out)
		assert.Equal(t, len(names), strings.Count(out, "ok test_"), out)
		assert.NotContains(t, out, "ERROR: AddressSanitizer")
		assert.NotContains(t, out, "runtime error")
		for _, report := range strings.Split(out, "\n\n") {
			leaks := strings.Contains(report, " leak of ") && strings.Contains(report, "dlpackgen_shim")
			assert.False(t, leaks, report) // leaks of Python and torch at their end
		}
	}
}

// mutant is a mistake in the sources, and the test that detects it.
type mutant struct{ file, old, instead, test string }

// The sources, which are parts of two outputs.
const (
	call, raise, values    = "call.h", "raise.h", "values.h"
	py, fakes, derivatives = "dlpackgen_torchshim.py", "fakes.py", "derivatives.py"
)

var mutants = map[string]mutant{
	"a gradient is dropped": {call, "if (grad_mode && dlpackgen_shim.cpp.requires_grad(*handle))", "if (false)",
		own + " test_gradients_are_rejected_where_the_mode_is_on"},
	"gradients are rejected without the mode": {call, "const bool grad_mode = dlpackgen_shim.call.grad_mode();",
		"const bool grad_mode = true;", own + " test_gradients_are_rejected_where_the_mode_is_on"},
	"a tangent is dropped": {call, "if (dlpackgen_shim_has_tangent(handle))", "if (false)",
		own + " test_forward_mode_is_rejected"},
	"versions stay": {call, "dlpackgen_shim.cpp.bump_version(frame->owned[i].handle);", ";",
		own + " test_what_was_saved_is_not_changed_unseen"},
	"inference is everywhere": {call, "else if (!dlpackgen_shim.cpp.inference_mode())", "else if (false)",
		own + " test_inference_tensors_are_written_in_their_mode_alone"},
	"inference tensors have versions": {call, "if (!dlpackgen_shim.cpp.is_inference(frame->owned[i].handle))",
		"if (true)", own + " test_inference_tensors_are_written_in_their_mode_alone"},
	"undefined tensors are read": {values,
		"if (dlpackgen_shim.call.is_defined(handle, &is_defined) || !is_defined)", "if (false)",
		own + " test_undefined_tensors"},
	"a storage is smaller": {values, "if (dlpackgen_shim_is_in_storage(handle, tensor)) return DLPACKGEN_STATUS_OK;",
		"return DLPACKGEN_STATUS_OK;", own + " test_storage_that_was_made_smaller"},
	"a storage has more": {values,
		"(offset + covered) * (int64_t)(tensor->dtype.bits * tensor->dtype.lanes / 8) <= bytes",
		"(offset + covered) <= bytes", own + " test_storage_that_was_made_smaller"},
	"reading separates memory": {values, "if (writes ? dlpackgen_shim.call.get_mutable_data",
		"if (true ? dlpackgen_shim.call.get_mutable_data",
		own + " test_memory_that_is_shared_until_it_is_written"},
	"errors have one class": {raise, "if (dlpackgen_shim_raised.is_complete && is_class)", "if (false)",
		own + " test_errors_have_their_classes"},
	"errors are ignored": {call, "if (status) dlpackgen_shim_raise(status, text);", ";",
		shared + " test_the_sentences_are_those_of_modules"},
	"an int need not fit its dtype": {values,
		"if (!value->present || dlpackgen_represents_integer(dtype, value->integer)) return DLPACKGEN_STATUS_OK;",
		"return DLPACKGEN_STATUS_OK;", shared + " test_the_sentences_are_those_of_modules"},
	"a float need not fit its dtype": {values,
		"if (!value->present || dlpackgen_represents_real(dtype, value->real)) return DLPACKGEN_STATUS_OK;",
		"return DLPACKGEN_STATUS_OK;", shared + " test_the_sentences_are_those_of_modules"},
	"a number need not fit a variable's dtype": {values,
		"if (dlpackgen_represents(dtype, kind, value->integer, value->real)) return DLPACKGEN_STATUS_OK;",
		"return DLPACKGEN_STATUS_OK;", shared + " test_kinds_of_scalars"},
	"a large number is signed": {values, "else if (kind == DLPACKGEN_SCALAR_NATURAL)", "else if (false)",
		shared + " test_the_sentences_are_those_of_modules"},
	"a scalar may have any kind": {values, "if (rejected) {", "if (false) {", shared + " test_kinds_of_scalars"},
	"a text may have NUL": {values, "if (strlen(value->text) == length) return DLPACKGEN_STATUS_OK;",
		"return DLPACKGEN_STATUS_OK;", shared + " test_the_sentences_are_those_of_modules"},
	"nothing is copied": {values, "if (dlpackgen_is_contiguous(tensor)) return DLPACKGEN_STATUS_OK;",
		"return DLPACKGEN_STATUS_OK;", shared + " test_scalars_lists_and_texts"},
	"an empty list is missing": {values, "items ? (const void*)items : &dlpackgen_shim_no_items",
		"(const void*)items", shared + " test_scalars_lists_and_texts"},
	"None is there": {values, "value->present = inner != NULL;", "value->present = 1;",
		shared + " test_scalars_lists_and_texts"},
	"arguments are kept": {values, "if (!owned->handle) return;", "return;",
		own + " test_failed_calls_release_their_arguments"},
	"results change places": {call, "(uintptr_t)made[op->returned[i]]", "(uintptr_t)made[op->returned[0]]",
		shared + " test_scalars_lists_and_texts"},

	"torch is imported": {py, "    if \"torch\" in sys.modules:\n", "    if True:\n",
		own + " test_importing_it_does_not_import_torch"},
	"nothing follows the import of torch": {py, "        self.then()\n", "        pass\n",
		own + " test_operators_are_registered_when_torch_is_imported"},
	"the loader of torch stays another": {py, "        module.__spec__.loader = module.__loader__ = self.loader\n", "",
		own + " test_operators_are_registered_when_torch_is_imported"},
	"torch cannot be imported without operators": {py, "        except ImportError as error:",
		"        except ZeroDivisionError as error:", own + " test_an_operator_that_is_defined_already_is_named"},
	"operators are registered twice": {py, "    if module in _registered:\n", "    if False:\n",
		own + " test_registering_again_does_nothing"},
	"a tangent meets a backward": {py, "                reject_tangents(self.op, args)\n", "                pass\n",
		own + " test_forward_mode_is_rejected"},
	"fakes drop a gradient": {fakes, "            reject_gradients(op, values)\n", "            pass\n",
		own + " test_gradients_are_rejected_where_the_mode_is_on"},
	"fakes have any device": {fakes, "        if expected.type != got.type:", "        if False:",
		shared + " test_meta_and_other_tensors_do_not_mix"},
	"shapes are not checked": {fakes, "        if not has_symbols(values):", "        if False:",
		shared + " test_shapes_are_checked_without_data"},
	"shapes are numbers": {fakes, "        if not has_symbols(values):", "        if True:",
		shared + " test_one_graph_for_all_shapes"},
	"shapes divide by 0": {fakes, "    if isinstance(b, int) and b == 0:", "    if False:",
		shared + " test_shapes_round_down"},
	"leading dimensions are lost": {fakes, "tensor.shape[place : place + tensor.dim() - rank]", "tensor.shape[0:0]",
		shared + " test_shapes_are_checked_without_data"},
	"outlines overlap": {fakes, "((i + 1) << 56)", "(1 << 56)",
		shared + " test_they_are_compliant"},
	"a complex number is real": {fakes, "return 0, 0.0, 4", "return 0, 0.0, 1",
		shared + " test_kinds_of_scalars"},
	"a large number has the kind of others": {fakes, "float(whole), 3", "float(whole), 0",
		shared + " test_kinds_of_scalars"},
	"a bool is an int": {fakes, "2 if isinstance(value, bool) else 0", "0",
		shared + " test_the_sentences_are_those_of_modules"},
	"backward drops a gradient": {derivatives,
		"if i not in op.of and values[i] is not None and values[i].requires_grad",
		"if False", shared + " test_gradients_that_nothing_computes_are_rejected"},
	"gradients stay strided": {derivatives, "grads[i].contiguous()", "grads[i]", shared + " test_gradients"},
	"gradients of None are made": {derivatives, "back[place] if there else None", "back[place]",
		own + " test_an_argument_that_is_None_has_no_gradient"},
	"what backward needs is not saved": {derivatives, "        if wanted:\n", "        if False:\n",
		shared + " test_gradients"},
	"what was written is lost": {derivatives, "                value.copy_(resolved)\n", "                pass\n",
		own + " test_negated_tensors_are_written"},
	"batches are called that must not be": {derivatives, "        if op.batching == \"none\":", "        if False:",
		shared + " test_vmap_of_kernels_that_forbid_it"},
	"a batch stays where it is": {derivatives, "value.movedim(dim, 0)", "value", shared + " test_vmap_calls_once"},
	"a batch is left strided": {derivatives, "value.contiguous() if p.contiguous else value", "value",
		shared + " test_vmap_calls_once"},
	"a weight is batched": {derivatives, "if all(dim is None or p.leading", "if all(True",
		shared + " test_vmap_calls_each_where_an_argument_has_no_leading_dimensions"},
	"nothing is joined": {derivatives, "if all(dim is None or p.leading", "if all(False",
		shared + " test_vmap_calls_once"},
	"empty batches are looped over": {derivatives, "    if size == 0:\n", "    if False:\n",
		shared + " test_vmap_calls_each_where_an_argument_has_no_leading_dimensions"},
}

// packages writes the Python module for each mutant of it, and without one.
func (b builder) packages(t *testing.T, names []string) string {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join(b.dir, "torchshim", py))
	require.NoError(t, err)
	for i, name := range names {
		m := mutants[name]
		if filepath.Ext(m.file) != ".py" {
			continue
		}
		to := filepath.Join(dir, strconv.Itoa(i+1))
		require.NoError(t, os.Mkdir(to, 0o700))
		changed := mutation.Once(t, string(text), m.old, m.instead)
		require.NoError(t, os.WriteFile(filepath.Join(to, py), []byte(changed), 0o600))
	}
	return dir
}

func TestMutantsAreSeen(t *testing.T) {
	tier.OnlyNightly(t)
	t.Parallel()
	b := prepare(t)
	names := slices.Sorted(maps.Keys(mutants))
	// C mutants come first, in the order of their numbers in the build.
	slices.SortStableFunc(names, func(x, y string) int {
		return strings.Compare(filepath.Ext(mutants[x].file), filepath.Ext(mutants[y].file))
	})
	var all []mutation.Mutant
	for _, name := range names {
		if m := mutants[name]; filepath.Ext(m.file) == ".h" {
			all = append(all, mutation.Mutant{File: "kernels_torch.c", Old: m.old, New: m.instead})
		}
	}
	packages := b.packages(t, names)
	written := mutation.Write(t, filepath.Join(b.dir, "torchshim"), all)
	require.Empty(t, written.Apart, "%q changes no statements", names)
	b.build(t, append([]string{"-O0"}, written.Flags...)...)
	args := []string{"../mutants.py", "torch,numpy,torch._dynamo.testing", "0", shared, "0", own}
	for i, name := range names {
		file, test, _ := strings.Cut(mutants[name].test, " ")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(text), "\ndef "+test+"(", name)
		args = append(args, fmt.Sprint(i+1), mutants[name].test)
	}
	out, err := b.script(b.python, []string{"MUTANTS=" + packages}, args...)
	require.NoError(t, err, out)
	assert.Contains(t, out, "missed 0 "+shared+"\n", "it fails with all guards in place:\n%s", out)
	assert.Contains(t, out, "missed 0 "+own+"\n", "it fails with all guards in place:\n%s", out)
	for i, name := range names {
		assert.Contains(t, out, fmt.Sprintf("caught %d %s\n", i+1, mutants[name].test), "no test detected that %s",
			name)
	}
}
