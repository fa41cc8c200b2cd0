package kernels

import (
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

// cppCompilers build testdata/calls.cpp.
var cppCompilers = []testkit.Compiler{
	{Name: "g++", Debian: "g++", Standard: "c++17"}, {Name: "clang++-16", Debian: "clang-16", Standard: "c++20"},
	{Name: "g++", Debian: "g++", Standard: "c++20"}, {Name: "clang++-16", Debian: "clang-16", Standard: "c++17"},
}

// cppStrict are C++ warnings in addition to C's.
var cppStrict = append([]string{"-Wconversion", "-Wnon-virtual-dtor"}, strict...)

func cppIncludes(dir string) []string {
	return []string{"-I" + dir + "/c", "-I" + dir + "/kernels", "-I" + dir + "/cpp"}
}

// cppCalls builds the calls; a C compiler builds their C sources.
func cppCalls(t *testing.T, c testkit.Compiler, dir string, flags ...string) (program string) {
	t.Helper()
	here := t.TempDir()
	run := func(name string, args ...string) {
		out, err := exec.Command(name, args...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	objects := []string{filepath.Join(here, "kernels.o"), filepath.Join(here, "author.o")}
	for i, source := range []string{filepath.Join(dir, "kernels/kernels.c"), "testdata/author.c"} {
		run(testtool.RequireCompiler(t, "gcc", "gcc"),
			append(cppIncludes(dir), "-std=c11", "-c", "-o", objects[i], source)...)
	}
	program = filepath.Join(here, "calls")
	args := append(append(cppIncludes(dir), "-std="+c.Standard, "-o", program), flags...)
	run(testtool.Require(t, c.Name, c.Debian), append(append(args, "testdata/calls.cpp", "-pthread"), objects...)...)
	return program
}

// assertSentences compares each printed line with plain C's line for the same label.
func assertSentences(t *testing.T, output string) {
	t.Helper()
	want := map[string]string{}
	for line := range strings.SplitSeq(testkit.Sentences(t), "\n") {
		if label, rest, ok := strings.Cut(line, ": "); ok && want[label] == "" {
			want[label] = strings.TrimSuffix(rest, "ADDRESS")
		}
	}
	lines := strings.Split(strings.TrimSpace(output), "\n")
	assert.Greater(t, len(lines), 40)
	for _, line := range lines {
		label, rest, _ := strings.Cut(line, ": ")
		assert.Equal(t, strings.TrimSpace(want[label]), strings.TrimSpace(rest), label)
	}
}

// cppSays runs the calls with the mutant of a number; fine reports whether nothing failed.
func cppSays(t *testing.T, program string, mutant int) (output string, fine bool) {
	t.Helper()
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), mutation.Env(mutant))
	printed, err := cmd.Output()
	return string(printed), err == nil
}

// C++ has the same messages as C; compilers report no warnings, and sanitizers no errors.
func TestCpp(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for some seconds, and -short was given")
	}
	dir := t.TempDir()
	testkit.Generate(t, "testdata/kernels.yaml", dir)
	for i, c := range cppCompilers {
		t.Run(c.Name+" "+c.Standard, func(t *testing.T) {
			if i > 1 {
				tier.OnlyNightly(t)
			}
			output, fine := cppSays(t, cppCalls(t, c, dir, append(cppStrict, sanitized...)...), 0)
			require.True(t, fine, output)
			assertSentences(t, output)
		})
	}
}

func TestCppWithoutExceptions(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for some seconds, and -short was given")
	}
	dir := t.TempDir()
	testkit.Generate(t, "testdata/kernels.yaml", dir)
	output, fine := cppSays(t, cppCalls(t, cppCompilers[0], dir, "-fno-exceptions", "-fno-rtti", "-Wall", "-Werror"), 0)
	require.True(t, fine, output)
	assertSentences(t, output)
}

