package safety

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
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// fuzzer is a harness of folder fuzz.
type fuzzer struct{ file, compiler, standard string }

var fuzzers = map[string]fuzzer{
	"validate": {"validate.c", "clang-16", "gnu11"},
	"views":    {"views.cpp", "clang++-16", "gnu++17"},
	"exchange": {"exchange.c", "clang-16", "gnu11"},
}

// Each validator receives hostile tensors, and accepted ones are visited. The seed is fixed, and so
// are addresses if the system permits it: a failure is reproducible, and is stored in fuzz/corpus.
// FUZZ_RUNS sets the number of runs, FUZZ_SEED another seed.
func TestHostileTensors(t *testing.T) {
	if testing.Short() {
		t.Skip("builds three fuzzers, and -short was given")
	}
	runs := "50000"
	if tier.IsNightly() {
		runs = "10000000"
	}
	runs = cmp.Or(os.Getenv("FUZZ_RUNS"), runs)
	for name, f := range fuzzers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := f.run(t, f.build(t, headers(t)), runs)
			require.NoError(t, err, "%s", out)
			assert.Contains(t, out, "Done "+runs+" runs")
		})
	}
}

// hole removes a check, which the harness must detect.
type hole struct{ fuzzer, file, old, changed string }

var holes = map[string]hole{
	"fast checks accept NULL": {"validate", "dlpackgen/rules.h", "((data - alignment) | tensor->byte_offset)",
		"(data | tensor->byte_offset)"},
	"fast checks accept any size": {"validate", "dlpackgen/rules.h", "return *elements <= DLPACKGEN_USUAL_SIZE;",
		"return 1;"},
	"the number of dimensions has no upper limit in C": {"validate", "dlpackgen/rules.h",
		"tensor->ndim < 0 || tensor->ndim > most", "tensor->ndim < 0"},
	"negative extents are accepted in C": {"validate", "dlpackgen/rules.h",
		"DLPACKGEN_ERROR_EXTENT, 0, shape[i], i);\n    if (shape[i] == 0)",
		"DLPACKGEN_OK, 0, shape[i], i);\n    if (shape[i] == 0)"},
	"products wrap": {"validate", "dlpackgen/rules.h",
		"if (((a | b) >> 31) != 0 && b != 0 && a > DLPACKGEN_RULES_MAX / b) return 0;", ""},
	"sums wrap": {"validate", "dlpackgen/rules.h",
		"if (b > DLPACKGEN_RULES_MAX - a) return 0;", ""},
	"elements before address 0 are accepted": {"validate", "dlpackgen/rules.h",
		"base + tensor->byte_offset < dlpackgen_magnitude_(low))", "base + tensor->byte_offset < 0)"},
	"one expected stride is enough for contiguity": {"validate", "dlpackgen/rules.h",
		"if (expected == before) return 0;",
		"if (expected == before) return 1;"},
	"elements of 4 bits are not packed": {"views", "dlpackgen/elements.h", "#define DLPACKGEN_PACKED_BELOW 8",
		"#define DLPACKGEN_PACKED_BELOW 4"},
	"strides of empty tensors overflow in C++": {"views", "dlpackgen/tensor_view.hpp",
		"(void)dlpackgen_extend_stride_(&stride, shape(i));",
		"stride = static_cast<std::uint64_t>(static_cast<std::int64_t>(stride) * (shape(i) > 1 ? shape(i) : 1));"},
	"sizes of empty arrays overflow in C++": {"views", "dlpackgen/array_view.hpp",
		"product *= static_cast<std::uint64_t>(shape_[i]);",
		"product = static_cast<std::uint64_t>(static_cast<std::int64_t>(product) * shape_[i]);"},
	"rows of empty arrays have an address in C++": {"views", "dlpackgen/array_view.hpp", "empty ? 0 : view",
		"false ? 0 : view"},
	"byte_offset is added to a null pointer in C++": {"views", "dlpackgen/tensor_view.hpp",
		"return reinterpret_cast<void*>(",
		"return static_cast<char*>(tensor_.data) + tensor_.byte_offset;\n    return reinterpret_cast<void*>("},
	"usual extents may wrap": {"exchange", "dlpackgen/rules.h",
		"DLPACKGEN_USUAL_EXTENT (1U << 24)", "DLPACKGEN_USUAL_EXTENT (1U << 31)"},
	"large empty tensors are rejected": {"exchange", "dlpackgen_python/managed.h",
		" && error != DLPACKGEN_ERROR_TOO_LARGE) return", ") return"},
	"imports do not limit the number of dimensions": {"exchange", "dlpackgen_python/import.h",
		"if (tensor->ndim < 0 || tensor->ndim > DLPACKGEN_MAX_NDIM) error", "if (0) error"},
	"capsules are not validated": {"exchange", "dlpackgen_python/import.h",
		"if (error != DLPACKGEN_OK) made = NULL, dlpackgen_reject_error(view, error);\n\telse if", "if"},
	"rejected tensors leak": {"exchange", "dlpackgen_python/import.h",
		"if (!made) dlpackgen_delete_quietly(imported.versioned, imported.legacy);", ""},
	"native readers do not limit the number of dimensions": {"exchange", "dlpackgen_python/reader_elements.h",
		"(uint32_t)tensor->ndim > DLPACKGEN_MAX_NDIM || ", ""},
	"inlined calls do not check tensors": {"exchange", "dlpackgen_python/begin_inline.h",
		"kDLCPU && dlpackgen_fits(call, i, p, a);", "kDLCPU;"},
	"alignment is not checked": {"exchange", "dlpackgen/check.h", "% 16 != 0) &&", "% 16 != 0) && 0 &&"},
	"the read-only flag is not checked": {"exchange", "dlpackgen/arguments.h",
		"if (function->parameters[i].writable) status = dlpackgen_check_writable(&at, of.flags, message);", ""},
	"inner contiguity is not checked": {"exchange", "dlpackgen/check.h", "dlpackgen_is_inner_contiguous(tensor)", "1"},
}

