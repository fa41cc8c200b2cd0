package cpp

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/cpp"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
)

// inOneFile emits targets c and cpp into a folder, cpp in both forms.
func inOneFile(t *testing.T) string {
	t.Helper()
	dir := headers(t, "1.3")
	files, err := cpp.Target.Emit(&emit.Model{Release: release(t, "1.3"), Options: map[string]string{"single": "true"}})
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, files[0].Path), files[0].Data, 0o600))
	return dir
}

// The single header has the contents of the folder, and can be used together with it in one
// program.
func TestTheSingleHeader(t *testing.T) {
	dir := inOneFile(t)
	const both = "#include <dlpackgen.hpp>\n#include <dlpackgen/all.hpp>\n#include <dlpackgen.hpp>\n" +
		"int main() { return dlpackgen::Managed() ? 1 : static_cast<int>(sizeof(dlpackgen::Builder)) == 0; }\n"
	for _, c := range matrix() {
		if testing.Short() && c.program != "g++" {
			continue
		}
		for _, exceptions := range []string{"-fexceptions", "-fno-exceptions"} {
			assertCompiles(t, c, both, "-I", dir, exceptions, "-Wall", "-Wextra", "-Werror")
		}
	}
	const eigen = "#include <Eigen/Core>\n#include <dlpackgen.hpp>\n#include <dlpackgen/eigen.hpp>\n"
	assertCompiles(t, gcc, eigen+"dlpackgen::MapOf<float> m;\n", append(requireEigen(t, "eigen.hpp"), "-I", dir)...)
	parts, err := filepath.Glob(filepath.Join(dir, "dlpackgen", "*.hpp"))
	require.NoError(t, err)
	require.NotEmpty(t, parts)
	for _, part := range parts {
		require.NoError(t, os.Remove(part))
	}
	assertCompiles(t, gcc, "#include <dlpackgen.hpp>\ndlpackgen::Managed m;\n", "-I", dir)
}

// This needs the guards of its parts.
func TestPartsWithoutGuardsAreSeen(t *testing.T) {
	dir := inOneFile(t)
	mutant.OnceIn(t, filepath.Join(dir, "dlpackgen.hpp"), "#ifndef DLPACKGEN_V1_3_ERROR_HPP_", "#if 1")
	_, err := compile(t, gcc, "#include <dlpackgen/error.hpp>\n#include <dlpackgen.hpp>\n", "-I", dir)
	assert.Error(t, err)
}
