package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/targets"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

func TestKernelsAreMeasured(t *testing.T) {
	tier.OnlyNightly(t)
	if testing.Short() {
		t.Skip("builds a module and generates 1,000 kernels")
	}
	t.Chdir("..")
	var out bytes.Buffer
	goals, err := benchKernels(&out, t.TempDir(), 1)
	require.NoError(t, err, "%s", out.String())
	measured := map[string]float64{}
	for _, g := range goals {
		measured[g.name] = g.measured
		assert.Positive(t, g.measured, g.name)
	}
	require.Len(t, measured, 9)
	assert.Equal(t, 15.0, measured["kernels-yaml-lines"], "of axpy_softmax, with the line above them")
	assert.Less(t, measured["kernels-generate-1000-peak"], 130.0, "MiB: the garbage is collected")
}

// The goals of all callers include every target that calls kernels in C.
func TestEveryCallerIsMeasured(t *testing.T) {
	for _, row := range targets.All() {
		if row.Contracts && !row.Collects {
			assert.Contains(t, " "+callerTargets.targets, " "+row.Name+": {")
		}
	}
}

// The measured builds use the flags of authors' builds.
func TestModulesHaveTheFlagsOfProjects(t *testing.T) {
	setup, err := os.ReadFile("../templates/project/setup.py")
	require.NoError(t, err)
	quoted := func(flags string) string { return `"` + strings.ReplaceAll(flags, " ", `", "`) + `"` }
	assert.Contains(t, string(setup), "else ["+quoted(projectFlags)+"]\n")
	assert.Contains(t, string(setup), "else [*FLAGS, "+quoted(projectSmall)+"]\n")
	script := projectScript("/t/m.so", "impl.c", []string{"kernels.c"}, []string{"-I/h"})
	assert.Contains(t, script, " -fexceptions -Os -g0 -o /t/m.so.0.o kernels.c\n")
	assert.Contains(t, script, " -fexceptions -o /t/m.so.1.o impl.c\n")
	assert.Contains(t, script, " -o /t/m.so /t/m.so.0.o /t/m.so.1.o -lm\n")
}

// The modules by other libraries have more lines than the description.
func TestLinesOfRivals(t *testing.T) {
	t.Chdir("..")
	lines, err := linesOf(axpyAndSoftmax + "/dlpackgen.yaml")
	require.NoError(t, err)
	for _, r := range kernelRivals {
		theirs, err := linesOfRival(rivals + r.source)
		require.NoError(t, err)
		assert.Greater(t, theirs, lines, r.name)
	}
}

func TestARivalThatIsMissingIsNamed(t *testing.T) {
	missing := kernelRivals[0].goal(took(1), nil, errors.New("make setup"))
	assert.Equal(t, "goal kernels-build-cpu.nanobind not measured: needs nanobind: make setup", missing.String())
}

// The modules by other libraries compile. TestKernelsAreMeasured has one round, which does not
// build them.
func TestRivalsOfKernelsCompile(t *testing.T) {
	tier.OnlyNightly(t)
	t.Chdir("..")
	b := &kernelsBench{dir: t.TempDir()}
	build, err := b.tvmffi(rivals + "by_tvm_ffi.cpp")
	if err != nil {
		t.Skip("needs tvm-ffi: pip install -r tests/requirements-frameworks.txt")
	}
	_, err = build.once()
	require.NoError(t, err)
	include, err := query("import nanobind, sysconfig; print(nanobind.include_dir(), sysconfig.get_path('include'))")
	require.NoError(t, err)
	out, err := exec.Command("g++", "-std=c++17", "-fsyntax-only", "-I"+include[0], "-I"+include[1],
		rivals+"by_nanobind.cpp").CombinedOutput()
	require.NoError(t, err, "%s", out)
}
