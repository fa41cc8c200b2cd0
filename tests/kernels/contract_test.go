package kernels

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// contractFolder has a description, its C, and its reference.
const contractFolder = "testdata/contract"

// contractSources generates the module of that description with its tests.
func contractSources(t *testing.T) (python, dir string) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a module for some seconds, and -short was given")
	}
	python = testtool.RequirePython(t)
	if !testtool.Has(python, "pytest", "hypothesis", "numpy") {
		t.Skip("needs pytest, hypothesis and NumPy: make setup")
	}
	dir = t.TempDir()
	testkit.Generate(t, contractFolder+"/kernels.yaml", dir)
	text, err := os.ReadFile(contractFolder + "/author.c")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "author.c"), text, 0o600))
	return python, dir
}

// contractTests builds the module, with mistakes in its sources.
func contractTests(t *testing.T, all ...mutation.Mutant) (python, dir, home string) {
	t.Helper()
	python, dir = contractSources(t)
	var flags []string
	if len(all) > 0 {
		written := mutation.Write(t, dir, all)
		require.Empty(t, written.Apart, "each is a statement or an expression")
		flags = append(written.Flags, "-O0")
	}
	return python, dir, moduleOf(t, python, dir, filepath.Join(dir, "author.c"), flags...)
}

// contractCommand starts Python with the module and its reference in the search path.
func contractCommand(t *testing.T, python, home string, args ...string) *exec.Cmd {
	t.Helper()
	reference, err := filepath.Abs(contractFolder)
	require.NoError(t, err)
	cmd := testkit.Forked(python, testkit.Frameworks, args...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+home+":"+reference, "PYTHONDONTWRITEBYTECODE=1")
	return cmd
}

// contract is pytest's output for all emitted tests, with all installed libraries.
var contract struct {
	once   sync.Once
	output string
	err    error
}

// contractSays runs the emitted tests once.
func contractSays(t *testing.T) (output string, err error) {
	t.Helper()
	contract.once.Do(func() {
		python, dir, home := contractTests(t)
		cmd := contractCommand(t, python, home, "-m", "pytest", "-v", "--tb=short", "-p",
			"no:cacheprovider", dir+"/python/tests")
		cmd.Env = append(cmd.Env, "COLUMNS=300") // otherwise, the reason of a skip is truncated
		out, err := cmd.CombinedOutput()
		contract.output, contract.err = string(out), err
	})
	if contract.output == "" {
		t.Skip("TestContract reports the reason")
	}
	return contract.output, contract.err
}

// The emitted tests pass for a kernel that implements its description, with all installed
// libraries.
func TestContract(t *testing.T) {
	out, err := contractSays(t)
	require.NoError(t, err, out)
	assert.Regexp(t, ` passed`, out)
	for _, library := range []string{"numpy", "jax"} {
		if testtool.Has(testtool.RequirePython(t), library) {
			assert.Regexp(t, `\[read_only-y-`+library+`\] PASSED`, out)
			assert.Regexp(t, `\[out_read_only-out-`+library+`\] PASSED`, out)
		}
	}
	assert.Regexp(t, `test_narrowed_contract\.py::test_values\[numpy\] SKIPPED \(numpy has no bfloat16, the dtype of `+
		`result y\)`, out)
	for _, reason := range []string{"no small sizes", "no valid call"} {
		assert.NotContains(t, out, reason, "every demand of this description can be broken")
	}
}

