package builds

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// released is a project next to an unpacked release archive with the program and cmake.
func released(t *testing.T) *project {
	t.Helper()
	testtool.Require(t, "cmake", "cmake")
	testtool.Require(t, "ninja", "ninja-build")
	p := newProject(t, nil)
	require.NoError(t, os.CopyFS(p.path("release/cmake"), os.DirFS(filepath.Join(golden.Root(t), "cmake"))))
	data, err := os.ReadFile(p.tool)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(p.path("release/dlpackgen"), data, 0o755)) //nolint:gosec // executable
	require.NoError(t, os.Remove(p.path("shims/dlpackgen")))
	p.env = append(p.env, "dlpackgen_DIR=", "CMAKE_GENERATOR=Ninja")
	return p
}

const fetches = `include(FetchContent)
FetchContent_Declare(dlpackgen URL ../../release.tar.gz SOURCE_SUBDIR cmake)
FetchContent_MakeAvailable(dlpackgen)`

func TestFetchContent(t *testing.T) {
	p := released(t)
	p.run(t, ".", "tar", "-czf", "release.tar.gz", "release")
	require.NoError(t, os.RemoveAll(p.path("release")))
	p.replace(t, "ex/cmake/CMakeLists.txt", "find_package(dlpackgen REQUIRED)", fetches)
	p.run(t, "ex/cmake", "cmake", "-B", p.path("b"))
	p.run(t, "ex/cmake", "cmake", "--build", p.path("b"))
	assert.Equal(t, "DLPack 1.3: 24 bytes\n", p.run(t, ".", "b/tensors"))
}

// A spec is an input of the build, like the config.
func TestCMakeFollowsTheSpec(t *testing.T) {
	p := newProject(t, cmake("Ninja"))
	sp, err := os.ReadFile(filepath.Join(golden.Root(t), "spec", "dlpack.yaml"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(p.path("ex/spec.yaml"), sp, 0o600))
	p.replace(t, "ex/cmake/CMakeLists.txt", "CONFIG ../dlpackgen.yaml", "CONFIG ../dlpackgen.yaml SPEC ../spec.yaml")
	p.builds(t, "from scratch", "generate", "main.c", "plain.c", check)
	p.replace(t, "ex/spec.yaml", "Raised when the layout of", "Changed when the layout of")
	p.builds(t, "the spec has changed", "generate", "main.c", check)
	p.builds(t, "nothing")
}

// The check of the include path uses the prefix from the config or the call.
func TestCMakeTakesAPrefix(t *testing.T) {
	p := newProject(t, cmake("Ninja"))
	source := "#include <acme_dlpack/dlpack.h>\nint main(void) { return 0; }\n"
	require.NoError(t, os.WriteFile(p.path("ex/cmake/own.c"), []byte(source), 0o600))
	p.replace(t, "ex/cmake/CMakeLists.txt", "../main.c ../plain.c", "own.c")
	p.replace(t, "ex/dlpackgen.yaml", "version: 1\n", "version: 1\nprefix: acme_\n")
	p.builds(t, "from the config", "generate", check)
	p.replace(t, "ex/cmake/CMakeLists.txt", "../dlpackgen.yaml", "../dlpackgen.yaml PREFIX beta_")
	p.replace(t, "ex/cmake/own.c", "acme_", "beta_")
	p.builds(t, "from the call", "generate", check)
}

const bothLanguages = `cmake_minimum_required(VERSION 3.20)
project(tensors C CXX)
find_package(dlpackgen REQUIRED)
dlpackgen_generate(TARGET headers)
add_executable(tensors a.c b.cpp)
target_link_libraries(tensors PRIVATE headers)
`

// CMake passes MSVC's flags to each language if it takes the compiler for MSVC, and to no other
// compiler. Nothing is compiled.
func TestTheFlagsForMSVC(t *testing.T) {
	testtool.Require(t, "cmake", "cmake")
	testtool.Require(t, "ninja", "ninja-build")
	testtool.Require(t, "g++", "g++")
	p := newProject(t, nil)
	for name, text := range map[string]string{"CMakeLists.txt": bothLanguages, "a.c": "", "b.cpp": "",
		"dlpackgen.yaml": "version: 1\ntargets: {c: {}, cpp: {}}\n"} {
		p.write(t, "user/"+name, text)
	}
	commands := func(build string, flags ...string) (c, cxx string) {
		argv := []string{"cmake", "-G", "Ninja", "-B", build, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"}
		p.run(t, "user", append(argv, flags...)...)
		for line := range strings.Lines(p.read(t, "user/"+build+"/compile_commands.json")) {
			switch {
			case strings.Contains(line, `"command"`) && strings.Contains(line, "/a.c\""):
				c = line
			case strings.Contains(line, `"command"`) && strings.Contains(line, "/b.cpp\""):
				cxx = line
			}
		}
		return c, cxx
	}
	msvc := func(language string) []string {
		return []string{"-DCMAKE_" + language + "_COMPILER_ID=MSVC", "-DCMAKE_" + language + "_COMPILER_FORCED=ON"}
	}
	c, cxx := commands("msvc", append(msvc("C"), msvc("CXX")...)...)
	assert.Contains(t, c, " /std:c11 ")
	assert.NotContains(t, c, "/Zc:")
	assert.Contains(t, cxx, " /Zc:__cplusplus ")
	assert.NotContains(t, cxx, "/std:")
	c, cxx = commands("gcc")
	require.Contains(t, c, "a.c")
	assert.NotRegexp(t, `/std:|/Zc:`, c+cxx)
}

// A mistake in a call or in the config ends the configuration with the reason.
func TestErrorsOfCMake(t *testing.T) {
	p := released(t)
	out, err := p.try("ex/cmake", "cmake", "-B", p.path("b"))
	assert.Error(t, err, "the package's folder is not passed")
	assert.Contains(t, out, "dlpackgen")
	const call = "dlpackgen_generate(TARGET headers CONFIG ../dlpackgen.yaml)"
	last := call
	for bad, message := range map[string]string{
		"dlpackgen_generate(headers)":                                          "dlpackgen_generate(TARGET name",
		"dlpackgen_generate(TARGET headers CONFIG)":                            "dlpackgen_generate(TARGET name",
		"dlpackgen_generate(TARGET headers CONFIG none.yaml)":                  "none.yaml",
		"dlpackgen_generate(TARGET headers NO_CONFIG ONLY c DLPACK 7.0)":       `no DLPack release "7.0"`,
		"dlpackgen_generate(TARGET headers CONFIG ../dlpackgen.yaml ONLY cpp)": "[unknown-target]",
	} {
		p.replace(t, "ex/cmake/CMakeLists.txt", last, bad)
		last = bad
		out, err := p.try("ex/cmake", "cmake", "-B", p.path("b"), "-Ddlpackgen_DIR="+p.path("release/cmake"))
		assert.Error(t, err, bad)
		assert.Contains(t, out, message, bad)
	}
	p.replace(t, "ex/cmake/CMakeLists.txt", last,
		"dlpackgen_generate(TARGET headers NO_CONFIG ONLY c DLPACK 1.2 OUT made)")
	p.run(t, "ex/cmake", "cmake", "-B", p.path("b"))
	p.run(t, "ex/cmake", "cmake", "--build", p.path("b"))
	assert.Equal(t, "DLPack 1.2: 24 bytes\n", p.run(t, ".", "b/tensors"))
	assert.FileExists(t, p.path("b/made/c/dlpack/dlpack.h"))
}
