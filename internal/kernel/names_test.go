package kernel

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

func TestNames(t *testing.T) {
	for _, good := range []string{"x", "scale_add", "X1", "a0_b", "exp", "min"} {
		assert.Empty(t, CheckName(good), good)
	}
	for _, bad := range []string{"", "1x", "a-b", "a.b", "é", "x_", "a__b", "class", "import", "int32_t",
		strings.Repeat("a", 101)} {
		assert.NotEmpty(t, CheckName(bad), bad)
	}
}

func TestNamesOfKernels(t *testing.T) {
	for _, good := range []string{"square", "N", "exp", "read", "main", "torch", "strerror"} {
		assert.Empty(t, CheckKernel(good), good)
	}
	for _, bad := range []string{"min", "max", "check", "free", "far", "interface", "EOF", "isnan", "Tensor", "sum"} {
		assert.NotEmpty(t, CheckKernel(bad), bad)
	}
}

// A macro with parameters does not affect a variable of its name.
func TestNamesOfArguments(t *testing.T) {
	for _, good := range []string{"min", "max", "check", "free", "exp", "Tensor", "N", "at"} {
		assert.Empty(t, CheckArgument(good), good)
	}
	for _, bad := range []string{"far", "interface", "EOF"} {
		assert.NotEmpty(t, CheckArgument(bad), bad)
	}
}

func TestSymbols(t *testing.T) {
	for _, good := range []string{"square", "N", "aten_square", "dlpack_main", "my_expf", "half32", "Any"} {
		assert.Empty(t, CheckSymbol(good), good)
	}
	for _, bad := range []string{"NULL", "INT64_MAX", "TORCH_CHECK", "std", "main", "at", "min", "free", "far", "exp",
		"expf", "expl", "expf32", "expf64x", "read", "times", "error", "size_t", "pid_t", "DLTensor", "kDLCPU"} {
		assert.NotEmpty(t, CheckSymbol(bad)+CheckName(bad), bad)
	}
}

// headers are the headers of C11, and the POSIX headers that authors of kernels include.
const headers = `complex ctype errno fenv inttypes locale math setjmp signal stdatomic stddef stdint stdio stdlib string
	threads time uchar wchar wctype dlfcn fcntl pthread sched semaphore strings sys/mman sys/stat sys/time sys/types
	unistd`

// Symbols must not clash with declarations of headers that are included together with kernels.h.
func TestNoSymbolIsAFunctionOfTheHeaders(t *testing.T) {
	var source strings.Builder
	for _, header := range strings.Fields(headers) {
		source.WriteString("#include <" + header + ".h>\n")
	}
	list := filepath.Join(t.TempDir(), "declared")
	gcc := exec.Command(testtool.RequireCompiler(t, "gcc", "gcc"), "-fsyntax-only", "-D_GNU_SOURCE", "-xc",
		"-aux-info", list, "-")
	gcc.Stdin = strings.NewReader(source.String())
	out, err := gcc.CombinedOutput()
	require.NoError(t, err, "%s", out)
	text, err := os.ReadFile(list)
	require.NoError(t, err)
	declared := regexp.MustCompile(`(?m) extern [^(]*?(\w+) \(`).FindAllStringSubmatch(string(text), -1)
	assert.Greater(t, len(declared), 500)
	for _, name := range declared {
		assert.NotEmpty(t, CheckName(name[1])+CheckSymbol(name[1]), name[1])
	}
}

// The loader finds a C library function before a function of the same name in a Python module.
func TestNoSymbolIsAFunctionOfTheLibrary(t *testing.T) {
	gcc, nm := testtool.RequireCompiler(t, "gcc", "gcc"), testtool.Require(t, "nm", "binutils")
	exported := regexp.MustCompile(`(?m) [TWi] ([A-Za-z]\w*)@@`)
	count := 0
	for _, name := range []string{"libc.so.6", "libm.so.6"} {
		path, err := exec.Command(gcc, "-print-file-name="+name).Output()
		require.NoError(t, err)
		out, err := exec.Command(nm, "-D", "--defined-only", strings.TrimSpace(string(path))).Output()
		require.NoError(t, err)
		for _, found := range exported.FindAllStringSubmatch(string(out), -1) {
			count++
			assert.NotEmpty(t, CheckName(found[1])+CheckSymbol(found[1]), found[1])
		}
	}
	assert.Greater(t, count, 2000)
}

// builtins are the functions and types of Python that are not reserved words of C.
const builtins = `abs aiter all anext any ascii bin breakpoint bytearray bytes callable chr classmethod compile complex
	delattr dict dir divmod enumerate eval exec filter format frozenset getattr globals hasattr hash help hex id input
	isinstance issubclass iter len list locals map max memoryview min next object oct open ord pow print property range
	repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip`

// A kernel is a function of these files, so no line may use its name for another object.
func TestNoKernelHidesWhatGeneratedPythonUses(t *testing.T) {
	files := []string{"kernels/python/module.pyi.tmpl", "jax/kernels_jax.py.tmpl", "jax/transforms.py",
		"traced/scalars.py", "traced/checks.py", "paddle/kernels_paddle.py.tmpl", "ufunc/kernels_ufunc.py.tmpl"}
	uses := regexp.MustCompile(`(?:^|[^.\w])([a-z]+)\b`)
	for _, file := range files {
		for _, name := range uses.FindAllStringSubmatch(code(t, file), -1) {
			if slices.Contains(strings.Fields(builtins), name[1]) {
				assert.NotEmpty(t, CheckName(name[1])+CheckKernel(name[1]), "%s uses %s", file, name[1])
			}
		}
	}
	for _, name := range regexp.MustCompile(`\b[A-Z]\w*`).FindAllString(code(t, files[0]), -1) {
		assert.NotEmpty(t, CheckName(name)+CheckKernel(name), "the stub has %s", name)
	}
}

// code returns a Python template without comments, texts and placeholders.
func code(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile("../../templates/" + file)
	require.NoError(t, err)
	return regexp.MustCompile(`(?s)""".*?"""|#[^\n]*|"[^"\n]*"|\{\{.*?\}\}`).ReplaceAllString(string(text), "")
}
