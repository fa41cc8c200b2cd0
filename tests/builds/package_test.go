package builds

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

const packaged = `version: 1
dlpack: %q
targets: {c: {package: true}}
`

const finds = `cmake_minimum_required(VERSION 3.20)
project(user C)
find_package(dlpack ${WANTED} REQUIRED)
message(STATUS "found dlpack ${dlpack_VERSION}")
add_executable(user user.c)
target_link_libraries(user PRIVATE dlpack::dlpack)
`

const printsVersion = `#include <dlpack/dlpack.h>
#include <stdio.h>
int main(void) { return printf("%d.%d\n", DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION) < 0; }
`

// packages generates target c with its packages, in a folder that is moved afterwards.
func packages(t *testing.T, release string) *project {
	t.Helper()
	p := newProject(t, nil)
	for name, text := range map[string]string{"dlpackgen.yaml": fmt.Sprintf(packaged, release),
		"user/CMakeLists.txt": finds, "user/user.c": printsVersion} {
		require.NoError(t, os.MkdirAll(p.path("user"), 0o755))
		require.NoError(t, os.WriteFile(p.path(name), []byte(text), 0o600))
	}
	p.run(t, ".", "dlpackgen", "generate", "--quiet")
	require.NoError(t, os.Rename(p.path("c"), p.path("moved")))
	return p
}

func TestFindPackage(t *testing.T) {
	testtool.Require(t, "cmake", "cmake")
	testtool.Require(t, "ninja", "ninja-build")
	p := packages(t, "1.2")
	out := p.run(t, "user", "cmake", "-G", "Ninja", "-B", "b", "-DWANTED=1.1", "-DCMAKE_PREFIX_PATH="+p.path("moved"))
	assert.Contains(t, out, "found dlpack 1.2")
	p.run(t, "user", "cmake", "--build", "b")
	assert.Equal(t, "1.2\n", p.run(t, "user", "b/user"))
	for _, wanted := range []string{"1.3", "2.0", "0.6"} {
		out, err := p.try("user", "cmake", "-DWANTED="+wanted, "b")
		assert.Error(t, err, wanted)
		assert.Contains(t, out, "version: 1.2", wanted)
	}
	require.NoError(t, os.Remove(p.path("moved/dlpack/dlpack.h")))
	out, err := p.try("user", "cmake", "-DWANTED=1.2", "b")
	assert.Error(t, err)
	assert.Contains(t, out, "there is no dlpack/dlpack.h in "+p.path("moved"))
}

func TestPkgConfig(t *testing.T) {
	testtool.Require(t, "pkg-config", "pkgconf")
	p := packages(t, "1.3")
	p.env = append(p.env, "PKG_CONFIG_PATH="+p.path("moved/lib/pkgconfig"))
	assert.Equal(t, "1.3\n", p.run(t, ".", "pkg-config", "--modversion", "dlpack"))
	_, err := p.try(".", "pkg-config", "--atleast-version=1.4", "dlpack")
	assert.Error(t, err)
	p.run(t, "user", "sh", "-ec", "gcc $(pkg-config --cflags dlpack) user.c -o user")
	assert.Equal(t, "1.3\n", p.run(t, "user", "./user"))
}