// The calls of docs/callers/cpp.md compile with the example's kernels, and compute.
func TestCppOfTheDocs(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for some seconds, and -short was given")
	}
	config, err := os.ReadFile("../../examples/kernels/dlpackgen.yaml")
	require.NoError(t, err)
	_, described, found := strings.Cut(string(config), "\nkernels:\n")
	require.True(t, found)
	dir := t.TempDir()
	file := filepath.Join(dir, "dlpackgen.yaml")
	head := "version: 1\ndlpack: \"1.3\"\ntargets: {c: {path: c}, kernels: {path: kernels}, cpp: {path: cpp}}\nkernels:\n"
	require.NoError(t, os.WriteFile(file, []byte(head+described), 0o600))
	testkit.Generate(t, file, dir)
	docs, err := os.ReadFile("../../docs/callers/cpp.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(docs), "```cpp\n")
	require.True(t, found)
	body, _, _ := strings.Cut(rest, "```")
	source := filepath.Join(dir, "docs.cpp")
	text := "#include <cstdio>\n#include <kernels.hpp>\n#include <vector>\nint main() {\n" + body +
		"return error || y[2] < 0.6F || made->view().size() != 3 || !kernels::softmax(x, std::vector<double>(3));\n}\n"
	require.NoError(t, os.WriteFile(source, []byte(text), 0o600))
	out, err := exec.Command(testtool.Require(t, "g++", "g++"),
		append(cppIncludes(dir), "-std=c++17", "-o", dir+"/docs", source,
			"-x", "c", dir+"/kernels/kernels.c", "../../examples/kernels/kernels_impl.c", "-lm")...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command(dir + "/docs").CombinedOutput()
	require.NoError(t, err, "%s", out)
}

const eigenCalls = `#include <eigen3/Eigen/Core>
#include <kernels.hpp>
using namespace dlpackgen;
int main() {
  Eigen::Matrix<float, 3, 2, Eigen::RowMajor> rows = Eigen::Matrix<float, 3, 2, Eigen::RowMajor>::Constant(1);
  Eigen::MatrixXf columns = Eigen::MatrixXf::Constant(4, 2, 1);
  if (kernels::scale(rows, 3) || kernels::scale(columns.topRows(2), 5)) return 1;
  const Eigen::VectorXf line = rows.col(0);
  const auto made = kernels::pair_new(line);
  if (!made || (*flat_of<const float>(made->two.view()))[2] != 6) return 2;
  return rows(2, 1) != 3 || columns(1, 1) != 5 || columns(2, 1) != 1;
}
`

// Eigen matrices of either order, and blocks of them, are arguments without copies.
func TestCppWithEigen(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for some seconds, and -short was given")
	}
	if _, err := os.Stat("/usr/include/eigen3/Eigen/Core"); err != nil {
		t.Skip("needs Eigen: apt-get install libeigen3-dev")
	}
	dir := t.TempDir()
	testkit.Generate(t, "testdata/kernels.yaml", dir)
	source := filepath.Join(dir, "eigen.cpp")
	require.NoError(t, os.WriteFile(source, []byte(eigenCalls), 0o600))
	args := append(append(cppIncludes(dir), "-o", dir+"/eigen", source), sanitized...)
	out, err := exec.Command(testtool.RequireRunCompiler(t, "g++"), append(args, "-x", "c", dir+"/kernels/kernels.c",
		"testdata/author.c", "-pthread")...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command(dir + "/eigen").CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// cppCompiles compiles a function that calls kernels.
func cppCompiles(t *testing.T, dir, body string) (output string, err error) {
	t.Helper()
	cmd := exec.Command(testtool.Require(t, "g++", "g++"),
		append(cppIncludes(dir), "-std=c++17", "-fsyntax-only", "-x", "c++",
			"-Wall", "-Wextra", "-Werror", "-")...)
	cmd.Stdin = strings.NewReader(
		"#define max(a, b) ((a) > (b) ? (a) : (b))\n#define min(a, b) ((a) < (b) ? (a) : (b))\n" +
			"#define far\n#define interface struct\n#define check(x) if (!(x)) return\n#include <vector>\n" +
			"#include <kernels.hpp>\n#undef check\nusing namespace dlpackgen;\nvoid f() {\n" + body + "\n}\n")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Const objects are rejected as written arguments, and only an argument with ? may be None.
func TestCppCallsThatMustNotCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for some seconds, and -short was given")
	}
	for _, single := range []string{"false", "true"} {
		dir := t.TempDir()
		config, err := os.ReadFile("testdata/kernels.yaml")
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), "kernels.yaml")
		text := mutation.Once(t, string(config), "cpp: {path: cpp}", "cpp: {path: cpp, single: "+single+"}")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		testkit.Generate(t, file, dir)
		output, err := cppCompiles(t, dir, `ArrayView<float, 2> x; std::vector<float> y; FlatView<float> z;
  (void)kernels::scale(x); (void)kernels::written(y, z, y, std::nullopt); (void)kernels::pair(y, z, y);`)
		require.NoError(t, err, output)
		for name, body := range map[string]string{
			"an array of const":        "ArrayView<const float, 2> x; (void)kernels::scale(x);",
			"a flat view of const":     "FlatView<const float> x; (void)kernels::written(x, x, x, std::nullopt);",
			"a const container":        "const std::vector<float> x; (void)kernels::pair(x, x, x);",
			"None for a tensor":        "(void)kernels::scale(std::nullopt);",
			"None for a text":          "(void)kernels::scalars_new(std::nullopt, {1, 2, 3});",
			"None for a list":          `(void)kernels::scalars_new("sum", std::nullopt);`,
			"a container of bits":      "std::vector<bool> x; (void)kernels::scale(x);",
			"a result that is dropped": "kernels::alone_new();",
			"an error that is dropped": "kernels::divide(1, 1, 1, 0);",
		} {
			t.Run(name+" with single: "+single, func(t *testing.T) {
				if single == "true" {
					tier.OnlyNightly(t)
				}
				output, err := cppCompiles(t, dir, body)
				assert.Error(t, err, output)
				assert.NotContains(t, output, "kernels.hpp: No such file")
			})
		}
	}
}

