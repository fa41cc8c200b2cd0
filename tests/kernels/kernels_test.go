// Package kernels calls described kernels: from plain C, with each mistake that their descriptions
// exclude.
package kernels

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

var (
	strict    = []string{"-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror"}
	sanitized = []string{"-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}
)

// calls builds testdata/calls.c with the generated files in a folder.
func calls(t *testing.T, c testkit.Compiler, dir string, flags ...string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "calls")
	args := append([]string{"-I" + dir + "/c", "-I" + dir + "/kernels"}, flags...)
	c.Build(t, program, append(args, filepath.Join(dir, "kernels/kernels.c"), "testdata/author.c", "testdata/calls.c",
		"-pthread")...)
	return program
}

// Every compiler has no warnings, no sanitizer errors, and the same messages.
func TestSentences(t *testing.T) {
	dir := t.TempDir()
	testkit.Generate(t, "testdata/kernels.yaml", dir)
	for _, c := range testkit.Compilers {
		t.Run(c.Name, func(t *testing.T) {
			if testing.Short() && c.Name != "gcc" {
				t.Skip("compiles for some seconds, and -short was given")
			}
			if c.Name == "g++" || c.Name == "clang-16" {
				tier.OnlyNightly(t)
			}
			out, err := testkit.Says(calls(t, c, dir, append(strict, sanitized...)...), 0)
			require.NoError(t, err, out)
			assert.Equal(t, testkit.Sentences(t), out)
		})
	}
}

