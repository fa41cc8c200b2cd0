package builds

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// anotherCameFirst is the compiler's error about another dlpack.h before the generated one.
const anotherCameFirst = "the first <dlpack/dlpack.h> in the include path, or included before, is not of " +
	"DLPack 1.3"

// older is a folder with the dlpack.h of an older release, like a distribution's.
func (p *project) older(t *testing.T) {
	t.Helper()
	p.run(t, "ex", "dlpackgen", "generate", "--no-config", "--only", "c", "--dlpack", "0.6", "--out", "older")
	require.NoError(t, os.RemoveAll(p.path("ex/older/c/dlpackgen")))
}

func TestAnotherHeaderInFrontIsAnError(t *testing.T) {
	t.Run("cmake", func(t *testing.T) {
		p := newProject(t, nil)
		p.older(t)
		unaware(t, p, "ex/cmake/unaware.c")
		const lists, order = "ex/cmake/CMakeLists.txt",
			"target_include_directories(tensors BEFORE PRIVATE ../older/c)\n"
		p.replace(t, lists, "../main.c ../plain.c)\n", "unaware.c)\n"+order)
		p.run(t, "ex/cmake", "cmake", "-G", "Ninja", "-B", p.path("b"))
		out, err := p.try("ex/cmake", "cmake", "--build", p.path("b"))
		assert.Error(t, err, "%s", out)
		assert.Contains(t, out, anotherCameFirst)
		p.replace(t, lists, order, "")
		p.run(t, "ex/cmake", "cmake", "--build", p.path("b"))
	})
	t.Run("meson", func(t *testing.T) {
		p := newProject(t, meson)
		p.older(t)
		p.replace(t, "ex/meson/meson.build", "include_directories('gen/c')",
			"include_directories('../older/c', 'gen/c')")
		p.run(t, "ex/meson", "meson", "setup", p.path("b"))
		out, err := p.try("ex/meson", "ninja", "-C", p.path("b"))
		assert.Error(t, err, "%s", out)
		assert.Contains(t, out, anotherCameFirst)
		p.replace(t, "ex/meson/meson.build", "'../older/c', 'gen/c'", "'gen/c', '../older/c'")
		p.run(t, "ex/meson", "ninja", "-C", p.path("b"))
	})
}

// unaware is a program without a check.
func unaware(t *testing.T, p *project, name string) {
	t.Helper()
	require.NoError(t, os.WriteFile(p.path(name), []byte("#include <dlpack/dlpack.h>\nint main(void) { return 0; }\n"),
		0o600))
}
