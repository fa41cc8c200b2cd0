package hosts

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/hosts"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

const declarations = "../../templates/torch/aten_dlpack.hpp"

// atenCompiles runs the compiler with an option, over a program and torch's headers. Files in more
// replace torch's headers of the same name. The header of all operators is always replaced, by the
// one of tensors.
func atenCompiles(t *testing.T, how, program string, more map[string]string) (string, error) {
	t.Helper()
	include, _ := installed(t, hosts.Embedded("torch_cpp"))
	dir := t.TempDir()
	files := map[string]string{"ATen/ATen.h": "#include <ATen/core/Tensor.h>\n", "program.cpp": program}
	for name, text := range more {
		files[name] = text
	}
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	out, err := exec.Command(testtool.RequireCompiler(t, "g++", "g++"), "-std=c++20", how, "-I"+dir,
		"-I../../templates/torch", "-I../../gen/cpp", "-I../../gen/c", "-isystem", include, "-isystem",
		testtool.RequireHeaders(t, testtool.RequirePython(t)), filepath.Join(dir, "program.cpp")).CombinedOutput()
	return string(out), err
}

// The functions that the sources for torch declare are those of torch's header: another return type
// is an error, and other parameters make the name ambiguous.
func TestDeclarationsOfExportsAreTorchs(t *testing.T) {
	text, err := os.ReadFile(declarations)
	require.NoError(t, err)
	const unique = "#include <ATen/DLConvertor.h>\n#include \"declared.hpp\"\n" +
		"template <class F>\nconstexpr bool unique(F*) { return true; }\n" +
		"static_assert(unique(at::toDLPackVersioned));\nstatic_assert(unique(at::toDLPackVersionedReadOnly));\n" +
		"static_assert(unique(at::toDLPackNonOwning));\n"
	out, err := atenCompiles(t, "-fsyntax-only", unique, map[string]string{"declared.hpp": string(text)})
	require.NoError(t, err, out)

	changed := string(text)
	for _, m := range [][2]string{
		{"DLManagedTensorVersioned* toDLPackVersioned(", "DLManagedTensor* toDLPackVersioned("},
		{"toDLPackVersionedReadOnly(const Tensor& src)", "toDLPackVersionedReadOnly(Tensor& src)"},
		{"DLTensor* out, bool read_only)", "DLTensor* out, int read_only)"},
	} {
		changed = mutant.Once(t, changed, m[0], m[1])
	}
	out, err = atenCompiles(t, "-fsyntax-only", unique, map[string]string{"declared.hpp": changed})
	require.Error(t, err)
	assert.Regexp(t, "error: ambiguating new declaration of .*at::toDLPackVersioned\\(", out)
	for _, name := range []string{"toDLPackVersionedReadOnly", "toDLPackNonOwning"} {
		line := regexp.MustCompile(`static_assert\(unique\(at::` + name + `\)\)`)
		assert.Regexp(t,
			`error: no matching function for call to .unique\(<unresolved overloaded function type>\).\n.*`+
				line.String(), out)
	}
}

// For a version of torch that is newer than the declarations, its header is included.
func TestNewerTorchesHaveTheirOwnDeclarations(t *testing.T) {
	include, _ := installed(t, hosts.Embedded("torch_cpp"))
	const version = "torch/headeronly/version.h"
	text, err := os.ReadFile(filepath.Join(include, version))
	require.NoError(t, err)
	minor := regexp.MustCompile(`#define TORCH_VERSION_MINOR \d+`)
	require.Regexp(t, minor, string(text))
	newer := minor.ReplaceAllString(string(text), "#define TORCH_VERSION_MINOR 16")
	const program = "#include \"aten_dlpack.hpp\"\n"
	out, err := atenCompiles(t, "-M", program, nil)
	require.NoError(t, err, out)
	assert.NotContains(t, out, "DLConvertor.h")
	out, err = atenCompiles(t, "-M", program, map[string]string{version: newer})
	require.NoError(t, err, out)
	assert.Contains(t, out, "DLConvertor.h")
}