// The header declares the author's functions, so another parameter does not compile.
func TestAnAuthorCannotDriftFromTheDescription(t *testing.T) {
	dir := t.TempDir()
	testkit.Generate(t, "testdata/kernels.yaml", dir)
	text, err := os.ReadFile("testdata/author.c")
	require.NoError(t, err)
	compile := func(source string) (string, error) {
		cmd := exec.Command(testtool.Require(t, "gcc", "gcc"), "-x", "c", "-std=c11", "-fsyntax-only",
			"-I"+dir+"/c", "-I"+dir+"/kernels", "-")
		cmd.Stdin = strings.NewReader(source)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := compile(string(text))
	require.NoError(t, err, out)
	//mutants:in tests/kernels/testdata/author.c
	for _, drift := range []mistake{{"scale_f(DLTensor* x, float by,", "scale_f(DLTensor* x, double by,"},
		{"int on_device_cuda(const DLTensor* x,", "int on_device_cuda(DLTensor* x,"}} {
		out, err := compile(mutation.Once(t, string(text), drift.old, drift.replacement))
		assert.Error(t, err)
		assert.Contains(t, out, "conflicting types for")
	}
}

// The fast path of most calls neither reports nor hides mistakes: without it, the messages are the
// same.
func TestTheShortWayChangesNothing(t *testing.T) {
	dir := t.TempDir()
	testkit.Generate(t, "testdata/kernels.yaml", dir)
	file := filepath.Join(dir, "kernels/kernels.c")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	long := strings.ReplaceAll(string(text), "usual = 1;", "usual = 0;")
	require.NotEqual(t, string(text), long)
	require.NoError(t, os.WriteFile(file, []byte(long), 0o600))
	out, err := testkit.Says(calls(t, testkit.Compilers[0], dir), 0)
	require.NoError(t, err, out)
	assert.Equal(t, testkit.Sentences(t), out)
}

// mistake breaks a generated file in one place.
type mistake struct{ old, replacement string }

// mistakes are in kernels.c. commonMistakes are in the code that the checks of tables share with
// kernels.c.
//
//mutants:in templates/c/rules.h
var commonMistakes = map[string]mistake{
	"usual strides are not looked at": {
		"if (DLPACKGEN_RARE(stride != DLPACKGEN_RULES_CAST(int64_t, *elements)) && extent != 1) return 0;", ""},
	"usual extents are not bounded": {"if (DLPACKGEN_RARE(extent - 1 >= DLPACKGEN_USUAL_EXTENT)) return 0;", ""},
	"usual memory is always there":  {"((data - alignment) | tensor->byte_offset)", "(data | tensor->byte_offset)"},
	"usual memory has any address": {"DLPACKGEN_RULES_CAST(uintptr_t, -1) >> 2;",
		"DLPACKGEN_RULES_CAST(uintptr_t, -1);"},
}

// placeMistakes are in the code for alignment that both share.
//
//mutants:in templates/c/check.h
var placeMistakes = map[string]mistake{
	"usual tensors are aligned":  {"&& !dlpackgen_is_between(tensor);", ";"},
	"usual tensors are anywhere": {"return dlpackgen_memory_fits_(tensor, 1) && ", "return "},
}

//mutants:in templates/kernels/*.h
var mistakes = map[string]mistake{
	"sums wrap":        {"if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) return dlpackgen_no_value(bad, DLPACKGEN_OVERFLOWS);", ""},
	"differences wrap": {"if (b > 0 ? a < INT64_MIN + b : a > INT64_MAX + b) return dlpackgen_no_value(bad, DLPACKGEN_OVERFLOWS);", ""},
	"products wrap": {"if (x && y > most / x) return dlpackgen_no_value(bad, DLPACKGEN_OVERFLOWS);",
		""},
	"what is missing is read": {"if (DLPACKGEN_RARE(!there))", "if (0)"},
	"short lists are read": {"if (count == wanted || (more && count > wanted)) return DLPACKGEN_STATUS_OK;",
		"return DLPACKGEN_STATUS_OK;"},
	"an argument that is None binds": {"*bound = which + 1;", "*bound = 0;"},
	"remainders are dropped":         {"if (DLPACKGEN_RARE(extent % number != 0))", "if (0)"},
	"expressions are not compared":   {"if (DLPACKGEN_RARE(bad || tensor->shape[dimension] != expected))", "if (0)"},
	"groups are not compared": {"!DLPACKGEN_RARE(!dlpackgen_fits_group(tensor, which, first, rank, group))",
		"dlpackgen_fits_group(tensor, which, first, rank, group) || 1"},
	"columns are not looked at": {
		"if (!DLPACKGEN_RARE(!dlpackgen_is_f_contiguous(tensor))) return DLPACKGEN_STATUS_OK;",
		"return DLPACKGEN_STATUS_OK;"},
	"padded elements are read": {
		"if (!DLPACKGEN_RARE(dlpackgen_element_bits(tensor->dtype, flags) != dlpackgen_element_bits(tensor->dtype, 0)))",
		"if (1)"},
	"alignment is assumed": {
		"if (dlpackgen_address(tensor) % (uintptr_t)bytes == 0 || dlpackgen_is_empty(tensor)) return DLPACKGEN_STATUS_OK;",
		"return DLPACKGEN_STATUS_OK;"},
	"overlaps are not seen": {"if (!DLPACKGEN_RARE(dlpackgen_meet(written, other))) return DLPACKGEN_STATUS_OK;",
		"return DLPACKGEN_STATUS_OK;"},
	"neighbours overlap": {"x + (uintptr_t)low[0] < y + (uintptr_t)high[1]",
		"x + (uintptr_t)low[0] <= y + (uintptr_t)high[1]"},
	"the first device decides": {"if (tensors[i] && !dlpackgen_is_on_host(tensors[i]->device)) first = i;",
		"if (tensors[i]) first = i;"},
	"negative extents are made": {"if (!DLPACKGEN_RARE(bad || value < 0)) return DLPACKGEN_STATUS_OK;",
		"if (!bad) return DLPACKGEN_STATUS_OK;"},
	"extents without a value": {"if (!DLPACKGEN_RARE(bad || value < 0)) return DLPACKGEN_STATUS_OK;",
		"if (value >= 0) return DLPACKGEN_STATUS_OK;"},
	"results have any dtype": {"if (!status) status = dlpackgen_check_dtype(at, tensor, &dtype, 1, message);",
		""},
	"results have any rank":  {"if (!status) status = dlpackgen_check_rank(at, tensor, made->ndim, 0, message);", ""},
	"results have any shape": {"status = dlpackgen_check_extent(at, tensor, d, made->shape[d], message);", ""},
	"results are not zeroed": {"memset((char*)tensor->data + tensor->byte_offset, 0, (size_t)bytes);", ""},
	"usual dimensions all fit": {"if (DLPACKGEN_RARE(!dlpackgen_dimension_fits_(",
		"if (0 && DLPACKGEN_RARE(!dlpackgen_dimension_fits_("},
	"usual devices are not looked at": {
		"if (DLPACKGEN_RARE(!tensor) || tensor->device.device_type != place.device_type) return 0;",
		"if (DLPACKGEN_RARE(!tensor)) return 0;"},
	"usual ordinals are not compared": {"if (place.device_type != kDLCPU && DLPACKGEN_RARE(tensor->device.device_id != place.device_id)) return 0;", ""},
	"every device is usual":           {"if (DLPACKGEN_RARE(i == count)) return 0;", ""},
	"usual ranks are not compared":    {"if (DLPACKGEN_RARE(tensor->ndim != rank) && !(more && tensor->ndim > rank && tensor->ndim <= DLPACKGEN_MAX_NDIM)) return 0;", ""},
	"usual strides are always there": {
		"return !DLPACKGEN_RARE(!tensor->shape || !tensor->strides) || tensor->ndim == 0;", "return 1;"},
	"usual tensors may be written": {"if (writable && DLPACKGEN_RARE((flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0)) return 0;", ""},
	"usual places are not looked at": {
		"return dlpackgen_is_placed(tensor);", "return 1;"},
	"usual blocks do not meet":        {"return x < y + b_bytes && y < x + a_bytes;", "return 0;"},
	"usual groups are not compared":   {"if (group->extents[d] != tensor->shape[first + d]) return 0;", ""},
	"usual groups have any number":    {"if (group->count != tensor->ndim - rank) return 0;", ""},
	"texts of a status are not told":  {"if (text && *text) {", "if (0) {"},
	"texts of a status have any byte": {"const size_t length = dlpackgen_character(text);", "const size_t length = 1;"},
	"texts have any encoding": {"length = (unsigned char)text[i] < 0x80 ? 1 : dlpackgen_character(&text[i]);",
		"length = 1;"},
	"texts may be too long": {"const unsigned char low = at[0] == 0xe0 ? 0xa0 : at[0] == 0xf0 ? 0x90 : 0x80;",
		"const unsigned char low = 0x80;"},
	"texts may be surrogates": {
		"const unsigned char high = at[0] == 0xed ? 0x9f : at[0] == 0xf4 ? 0x8f : 0xbf;",
		"const unsigned char high = 0xbf;"},
	"texts may end early":             {"if ((at[i] & 0xc0) != 0x80) return 0;", ""},
	"failures are not about anything": {"if (about) {", "if (0) {"},
}

// Each mistake changes the output of the program, or a sanitizer ends it.
func TestMistakesAreSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program with all mistakes, and -short was given")
	}
	dir := t.TempDir()
	testkit.Generate(t, "testdata/kernels.yaml", dir)
	f := flaw(t, dir, in("kernels/kernels.c", mistakes), in("c/dlpackgen/rules.h", commonMistakes),
		in("c/dlpackgen/checker.h", placeMistakes))
	program := calls(t, testkit.RunCompiler(), dir, append(f.Flags, sanitized...)...)
	out, err := testkit.Says(program, 0)
	require.NoError(t, err, out)
	require.Equal(t, testkit.Sentences(t), out, "without a mistake")
	f.each(t, func(t *testing.T, number int) {
		out, err := testkit.Says(program, number)
		assert.True(t, err != nil || out != testkit.Sentences(t), "the mistake was not detected")
	})
}