// For the calls of the emitted tests, neither AddressSanitizer nor UndefinedBehaviorSanitizer
// reports an error in the module.
func TestContractSanitized(t *testing.T) {
	tier.OnlyNightly(t)
	python, dir := contractSources(t)
	home := moduleOf(t, python, dir, filepath.Join(dir, "author.c"), append(sanitized, "-O0")...)
	library, err := exec.Command("gcc", "-print-file-name=libasan.so").Output()
	require.NoError(t, err)
	cmd := contractCommand(t, python, home, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "-k",
		"numpy", "--capture=sys", // shows the output of the sanitizers
		dir+"/python/tests")
	cmd.Env = append(cmd.Env, "LD_PRELOAD="+strings.TrimSpace(string(library)), "ASAN_OPTIONS=detect_leaks=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Regexp(t, ` passed`, string(out))
}

// No dtype of ml_dtypes is omitted: torch, JAX and Paddle create arrays of them.
func TestContractOfShortFloats(t *testing.T) {
	out, err := contractSays(t)
	require.NoError(t, err, out)
	python := testtool.RequirePython(t)
	if !testtool.Has(python, "ml_dtypes") {
		t.Skip("needs ml_dtypes: make setup")
	}
	for _, library := range []string{"torch", "jax", "paddle"} {
		t.Run(library, func(t *testing.T) {
			if !testtool.Has(python, library) {
				t.Skipf("needs %s: pip install -r tests/requirements-frameworks.txt", library)
			}
			pattern := `(?m)^\S*test_(?:halves|eighths)_contract\.py::\S+[-\[]` + library + `\] (PASSED|SKIPPED.*)`
			passed := 0
			for _, test := range regexp.MustCompile(pattern).FindAllStringSubmatch(out, -1) {
				// Read-only JAX arrays are passed together with NumPy's, which has none of these
				// dtypes.
				assert.NotContains(t, test[1], library+" has no")
				if test[1] == "PASSED" {
					passed++
				}
			}
			assert.GreaterOrEqual(t, passed, 10)
		})
	}
}

// largest prints the elements of the largest random call of a kernel with rank 6.
const largest = `
import dlpackgen_contract, dlpackgen_contract_calls as calls, test_deep_contract
seen = []
dlpackgen_contract.check_results = lambda call: seen.append(calls.elements(call.shapes))
dlpackgen_contract.check_values(test_deep_contract.KERNEL, "numpy")
print(len(seen) > 20 and max(seen) <= calls.MOST, len(seen), max(seen))
`

// The calls for a description with many dimensions do not exhaust memory.
func TestRandomCallsAreSmall(t *testing.T) {
	python := testtool.RequirePython(t)
	if !testtool.Has(python, "pytest", "hypothesis", "numpy") {
		t.Skip("needs pytest, hypothesis and NumPy: make setup")
	}
	dir := t.TempDir()
	testkit.Generate(t, contractFolder+"/kernels.yaml", dir)
	cmd := exec.Command(python, "-c", largest)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+dir+"/python/tests", "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Regexp(t, "^True", string(out))
}

// searched counts the attempts and evaluations to find valid sizes of a kernel with 64 symbols:
// with tensors of rank 16, a condition that no size meets, and two proportional sizes.
const searched = `
import sys
import pytest
import dlpackgen_contract_calls as calls

tried, evaluated, attempts, evaluate = [], [], calls.attempts, calls.evaluate
calls.attempts = lambda *given: (tried.append(1) or values for values in attempts(*given))
calls.evaluate = lambda text, values: evaluated.append(1) or evaluate(text, values)
symbols = {f"s{i}": f"x{i // 16}" for i in range(64)}
tensors = [calls.Tensor(x, "", ("float32",), shape=tuple(s for s in symbols if symbols[s] == x)) for x in
           ("x0", "x1", "x2", "x3")]
for condition in ("s0 > 0", "s0 + s1 == 2000", "s0 * 3 == s1"):
    where = (calls.Condition(condition, condition),)
    kernel = calls.Kernel("m", "many", tuple(tensors), symbols=symbols, where=where)
    tried.clear()
    evaluated.clear()
    try:
        found = len(calls.solutions(kernel, "numpy"))
    except pytest.fail.Exception as error:
        found = str(error)
    print(len(tried) < 5000, len(evaluated) < 100_000, found, len(tried), len(evaluated))
print(calls.compiled.cache_info().misses < 70)
`

// The search for sizes of a valid call takes few attempts, even if only small sizes or no sizes
// fit, and compiles each text once.
func TestTheSearchForSizesEnds(t *testing.T) {
	python := testtool.RequirePython(t)
	if !testtool.Has(python, "pytest", "numpy") {
		t.Skip("needs pytest and NumPy: make setup")
	}
	cmd := exec.Command(python, "-c", searched)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(golden.Root(t), "templates/kernels/python"),
		"PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Regexp(t, `^True True 50 .*\nTrue True no small sizes satisfy .* 0 \d+\nTrue True 50 .*\nTrue\n$`,
		string(out))
}

