package builds

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// system is a build system in the table of changes.
type system struct {
	build     func(*testing.T, *project) string
	generated string   // the folder of the headers
	all       []string // the compiled sources of a build from scratch
	users     []string // those that include a generated header; only the first includes rules.h
	always    []string // the commands of a build without changes
	nothing   string   // the output of a build without changes
	// reconfigure makes a system notice an added template, if a build does not.
	reconfigure func(*testing.T, *project)
}

// TestBuilds changes each input of a build in turn. Exactly the affected steps run.
func TestBuilds(t *testing.T) {
	for name, s := range systems {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.changes(t)
		})
	}
}

func (s system) changes(t *testing.T) {
	p := newProject(t, s.build)
	generates := append([]string{"generate"}, s.users...)
	rules := append([]string{"generate"}, s.users[:1]...)
	idle := func(after string) {
		t.Helper()
		assert.Contains(t, p.builds(t, "nothing, after "+after, s.always...), s.nothing)
	}
	p.builds(t, "from scratch", append([]string{"generate"}, s.all...)...)
	idle("a build from scratch")

	p.replace(t, "ex/dlpackgen.yaml", "version: 1\n", "# A comment.\nversion: 1\n")
	p.builds(t, "the config has changed, its output has not", "generate")
	idle("a comment")
	p.replace(t, "ex/dlpackgen.yaml", `"1.3"`, "main")
	p.builds(t, "another release", generates...)
	idle("another release")

	p.renew(t)
	p.builds(t, "the program is newer, its templates are the same", "generate")
	p.install(t, testkit.Program(t, "c/rules.h"))
	p.builds(t, "a template of the program has changed: that of rules.h", rules...)
	idle("another template")

	require.NoError(t, os.Remove(p.path(s.generated+"/c/dlpack/dlpack.h")))
	p.builds(t, "an output is lost", generates...)
	assert.FileExists(t, p.path(s.generated+"/c/dlpack/dlpack.h"))
	idle("a lost output")
	s.ownTarget(t, p)
	idle("a target with its own templates")
}

// ownTarget adds a target with its own templates, whose output no C source includes.
func (s system) ownTarget(t *testing.T, p *project) {
	p.write(t, "ex/templates/own/a.py.tmpl", "release = {{.dlpack.minor}}\n")
	p.replace(t, "ex/dlpackgen.yaml", "targets: {c: {}}",
		"targets: {c: {}, own: {templates: templates/own, path: own}}")
	p.replace(t, "ex/ninja/build.ninja", "outputs.dd: outputs ../dlpackgen.yaml $program",
		"outputs.dd: outputs ../dlpackgen.yaml $program ../templates/own")
	p.builds(t, "a target with its own templates", "generate")

	p.extend(t, "ex/templates/own/a.py.tmpl", "changed = True\n")
	p.builds(t, "its template has changed", "generate")
	assert.Contains(t, p.read(t, s.generated+"/own/a.py"), "changed = True")

	p.write(t, "ex/templates/own/b.py.tmpl", "release = {{.dlpack.minor}}\n")
	if s.reconfigure != nil {
		s.reconfigure(t, p)
	}
	p.builds(t, "a template is added", "generate")
	require.NoError(t, os.Remove(p.path(s.generated+"/own/b.py")))
	p.builds(t, "its output is lost", "generate")
	assert.Contains(t, p.read(t, s.generated+"/own/b.py"), "release = ")
}

// Ninja has no record of the rule for committed files. It runs the rule once, and not again.
func TestNinjaTakesCommittedFiles(t *testing.T) {
	p := newProject(t, ninja)
	p.run(t, "ex/ninja", "dlpackgen", "generate", "--quiet", "--config", "../dlpackgen.yaml", "--out", "gen")
	p.builds(t, "the first time", "generate", "main.c", "plain.c")
	p.builds(t, "nothing")
}

// c are the C sources of the program.
var c = []string{"main.c", "plain.c"}

// systems are the build systems by the folder of their example.
var systems = map[string]system{
	"make": {generated: "ex/make/gen", all: c, users: c[:1], nothing: "'tensors' is up to date",
		build: func(t *testing.T, p *project) string {
			return p.run(t, "ex/make", testtool.Require(t, "make", "make"))
		}},
	"ninja": {generated: "ex/ninja/gen", all: c, users: c[:1], nothing: "no work to do", build: ninja},
	"meson": {generated: "ex/meson/gen", all: c, users: c[:1], nothing: "no work to do", build: meson,
		reconfigure: func(t *testing.T, p *project) { p.touch(t, "ex/dlpackgen.yaml") }},
	"cmake-ninja": {generated: "b/headers", all: append(c, check), users: []string{c[0], check},
		nothing: "no work to do", build: cmake("Ninja")},
	"cmake-make": {generated: "b/headers", all: append(c, check), users: []string{c[0], check},
		nothing: "", build: cmake("Unix Makefiles")},
	"setuptools": {generated: "ex/setuptools/gen", all: []string{"module.c"}, users: []string{"module.c"},
		always: []string{"generate"}, build: setuptools},
}

// check is compiled for each target that links a target of dlpackgen_generate().
const check = "dlpackgen_include_check.c"

func ninja(t *testing.T, p *project) string {
	testtool.Require(t, "ninja", "ninja-build")
	p.run(t, "ex/ninja", "sh", "-c", `[ -e program.ninja ] || echo "program = $(command -v dlpackgen)" > program.ninja`)
	return p.run(t, "ex/ninja", "ninja")
}

func meson(t *testing.T, p *project) string {
	testtool.Require(t, "meson", "meson")
	if _, err := os.Stat(p.path("b")); err != nil {
		p.run(t, "ex/meson", "meson", "setup", p.path("b"))
	}
	return p.run(t, "ex/meson", "ninja", "-C", p.path("b"))
}

func cmake(generator string) func(*testing.T, *project) string {
	return func(t *testing.T, p *project) string {
		testtool.Require(t, "cmake", "cmake")
		if _, err := os.Stat(p.path("b")); err != nil {
			p.run(t, "ex/cmake", "cmake", "-G", generator, "-B", p.path("b"))
		}
		return p.run(t, "ex/cmake", "cmake", "--build", p.path("b"))
	}
}

func setuptools(t *testing.T, p *project) string {
	python := testkit.ForkedProgram(t, testtool.RequirePython(t), "setuptools,setuptools.command.build_ext")
	return p.run(t, "ex/setuptools", python, "setup.py", "build_ext", "--inplace")
}
