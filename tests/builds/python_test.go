package builds

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// scikit-build-core keeps its build folder, in which CMake does the rest. The test is separate from
// TestBuilds, because each build of a wheel takes seconds; one build without changes is enough
// here.
func TestScikitBuildCore(t *testing.T) {
	python := testtool.RequirePython(t)
	if !testtool.Has(python, "scikit_build_core") {
		t.Skip("needs scikit-build-core: make setup")
	}
	pip := testkit.ForkedProgram(t, python, "pip._internal.cli.main,pip._internal.commands.wheel")
	testtool.Require(t, "cmake", "cmake")
	testtool.Require(t, "ninja", "ninja-build")
	p := newProject(t, func(t *testing.T, p *project) string {
		return p.run(t, "ex/scikit-build-core", pip, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps",
			"--no-index", "--disable-pip-version-check", "-w", p.path("wheels"), ".")
	})
	p.env = append(p.env, "CMAKE_GENERATOR=Ninja")
	p.builds(t, "from scratch", "generate", "module.c", check)
	p.replace(t, "ex/dlpackgen.yaml", "version: 1\n", "# A comment.\nversion: 1\n")
	p.builds(t, "the config has changed, its output has not", "generate")
	p.builds(t, "nothing, after a comment")
	p.replace(t, "ex/dlpackgen.yaml", `"1.3"`, "main")
	p.builds(t, "another release", "generate", "module.c", check)
	p.renew(t)
	p.builds(t, "the program is newer, its templates are the same", "generate")
	p.install(t, testkit.Program(t, "c/rules.h"))
	p.builds(t, "a template of the program has changed: that of rules.h", "generate", "module.c")
	const lost = "ex/scikit-build-core/build/headers/c/dlpack/dlpack.h"
	require.NoError(t, os.Remove(p.path(lost)))
	p.builds(t, "an output is lost", "generate", "module.c", check)
	assert.FileExists(t, p.path(lost))
	wheels, err := filepath.Glob(p.path("wheels/tensors-1-*.whl"))
	require.NoError(t, err)
	require.Len(t, wheels, 1)
	p.run(t, ".", python, "-m", "zipfile", "-e", wheels[0], "site")
	p.env = append(p.env, "PYTHONPATH="+p.path("site"))
	assert.Equal(t, "24\n", p.run(t, ".", python, "-c", "import tensors; print(tensors.nbytes())"))
}
