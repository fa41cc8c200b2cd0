package hosts

import (
	"cmp"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/hosts"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// exported returns the functions and tables that libtorch and libstdc++ export, by symbol.
func exported(t *testing.T, include string) map[string]bool {
	t.Helper()
	standard, err := exec.Command(testtool.RequireCompiler(t, "g++", "g++"), "-print-file-name=libstdc++.so").Output()
	require.NoError(t, err)
	found := map[string]bool{}
	libraries := filepath.Join(filepath.Dir(include), "lib")
	for _, file := range []string{filepath.Join(libraries, "libc10.so"), filepath.Join(libraries, "libtorch_cpu.so"),
		strings.TrimSpace(string(standard))} {
		library, err := elf.Open(file)
		require.NoError(t, err)
		symbols, err := library.DynamicSymbols()
		require.NoError(t, err)
		for _, s := range symbols {
			if s.Section != elf.SHN_UNDEF {
				found[s.Name] = true
			}
		}
		require.NoError(t, library.Close())
	}
	return found
}

// demangled returns the declarations of C++ symbols.
func demangled(t *testing.T, symbols []string) []string {
	t.Helper()
	cmd := exec.Command(testtool.Require(t, "c++filt", "binutils"))
	cmd.Stdin = strings.NewReader(strings.Join(symbols, "\n"))
	out, err := cmd.Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// The C++ symbols are exported by libtorch and libstdc++, and belong to the functions whose types
// are compared. The symbols of the C shim are C names.
func TestSymbolsOfCPlusPlus(t *testing.T) {
	h := hosts.Embedded("torch_cpp")
	include, _ := installed(t, h)
	known := exported(t, include)
	var symbols []string
	for _, f := range h.Functions {
		symbols = append(symbols, f.Symbol)
		assert.True(t, known[f.Symbol], "%s: no library exports %s", f.Name, f.Symbol)
		assert.False(t, known[f.Symbol+"x"], "every text is a symbol")
	}
	for i, text := range demangled(t, symbols) {
		if native := h.Functions[i].Native; strings.HasPrefix(symbols[i], "_Z") && native != "" {
			assert.Contains(t, text, native+"(", symbols[i])
		}
	}
	classes, err := os.ReadFile("../../templates/torchshim/raise.h")
	require.NoError(t, err)
	tables := regexp.MustCompile(`"(_ZT[IV]\w+)"`).FindAllStringSubmatch(string(classes), -1)
	require.NotEmpty(t, tables)
	for _, table := range tables {
		assert.True(t, known[table[1]], "no library exports %s", table[1])
	}
}

// nativeOf are the C++ functions among the symbols of reader_torch_shim.h.
var nativeOf = map[string]string{"is_neg": "at::native::is_neg", "is_conj": "at::native::is_conj",
	"requires_grad": "c10::TensorImpl::requires_grad"}

// Target python declares the functions with which it reads torch tensors by hand. They equal
// libtorch's.
func TestFunctionsThatReadTorchTensorsEqualLibtorchs(t *testing.T) {
	include, _ := installed(t, hosts.Embedded("torch_shim"))
	known := exported(t, include)
	text, err := os.ReadFile("../../templates/python/reader_torch_shim.h")
	require.NoError(t, err)
	declared := regexp.MustCompile(`(?s)struct dlpackgen_torch_functions \{.*?\n\};`).FindString(string(text))
	names := regexp.MustCompile(`(?s)dlpackgen_torch_names\[\] =.*?;`).FindString(string(text))
	symbols := regexp.MustCompile(`"\??(\w+)\\0"`).FindAllStringSubmatch(names, -1)
	members := regexp.MustCompile(`\(\*(\w+)\)`).FindAllStringSubmatch(declared, -1)
	require.NotEmpty(t, members)
	require.Len(t, symbols, len(members), "each member has its symbol")
	wrong := strings.NewReplacer("dlpackgen_torch_functions", "mutant", "int64_t** sizes", "int64_t sizes",
		"bool (*is_neg)", "int32_t (*is_neg)").Replace(declared)
	program := "#include <torch/csrc/stable/c/shim.h>\n#include <c10/core/TensorImpl.h>\n" +
		"#include <ATen/core/TensorBody.h>\n#include <ATen/ops/is_neg_native.h>\n" +
		"#include <ATen/ops/is_conj_native.h>\n#include \"native.hpp\"\n" + declared + "\n" + wrong + "\n"
	for i := range members {
		symbol, member := symbols[i][1], members[i][1]
		native := cmp.Or(nativeOf[member], symbol)
		assert.True(t, known[symbol], "no library exports %s", symbol)
		for _, of := range []string{"dlpackgen_torch_functions", "mutant"} {
			program += fmt.Sprintf("static_assert(same_kind<in_c<decltype(&%s)>::type, decltype(%s::%s)>(), "+
				"\"%[2]s.%[3]s\");\n", native, of, member)
		}
	}
	file := filepath.Join(t.TempDir(), "compare.cpp")
	require.NoError(t, os.WriteFile(file, []byte(program), 0o600))
	out, err := exec.Command(testtool.RequireCompiler(t, "g++", "g++"), "-std=c++20", "-fsyntax-only", "-I.",
		"-isystem", include,
		file).CombinedOutput()
	assert.Error(t, err)
	failed := regexp.MustCompile(`mutant\.\w+|dlpackgen_torch_functions\.\w+`).FindAllString(failures(string(out)), -1)
	assert.ElementsMatch(t, []string{"mutant.get_sizes", "mutant.is_neg"}, failed, "%s", out)
}

// failures returns the lines of failed assertions.
func failures(out string) (all string) {
	for line := range strings.Lines(out) {
		if strings.Contains(line, "error: ") {
			all += line
		}
	}
	return all
}