func TestEveryMistakeHasItsText(t *testing.T) {
	dir := t.TempDir()
	testkit.Generate(t, "testdata/kernels.yaml", dir)
	for _, all := range []map[string]mutation.Mutant{in("kernels/kernels.c", mistakes),
		in("c/dlpackgen/rules.h", commonMistakes), in("c/dlpackgen/checker.h", placeMistakes),
		in("python/_kernels.c", pythonMistakes),
		in("python/dlpackgen_python.c", basicPythonMistakes), in(goC, goMistakesInC), goMistakes,
		in(cppHeader, cppMistakes)} {
		for name, m := range all {
			t.Run(name, func(t *testing.T) { m.Require(t, dir) })
		}
	}
}

// in returns the mistakes of a file, by name.
func in(file string, all map[string]mistake) map[string]mutation.Mutant {
	mutants := map[string]mutation.Mutant{}
	for name, m := range all {
		mutants[name] = mutation.Mutant{File: filepath.FromSlash(file), Old: m.old, New: m.replacement}
	}
	return mutants
}

// flawed are sources with mistakes; a process activates one by number.
type flawed struct {
	mutation.Written
	names []string // of mistake 1, 2 and so on
	all   []mutation.Mutant
}

// flaw adds mistakes to the sources of a folder.
func flaw(t *testing.T, dir string, sets ...map[string]mutation.Mutant) (f flawed) {
	t.Helper()
	for _, set := range sets {
		for name, m := range set {
			f.names, f.all = append(f.names, name), append(f.all, m)
		}
	}
	f.Written = mutation.Write(t, dir, f.all)
	return f
}

// each runs a test for each mistake, which must be a statement or an expression.
func (f flawed) each(t *testing.T, try func(t *testing.T, number int)) {
	t.Helper()
	for i, name := range f.names {
		t.Run(name, func(t *testing.T) {
			require.NotContains(t, f.Apart, i+1, "it is not a statement or an expression")
			try(t, i+1)
		})
	}
}