// The tolerance of a dtype whose name states its format is a little more than the last digit.
func TestTolerances(t *testing.T) {
	python := testtool.RequirePython(t)
	if !testtool.Has(python, "pytest", "numpy") {
		t.Skip("needs pytest and NumPy: make setup")
	}
	cmd := exec.Command(python, "-c", `from dlpackgen_contract import tolerance_of
for dtype in "float64", "float32", "bfloat16", "float8_e4m3fn", "float8_e5m2fnuz", "float6_e2m3fn", "float4_e2m1fn":
    print(tolerance_of(dtype))`)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(golden.Root(t), "templates/kernels/python"),
		"PYTHONDONTWRITEBYTECODE=1")
	assert.Equal(t, []string{"1e-12", "1e-05", "0.04", "0.13", "0.26", "0.13", "0.52"}, testkit.Lines(t, cmd))
}

// made are the files with the module's sources.
var made = map[string]string{"check.h": "c/dlpackgen/checker.h", "kernel_checks.h": "kernels/kernels.c",
	"values.h": "python/_kernels.c", "dlpackgen_python.c": "python/dlpackgen_python.c", "author.c": "author.c"}

// broken is a mistake in a source, and the failure message of the emitted tests.
type broken struct{ file, old, replacement, output string }

var contractMistakes = map[string]broken{
	"any dtype": {"check.h", "if (DLPACKGEN_RARE(!dlpackgen_is_among(dtypes, most, dlpackgen_dtype_of(tensor))))",
		"if (0)", "expected uint8, got"},
	"other dtype": {"check.h", "if (DLPACKGEN_RARE(dlpackgen_dtype_of(tensor) != expected))", "if (0)",
		"the dtype of argument 'y' (1st), got float64"},
	"rank": {"check.h", "if (DLPACKGEN_RARE(tensor->ndim != rank) && !(more && tensor->ndim > rank))", "if (0)",
		"dimension"},
	"layout": {"check.h",
		"if (DLPACKGEN_RARE(!dlpackgen_is_laid_out(layout, tensor, dlpackgen_is_plainly_contiguous(tensor, &elements))))",
		"if (0)", "expected a C-contiguous tensor, got strides"},
	"short lists": {"kernel_checks.h", "if (count == wanted || (more && count > wanted)) return DLPACKGEN_STATUS_OK;",
		"return DLPACKGEN_STATUS_OK;", "expected 2 items, got 3"},
	"factors": {"kernel_checks.h", "if (DLPACKGEN_RARE(extent % number != 0))", "if (0)",
		"expected a multiple of 2 in dimension 1, which is 2 * k"},
	"expressions": {"kernel_checks.h", "if (DLPACKGEN_RARE(bad || tensor->shape[dimension] != expected))", "if (0)",
		"expected k + 1 ="},
	"groups": {"kernel_checks.h", "!DLPACKGEN_RARE(!dlpackgen_fits_group(tensor, which, first, rank, group))",
		"1", "expected ... = (2, 3),"},
	"alignment": {"kernel_checks.h",
		"if (dlpackgen_address(tensor) % (uintptr_t)bytes == 0 || dlpackgen_is_empty(tensor)) return DLPACKGEN_STATUS_OK;",
		"return DLPACKGEN_STATUS_OK;", "expected data aligned to 64 bytes, got 0x"},
	"overlap": {"kernel_checks.h",
		"if (!DLPACKGEN_RARE(dlpackgen_meet(written, other))) return DLPACKGEN_STATUS_OK;",
		"return DLPACKGEN_STATUS_OK;", "overlaps argument 'x' (2nd)"},
	"rank of out": {"kernel_checks.h",
		"if (!status) status = dlpackgen_check_rank(at, tensor, made->ndim, 0, message);", "",
		"argument 'out' (13th): expected 1 dimension, got 2"},
	"shape of out": {"kernel_checks.h", "status = dlpackgen_check_extent(at, tensor, d, made->shape[d], message);",
		"", "argument 'out' (13th): expected"},
	"read-only": {"dlpackgen_python.c",
		"(state & DLPACKGEN_NP_WRITEABLE) == 0 || (state & DLPACKGEN_NP_WARN_ON_WRITE) != 0;", "(state & 0U) != 0;",
		"argument 'y' (1st): it is read-only"},
	"surplus arguments": {"dlpackgen_python.c", "if (count > names->positional)", "if (0)",
		"many() takes 12 arguments, got 13"},
	"a name twice": {"dlpackgen_python.c", "if (i < 0 || passed[i] != NULL) {", "if (i < 0) {",
		"got multiple values for argument 'y'"},
	"large numbers": {"values.h", "if (*number >= (is_signed ? -above : 0) && *number < above) return 0;",
		"return 0;", "int8 cannot represent 128"},
	"no copy": {"values.h", "if (dlpackgen_is_contiguous(from) || item == 0) return 0;", "return 0;",
		"argument 'idx' (4th): expected a C-contiguous tensor"},
	"wrong values": {"author.c", "sum += (i + 1) *", "sum += i *", "rows differs from the reference"},
	"writes an input": {"author.c", "int64_t sum = 0;", "int64_t sum = ((int64_t*)idx->data)[0]++ * 0;",
		"the kernel wrote to idx, which is only read"},
	"large results": {"author.c", "return (INT64_C(1) << 60) + x->shape[0];",
		"return (INT64_C(1) << 60) + x->shape[0] + 1;", "large differs from the reference"},
	"wrong halves": {"author.c", "value *= by;", "value *= by * 1.1F;", "y differs from the reference, in bfloat16"},
	"wrong eighths": {"author.c", "DATA(uint8_t, x)[i] ^ 0x80;", "DATA(uint8_t, x)[i];",
		"y differs from the reference, in float8_e"},
	"another error": {"author.c", "return DATA(int64_t, at)[0] > 2;", "return 2 * (DATA(int64_t, at)[0] > 2);",
		"fails(): the kernel failed with status 2"},
}