func TestTheFuzzersFindWhatIsWrong(t *testing.T) {
	tier.OnlyNightly(t)
	for fuzzer, f := range fuzzers {
		var names []string
		var all []mutation.Mutant
		for _, name := range slices.Sorted(maps.Keys(holes)) {
			if h := holes[name]; h.fuzzer == fuzzer {
				names, all = append(names, name), append(all, mutation.Mutant{File: h.file, Old: h.old, New: h.changed})
			}
		}
		program := mutation.Programs(t, parts(t), all,
			func(dir string, flags ...string) string { return f.build(t, dir, append(flags, "-O0")...) })
		for i, name := range names {
			t.Run(name, func(t *testing.T) {
				built, env := program(t, i)
				t.Parallel()
				out, err := f.run(t, built, "600000", env)
				assert.Error(t, err)
				assert.Regexp(t, `not so: |runtime error: |AddressSanitizer`, out)
			})
		}
	}
}

func (f fuzzer) embeds() bool { return f.file == "exchange.c" }

// build builds a fuzzer with headers that may be wrong.
func (f fuzzer) build(t *testing.T, headers string, flags ...string) (program string) {
	t.Helper()
	compiler := requireFuzzer(t, f.compiler)
	program = filepath.Join(t.TempDir(), "fuzzer")
	args := append([]string{"-g", testkit.Level(), "-Wall", "-Wextra", "-std=" + f.standard,
		"-fsanitize=fuzzer,address,undefined",
		"-fno-sanitize-recover=all", "-I", headers, "-o", program, filepath.Join("fuzz", f.file)},
		slices.Concat(numbers(t), f.python(t), flags)...)
	if f.file == "validate.c" {
		args = append(args, "-I", describedKernel(t))
	}
	out, err := exec.Command(compiler, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// numbers defines the type codes and device types of the newest release for hostile.h.
func numbers(t *testing.T) (flags []string) {
	t.Helper()
	r, err := spec.Embedded().Release(spec.Embedded().Latest())
	require.NoError(t, err)
	known := map[int64]int{}
	for _, v := range spec.Find[*spec.Enum](r, "DLDataTypeCode").Values {
		known[v.Value] = 1
	}
	var codes, devices []string
	for _, c := range r.Codes { // of all releases, but only those with properties
		codes = append(codes, fmt.Sprintf("{%d,%d,%d,%d}", c.Value, known[c.Value], c.Bits, c.Parts()))
		delete(known, c.Value)
	}
	for code := range known {
		codes = append(codes, fmt.Sprintf("{%d,1,0,1}", code))
	}
	for _, v := range spec.Find[*spec.Enum](r, "DLDeviceType").Values {
		devices = append(devices, fmt.Sprint(v.Value))
	}
	return []string{"-DHOSTILE_CODES=" + strings.Join(codes, ","), "-DHOSTILE_DEVICES=" + strings.Join(devices, ",")}
}

// describedKernel generates the kernel whose fast check is compared with the rules.
func describedKernel(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	testkit.Generate(t, filepath.Join("..", "rules", "testdata", "kernels.yaml"), dir)
	return filepath.Join(dir, "kernels")
}

// python returns the flags to embed Python, if a harness does.
func (f fuzzer) python(t *testing.T) []string {
	t.Helper()
	if !f.embeds() {
		return nil
	}
	return testtool.RequireEmbeddable(t).Flags()
}

// run runs a fuzzer a given number of times from one seed, in a separate folder.
func (f fuzzer) run(t *testing.T, program, runs string, env ...string) (output string, err error) {
	t.Helper()
	known, err := filepath.Abs(filepath.Join("fuzz", "corpus"))
	require.NoError(t, err)
	args := []string{program, "-runs=" + runs, "-seed=" + cmp.Or(os.Getenv("FUZZ_SEED"), "1"), "-max_len=128",
		"-timeout=1200", "-detect_leaks=0"}
	// The fuzzer rereads its folder at intervals of time.
	args = append(args, "-reload=0", t.TempDir(), known)
	if exec.Command("setarch", "-R", "true").Run() == nil {
		args = append([]string{"setarch", "-R"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "ASAN_OPTIONS=quarantine_size_mb=4:detect_leaks=0", "PYTHONMALLOC=malloc",
		"PYTHONHASHSEED=0")
	cmd.Env = append(cmd.Env, env...)
	if f.embeds() {
		cmd.Env = append(cmd.Env, "PYTHONHOME="+testtool.RequireEmbeddable(t).Home)
	}
	out, err := cmd.CombinedOutput()
	return essence(string(out)), err
}

// essence removes a fuzzer's progress output.
func essence(output string) string {
	var kept []string
	for line := range strings.SplitSeq(output, "\n") {
		if !strings.HasPrefix(line, "#") && !strings.Contains(line, "# Uses:") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// requireFuzzer returns a clang with libFuzzer, or skips the test.
func requireFuzzer(t *testing.T, compiler string) string {
	t.Helper()
	path := testtool.RequireCompiler(t, compiler, "clang-16")
	cmd := exec.Command(path, "-x", "c", "-fsanitize=fuzzer", "-o", filepath.Join(t.TempDir(), "probe"), "-")
	cmd.Stdin = strings.NewReader("int LLVMFuzzerTestOneInput(const unsigned char *b, unsigned long n) { " +
		"(void)b, (void)n; return 0; }")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("needs libFuzzer: apt-get install libclang-rt-16-dev\n%s", out)
	}
	return path
}
