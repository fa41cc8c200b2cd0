package hosts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// codesOfTVM are the constants of templates/tvmffi/packed.h.
var codesOfTVM = map[string]string{"INT": "kTVMArgInt", "FLOAT": "kTVMArgFloat", "NULL": "kTVMNullptr",
	"DLTENSOR": "kTVMDLTensorHandle", "STR": "kTVMStr", "NDARRAY": "kTVMNDArrayHandle", "BOOL": "kTVMArgBool"}

// mutantsOfTVM change a declaration, and name the comparison that must fail.
var mutantsOfTVM = [][3]string{
	{"STR = 11", "STR = 12", "code STR"},
	{"BOOL = 15", "BOOL = 14", "code BOOL"},
	{"double v_float64;", "int64_t v_float64;", "type v_float64"},
	{"const char* v_str;", "int32_t v_str;", "type v_str"},
	{"void* v_handle;", "void* v_handle; char wide[16];", "size"},
	{"const int* codes, int count", "const int* codes, int64_t count", "function"},
	{"(*set_error)(const char*)", "(*set_error)(const char*, int)", "error"},
}

// declaredOfTVM returns the templates' hand-written declarations of TVM before 0.20.
func declaredOfTVM(t *testing.T) string {
	t.Helper()
	header, err := os.ReadFile("../../templates/tvmffi/packed.h")
	require.NoError(t, err)
	source, err := os.ReadFile("../../templates/tvmffi/kernels_tvmffi.c.tmpl")
	require.NoError(t, err)
	text := ""
	for _, pattern := range []string{`(?s)union dlpackgen_packed_value \{.*?\n\};`,
		`(?s)enum \{\s+DLPACKGEN_PACKED_INT.*?\n\};`,
		`void \(\*__TVMAPISetLastError\)\(.*?\)`} {
		found := regexp.MustCompile(pattern).FindString(string(header))
		require.NotEmpty(t, found, pattern)
		text += found + "\n"
	}
	exported := regexp.MustCompile(
		`(?s)DLPACKGEN_TVMFFI_EXPORT (int \{\{\.Symbol\}\}\(union dlpackgen_packed_value.*?\);)`)
	found := exported.FindStringSubmatch(string(source))
	require.NotNil(t, found, exported)
	return strings.NewReplacer("__TVMAPISetLastError", "set_error", "{{.Symbol}}", "call", "{{/**/ -}}", "").
		Replace(text + "; " + found[1] + "\n")
}

// comparedWithTVM compares declarations with TVM's in a namespace, whose name ends each message.
func comparedWithTVM(t *testing.T, name, declared string) string {
	t.Helper()
	var out strings.Builder
	fmt.Fprintf(&out, "namespace %s {\n%s", name, declared)
	compare := func(what, condition string) {
		fmt.Fprintf(&out, "static_assert(%s, \"%s of %s\");\n", condition, what, name)
	}
	compare("size",
		"sizeof(dlpackgen_packed_value) == sizeof(TVMValue) && alignof(dlpackgen_packed_value) == alignof(TVMValue)")
	members := regexp.MustCompile(`\b(v_\w+);`).FindAllStringSubmatch(declared, -1)
	require.Len(t, members, 4)
	for _, m := range members {
		compare("type "+m[1], fmt.Sprintf(
			"same_kind<decltype(dlpackgen_packed_value::%s), decltype(TVMValue::%[1]s)>()", m[1]))
	}
	codes := regexp.MustCompile(`DLPACKGEN_PACKED_(\w+) =`).FindAllStringSubmatch(declared, -1)
	require.Len(t, codes, len(codesOfTVM))
	for _, m := range codes {
		require.Contains(t, codesOfTVM, m[1])
		compare("code "+m[1], "int(DLPACKGEN_PACKED_"+m[1]+") == int("+codesOfTVM[m[1]]+")")
	}
	compare("function", "same_kind<decltype(&call), TVMBackendPackedCFunc>()")
	compare("error", "same_kind<decltype(set_error), decltype(&TVMAPISetLastError)>()")
	return out.String() + "}\n"
}

// Target tvmffi declares its used parts of TVM before 0.20 by hand. They equal TVM's.
func TestDeclarationsOfLegacyTVMEqualTVMs(t *testing.T) {
	found, _ := filepath.Glob(filepath.Join(golden.Root(t), ".cache/legacytvm/lib/python3*/site-packages/tvm/include"))
	if len(found) != 1 {
		t.Skip("needs the wheels of tests/requirements-legacytvm.txt: make setup")
	}
	declared := declaredOfTVM(t)
	program := "#include <tvm/runtime/c_backend_api.h>\n#include \"native.hpp\"\n" + comparedWithTVM(t, "own", declared)
	var want []string
	for i, m := range mutantsOfTVM {
		name := fmt.Sprintf("mutant%d", i)
		program += comparedWithTVM(t, name, mutant.Once(t, declared, m[0], m[1]))
		want = append(want, m[2]+" of "+name)
	}
	file := filepath.Join(t.TempDir(), "compare.cpp")
	require.NoError(t, os.WriteFile(file, []byte(program), 0o600))
	out, err := exec.Command(testtool.RequireCompiler(t, "g++", "g++"), "-std=c++20", "-fsyntax-only", "-I.",
		"-isystem", found[0],
		"-isystem", filepath.Join(filepath.Dir(found[0]), "3rdparty/dlpack/include"), file).CombinedOutput()
	assert.Error(t, err)
	var failed []string
	for _, m := range regexp.MustCompile(`error: static assertion failed: (.*)`).FindAllStringSubmatch(
		string(out), -1) {
		failed = append(failed, m[1])
	}
	assert.ElementsMatch(t, want, failed, "%s", out)
	assert.Equal(t, len(want), strings.Count(string(out), "error: "), "%s", out)
}
