// Package torchkernels calls described kernels as PyTorch operators, compared with the Python
// module from the same description.
package torchkernels

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
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

// builder has the paths of PyTorch, Python and C++'s dependencies, and a build folder.
type builder struct {
	python, torch, headers, gcc, gxx, dir string
	author                                string // a different file of functions than that of testdata
}

// prepare finds PyTorch and generates the sources, or skips the test.
func prepare(t *testing.T) builder {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles against libtorch for a minute, and -short was given")
	}
	python := testtool.RequirePython(t)
	torch := testtool.RequirePackage(t, python, "torch", "pip install -r tests/requirements-frameworks.txt")
	b := builder{python: python, torch: torch, headers: testtool.RequireHeaders(t, python), dir: t.TempDir(),
		gcc: testtool.RequireCompiler(t, "gcc", "gcc"), gxx: testtool.RequireCompiler(t, "g++", "g++")}
	testkit.Generate(t, "testdata/dlpackgen.yaml", b.dir)
	return b
}

func (b builder) run(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = b.dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

var warnings = []string{"-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror"}

// build builds the Python module and the PyTorch library; the flags are for the latter.
func (b builder) build(t *testing.T, flags ...string) {
	t.Helper()
	author, err := filepath.Abs(cmp.Or(b.author, "testdata/author.c"))
	require.NoError(t, err)
	c := append([]string{"-std=c11", testkit.Level(), "-fPIC", "-Ic", "-Ikernels", "-Ipython", "-isystem", b.headers},
		warnings...)
	b.run(t, b.gcc, append(c, "-c", "-o", "author.o", author)...)
	b.run(t, b.gcc, append(c, "-c", "-o", "kernels.o", "kernels/kernels.c")...)
	b.run(t, b.gcc, append(c, "-DPy_LIMITED_API=0x030B0000", "-c", "-o", "module.o", "python/_kernels.c")...)
	b.run(t, b.gcc, "-shared", "-o", "_kernels.abi3.so", "module.o", "author.o", "kernels.o", "-lm")
	cpp := []string{"-std=c++20", "-fPIC", "-fvisibility=hidden", "-Ic", "-Icpp", "-Ikernels", "-isystem",
		filepath.Join(b.torch, "include"), "-isystem", b.headers}
	b.run(t, b.gxx, append(append(cpp, flags...), "-c", "-o", "operators.o",
		"cpp/dlpackgen_torch/described_kernels.cpp")...)
	lib := filepath.Join(b.torch, "lib")
	b.run(t, b.gxx, append(flags, "-shared", "-o", "operators.so", "operators.o", "author.o", "kernels.o",
		"-L", lib, "-ltorch_cpu", "-ltorch_python", "-ltorch", "-lc10", "-Wl,-rpath,"+lib)...)
}

// script runs a Python program with the build.
func (b builder) script(env []string, args ...string) (string, error) {
	cmd := testkit.Forked(b.python, testkit.Torch, append([]string{"-W", "ignore"}, args...)...)
	cmd.Env = append(append(os.Environ(), env...), "LIBRARY="+filepath.Join(b.dir, "operators.so"),
		"MODULE="+filepath.Join(b.dir, "_kernels.abi3.so"), "PYTHONPATH=../torchops", "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// eager are the tests that compile nothing in the process, so that they work with the sanitizers.
var eager = []string{"test_schemas", "test_values", "test_scalars_lists_and_texts", "test_kinds_of_scalars",
	"test_gradients",
	"test_gradients_that_nothing_computes_are_rejected", "test_names_of_arguments", "test_training", "test_threads",
	"test_bits_are_resolved",
	"test_shapes_are_checked_without_data", "test_the_sentences_are_those_of_modules",
	"test_nothing_is_written_before_a_mistake_is_found", "test_vmap_calls_once",
	"test_vmap_gives_the_batch_to_all_with_leading_dimensions",
	"test_vmap_calls_each_where_an_argument_has_no_leading_dimensions", "test_vmap_of_kernels_that_forbid_it",
	"test_vmap_and_gradients", "test_autocast_leaves_them_alone"}

// The sources compile without warnings, and every test of the operators passes.
func TestOperators(t *testing.T) {
	b := prepare(t)
	b.gxx = testtool.RequireRunCompiler(t, "g++")
	b.build(t, append([]string{"-O0"}, warnings...)...)
	text, err := os.ReadFile("described.py")
	require.NoError(t, err)
	out, err := b.script(nil, "described.py")
	require.NoError(t, err, out)
	assert.Equal(t, strings.Count(string(text), "\ndef test_"), strings.Count(out, "ok test_"), out)
}

// No call leaks memory, reads invalid memory or has undefined behaviour.
func TestSanitized(t *testing.T) {
	tier.OnlyNightly(t)
	t.Parallel()
	b := prepare(t)
	b.build(t, append([]string{"-O0", "-g1", "-fno-omit-frame-pointer", "-fsanitize=address,undefined",
		"-fno-sanitize=vptr", "-fno-sanitize-recover=undefined"}, warnings...)...)
	runtime, standard := testkit.RequireRuntime(t, "libasan.so"), testkit.RequireRuntime(t, "libstdc++.so.6")
	out, err := b.script([]string{"LD_PRELOAD=" + runtime + " " + standard,
		"PYTHONMALLOC=malloc", "UBSAN_OPTIONS=halt_on_error=1", "ASAN_OPTIONS=detect_leaks=1:" +
			"allocator_may_return_null=1:alloc_dealloc_mismatch=0:exitcode=0"},
		append([]string{"described.py"}, eager...)...)
	require.NoError(t, err, out)
	assert.Equal(t, len(eager), strings.Count(out, "ok test_"), out)
	assert.NotContains(t, out, "ERROR: AddressSanitizer")
	assert.NotContains(t, out, "runtime error")
	for _, report := range strings.Split(out, "\n\n") {
		leaks := strings.Contains(report, " leak of ") && strings.Contains(report, "dlpackgen::")
		assert.False(t, leaks, report) // leaks of Python and torch at their end
	}
}

// mutant is a mistake in the sources, and the test that detects it.
type mutant struct{ file, old, instead, test string }

const borrowed, described, batched = "borrowed.hpp", "described.hpp", "batched.hpp"

var mutants = map[string]mutant{
	"a number need not fit its dtype": {borrowed, "if (!dlpackgen_represents_integer(dtype, from)) ", "if (false) ",
		"test_the_sentences_are_those_of_modules"},
	"a float need not fit its dtype": {borrowed, "if (!dlpackgen_represents_real(dtype, from)) ", "if (false) ",
		"test_the_sentences_are_those_of_modules"},
	"a number need not fit a variable's dtype": {borrowed,
		"if (dlpackgen_represents(dtype, kind, integer, from.toDouble())) return;", "return;", "test_kinds_of_scalars"},
	"a large number has the kind of others": {borrowed,
		"return is_unsigned(from) ? DLPACKGEN_SCALAR_NATURAL : DLPACKGEN_SCALAR_INTEGER;",
		"return DLPACKGEN_SCALAR_INTEGER;", "test_kinds_of_scalars"},
	"a large number is signed": {borrowed, "from.type() == at::ScalarType::UInt64", "false",
		"test_the_sentences_are_those_of_modules"},
	"a float is an int": {borrowed, "if (from.isFloatingPoint()) return DLPACKGEN_SCALAR_REAL;", "",
		"test_kinds_of_scalars"},
	"a bool is an int": {borrowed, "if (from.isBoolean()) return DLPACKGEN_SCALAR_TRUTH;", "", "test_kinds_of_scalars"},
	"a text may have NUL": {borrowed, "if (to.find('\\0') != std::string::npos)", "if (false)",
		"test_the_sentences_are_those_of_modules"},
	"a complex number is real": {borrowed, "if (from.isComplex()) return DLPACKGEN_SCALAR_COMPLEX;", "",
		"test_kinds_of_scalars"},
	"nothing is copied": {borrowed, "if (copied[site.number] && !from.is_contiguous())", "if (false)",
		"test_scalars_lists_and_texts"},
	"everything is copied": {borrowed, "if (copied[site.number] && !from.is_contiguous())",
		"if (!from.is_contiguous())", "test_the_sentences_are_those_of_modules"},
	"an empty list is missing": {borrowed, "from.empty() ? &none : from.data()",
		"from.empty() ? nullptr : from.data()",
		"test_scalars_lists_and_texts"},
	"a missing number is there": {borrowed, "if (from == nullptr) return nullptr;",
		"if (from == nullptr) return new (&buffer.numbers_[0]) Number(0);", "test_scalars_lists_and_texts"},
	"a gradient is dropped": {borrowed, "if (!tensor.defined() || !tensor.requires_grad()) return;", "return;",
		"test_gradients_that_nothing_computes_are_rejected"},
	"mistakes are ignored": {described, "if (status != DLPACKGEN_STATUS_OK) fail(status, text);", ";",
		"test_the_sentences_are_those_of_modules"},
	"failures are ignored": {described, "if (status != DLPACKGEN_STATUS_OK) detail::fail(status, text);", ";",
		"test_the_sentences_are_those_of_modules"},
	"memory that nobody wrote to is returned": {described,
		"detail::reject_other_devices<detail::Sites<K>>(arguments...);", ";", "test_meta_and_other_tensors_do_not_mix"},
	"symbols are divided as in C": {described, "(*x % *y != 0 && (*x < 0) != (*y < 0) ? 1 : 0)", "0",
		"test_shapes_round_down"},
	"shapes divide by 0": {described,
		"TORCH_CHECK_VALUE(*y != 0, \"a shape of a result divides by 0\");", "if (*y == 0) return 0;",
		"test_shapes_round_down"},
	"shapes are not checked": {described, "if (detail::has_symbols(arguments...))", "if (true)",
		"test_shapes_are_checked_without_data"},
	"shapes are numbers": {described, "if (detail::has_symbols(arguments...))", "if (false)",
		"test_one_graph_for_all_shapes"},
	"results have the usual dtype": {described, ".dtype(detail::scalar_or_throw(like.dtype))", "", "test_values"},
	"results change places": {described, "std::move(made[K::returned[i]])", "made[K::returned[0]]",
		"test_scalars_lists_and_texts"},
	"outlines overlap": {described, "(std::uintptr_t{1} + site.number) << 56", "std::uintptr_t{1} << 56",
		"test_they_are_compliant"},
	"a batch stays where it is": {batched, "return member.tensor.movedim(*member.place, 0);",
		"return member.tensor;", "test_vmap_calls_once"},
	"a batch is left strided": {batched, "K::contiguous[argument] ? tensor.contiguous() : tensor", "tensor",
		"test_vmap_calls_once"},
	"only some get the batch": {batched, "if (!members[i].tensor.defined() || !K::leading[i]) continue;",
		"if (!members[i].place.has_value()) continue;",
		"test_vmap_gives_the_batch_to_all_with_leading_dimensions"},
	"all get the batch": {batched, "if (!members[i].tensor.defined() || !K::leading[i]) continue;",
		"if (!members[i].tensor.defined()) continue;", "test_vmap_calls_once"},
	"a weight is batched": {batched, "if (members[i].place.has_value() && !K::leading[i]) return false;", ";",
		"test_vmap_calls_each_where_an_argument_has_no_leading_dimensions"},
	"nothing is joined": {batched, "if (members[i].place.has_value() && !K::leading[i]) return false;",
		"if (members[i].place.has_value()) return false;", "test_vmap_calls_once"},
	"empty batches are looped over": {batched, "TORCH_CHECK_VALUE(size > 0,", "TORCH_CHECK_VALUE(true,",
		"test_vmap_calls_each_where_an_argument_has_no_leading_dimensions"},
	"a batch of an outer vmap is taken": {batched, "if (batch != nullptr && batch->level() == level)",
		"if (batch != nullptr)", "test_vmap_gives_the_batch_to_all_with_leading_dimensions"},
	"leading dimensions are lost": {described, "i < place + tensor.dim() - rank", "i < place",
		"test_one_graph_for_all_shapes"},
}

func TestMutantsAreSeen(t *testing.T) {
	tier.OnlyNightly(t)
	t.Parallel()
	b := prepare(t)
	names := slices.Sorted(maps.Keys(mutants))
	var all []mutation.Mutant
	for _, name := range names {
		m := mutants[name]
		all = append(all, mutation.Mutant{File: m.file, Old: m.old, New: m.instead})
	}
	folder := filepath.Join(b.dir, "cpp", "dlpackgen_torch")
	testkit.Split(t, filepath.Join(folder, "described_operators.hpp"))
	wrong := b.mistaught(t, folder)
	written := mutation.Write(t, folder, append(all, wrong...))
	require.Empty(t, written.Apart, "%q changes no statements", names)
	b.author = filepath.Join(folder, author)
	prepend(t, b.author, "#include \""+filepath.Join(folder, mutation.Header)+"\"\n")
	b.build(t, append([]string{"-O0"}, written.Flags...)...)
	text, err := os.ReadFile("described.py")
	require.NoError(t, err)
	args := []string{"../mutants.py", "torch,numpy,torch._dynamo.testing", "0", "described.py"}
	for i, name := range names {
		require.Contains(t, string(text), "\ndef "+mutants[name].test+"(", name)
		args = append(args, fmt.Sprint(i+1), "described.py "+mutants[name].test)
	}
	out, err := b.script(nil, args...)
	require.NoError(t, err, out)
	assert.Contains(t, out, "missed 0 described.py\n", "it fails with all guards in place:\n%s", out)
	for i, name := range names {
		assert.Contains(t, out, fmt.Sprintf("caught %d described.py %s\n", i+1, mutants[name].test),
			"no test detected that %s", name)
	}
	checkGradients(t, b, len(all)) // here, because another build takes a minute
}