// The file with mistakes, and the line that only join has.
const (
	cppHeader = "cpp/kernels.hpp"
	joinSites = "  static constexpr dlpackgen_site passed_sites_[] = {sites_[5]};"
)

//mutants:in templates/cpp/kernel_*.hpp templates/c/copy.h
var cppMistakes = map[string]mistake{
	"flags are lost":            {"flags_ = from.flags();", "flags_ = 0;"},
	"empty owners are there":    {"if (from) view(from.view());", "view(from.view());"},
	"flags of results are lost": {"{y.flags()};\n" + joinSites, "{0};\n" + joinSites},
	"results may be missing":    {"if (tensor == nullptr) fail(", "if (false) fail("},
	"texts end at a NUL":        {"if (text.is_cut()) fail(", "if (false) fail("},
	"empty lists are None":      {"first_(first != nullptr ? first : &nothing)", "first_(first)"},
	"floats are cut":            {"dlpackgen_represents_real(dtype, value) ||", "value == value ||"},
	"integers are cut": {"!dlpackgen_represents(dtype, kind, raw.integer, raw.real) && overflows(site, dtype)",
		"false"},
	"signs are dropped":       {"if (negative) dlpackgen_put(&message, \"-\");", ""},
	"every class is the same": {"class_ = \"OverflowError\";", ""},
	"results are not aligned": {"static constexpr std::align_val_t alignment{64};",
		"static constexpr std::align_val_t alignment{16};"},
	"results lie anywhere":         {"if (device.device_type == kDLCPU) made_ = allocate", "made_ = allocate"},
	"copies are made of nothing":   {"|| validate(tensor_, from.flags()) ||", "||"},
	"nothing is copied":            {"|| is_contiguous(*tensor_)) return;", "|| true) return;"},
	"copies begin again":           {"from + i * t->strides[dimension] * (int64_t)item, item", "from, item"},
	"copies have one dimension":    {"if (dimension == t->ndim) {", "if (dimension == 1) {"},
	"padded elements are copied":   {"dlpackgen_item_of(tensor_, 0)", "dlpackgen_item_of(tensor_, from.flags())"},
	"errors forget their text":     {"text_ = other.text_;\n    other.text_ = mine;", "other.text_ = mine;"},
	"arguments are never named":    {"message.argument != nullptr ? message.argument : \"\"", "\"\""},
	"scalars of a variable: first": {"return all[which](storage_);", "return all[0](storage_);"},
}

// scalarMistakes are in the rules for scalars, which the operators of torch also use.
//
//mutants:in templates/c/scalar.h
var scalarMistakes = map[string]mistake{
	"every dtype accepts floats": {"if (kind == DLPACKGEN_SCALAR_REAL) return \"float\";", ""},
	"every dtype accepts bools": {"return kind == DLPACKGEN_SCALAR_TRUTH && dtype.code != kDLBool ? \"bool\" : NULL;",
		"return NULL;"},
	"the dtype bool rejects bools": {"kind == DLPACKGEN_SCALAR_TRUTH && dtype.code != kDLBool",
		"kind == DLPACKGEN_SCALAR_TRUTH"},
	"bfloat16 rejects floats": {"return dtype.code == kDLFloat || dtype.code == kDLBfloat;",
		"return dtype.code == kDLFloat;"},
	"every float dtype represents every integer": {
		"if (dlpackgen_is_real(dtype)) return dlpackgen_represents_real(dtype, real);",
		"if (dlpackgen_is_real(dtype)) return true;"},
	"every integer dtype represents numbers above int64": {"return dtype.code == kDLUInt && dtype.bits == 64;",
		"return true;"},
}

// Each mistake fails a test of the calls.
func TestMistakesAreSeenFromCpp(t *testing.T) {
	tier.OnlyNightly(t)
	if testing.Short() {
		t.Skip("builds a program with all mistakes, and -short was given")
	}
	dir := t.TempDir()
	testkit.Generate(t, "testdata/kernels.yaml", dir)
	f := flaw(t, dir, in(cppHeader, cppMistakes), in("c/dlpackgen/scalar.h", scalarMistakes))
	program := cppCalls(t, cppCompilers[0], dir, append(f.Flags, sanitized...)...)
	output, fine := cppSays(t, program, 0)
	require.True(t, fine, output)
	for i, name := range f.names {
		t.Run(name, func(t *testing.T) {
			program, number := program, i+1
			if slices.Contains(f.Apart, number) {
				program, number = cppAlone(t, f.all[i]), 0
			}
			out, fine := cppSays(t, program, number)
			assert.True(t, !fine || out != output, "the mistake was not detected")
		})
	}
}

// cppAlone builds the calls with one mistake.
func cppAlone(t *testing.T, m mutation.Mutant) (program string) {
	t.Helper()
	dir := t.TempDir()
	testkit.Generate(t, "testdata/kernels.yaml", dir)
	m.Alone(t, dir)
	return cppCalls(t, cppCompilers[0], dir, append([]string{"-w"}, sanitized...)...)
}