// seenIn is a pattern of the names of the detecting tests: those with NumPy, which has no short
// floats.
func (m broken) seenIn() string {
	switch {
	case m.isOfShortFloats():
		return "(halves|eighths).*values.torch"
	case m.file == "author.c":
		return "values.numpy"
	}
	return "(rejects|accepts).*numpy"
}

func (m broken) isOfShortFloats() bool {
	return strings.Contains(m.output, "differs from the reference, in")
}

// Each mistake in the module or the author's C fails an emitted test, whose message describes it.
func TestMistakesAreSeenByContracts(t *testing.T) {
	tier.OnlyNightly(t)
	names := slices.Sorted(maps.Keys(contractMistakes))
	var all []mutation.Mutant
	for _, name := range names {
		m := contractMistakes[name]
		all = append(all, mutation.Mutant{File: filepath.FromSlash(made[m.file]), Old: m.old, New: m.replacement})
	}
	python, dir, home := contractTests(t, all...)
	hasTorch := testtool.Has(python, "torch", "ml_dtypes")
	output := contractRuns(t, python, dir, home, names, hasTorch)
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			m := contractMistakes[name]
			if m.isOfShortFloats() && !hasTorch {
				t.Skip("needs torch: pip install -r tests/requirements-frameworks.txt")
			}
			require.Contains(t, output, "passed 0 "+m.seenIn(), "without a mistake")
			require.Contains(t, output, fmt.Sprint("failed ", i+1, " ", m.seenIn()))
			out := strings.ReplaceAll(output[fmt.Sprint("failed ", i+1, " ", m.seenIn())], "\nE   ", " ")
			assert.Contains(t, out, m.output)
		})
	}
}

// contractRuns runs the emitted tests with each mistake and with none, and returns their output by
// the line of their verdict.
func contractRuns(t *testing.T, python, dir, home string, names []string, hasTorch bool) map[string]string {
	t.Helper()
	modules, pairs := "hypothesis,numpy", []string(nil)
	if hasTorch {
		modules += ",torch,ml_dtypes"
	}
	for i, name := range names {
		m := contractMistakes[name]
		if !m.isOfShortFloats() || hasTorch {
			pairs = append(pairs, "0 "+m.seenIn(), fmt.Sprint(i+1, " ", m.seenIn()))
		}
	}
	slices.Sort(pairs)
	args := []string{"../collected.py", modules, dir + "/python/tests"}
	for _, pair := range slices.Compact(pairs) {
		number, pattern, _ := strings.Cut(pair, " ")
		args = append(args, number, pattern)
	}
	out, err := contractCommand(t, python, home, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return testkit.Verdicts(string(out))
}
