package gobind

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// roundTrip is a program that passes a slice to itself through one copy of the bindings, or from
// the first copy to the second.
const roundTrip = `package main

import (
	"fmt"

	"example.org/bindings/dlpack"
)

func main() {
	p, err := dlpack.Export([]float32{1, 2, 3, 4}, 2, 2)
	if err != nil {
		panic(err)
	}
	m, err := dlpack.Import(p)
	if err != nil {
		panic(err)
	}
	values, err := dlpack.Data[float32](m.Tensor())
	fmt.Println(values, err, dlpack.Drain())
	m.Release()
	fmt.Println(dlpack.Drain())
}
`

const roundTripSays = "[1 2 3 4] <nil> 1\n0\n"

func TestEveryReleaseServedBuildsAndRuns(t *testing.T) {
	tier.OnlyNightly(t)
	skipShort(t)
	for _, version := range []string{"1.2", "1.3", "main"} {
		t.Run(version, func(t *testing.T) {
			m := newModule(t, "example.org/bindings").shared(t)
			m.emit(t, "dlpack", version, nil)
			m.write(t, map[string]string{"main.go": roundTrip})
			m.mustRun(t, "vet", "./...")
			m.mustRun(t, "build", "./...")
			assert.Equal(t, roundTripSays, m.mustRun(t, "run", "."))
		})
	}
}

func TestGofmtChangesNothing(t *testing.T) {
	m := bindings(t)
	out, err := exec.Command("gofmt", "-l", filepath.Join(m.dir, "dlpack")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Empty(t, string(out))
}

func TestWithoutCgoTypesRemain(t *testing.T) {
	m := bindings(t).with("CGO_ENABLED=0")
	m.write(t, map[string]string{"main.go": `package main

import (
	"fmt"
	"unsafe"

	"example.org/bindings/dlpack"
)

func main() {
	fmt.Println(dlpack.DeviceCUDA, dlpack.DTypeFloat16, unsafe.Sizeof(dlpack.DLManagedTensorVersioned{}), dlpack.Tensor{}.Len())
}
`})
	m.mustRun(t, "vet", "./...")
	assert.Equal(t, "CUDA float16 80 0\n", m.mustRun(t, "run", "."))

	m.write(t, map[string]string{"main.go": roundTrip})
	out, err := m.run("build", ".")
	require.Error(t, err)
	assert.Contains(t, out, "undefined: dlpack.Import")
}

func TestPlatformsOf32BitsReportTheReason(t *testing.T) {
	tier.OnlyNightly(t)
	m := bindings(t)
	m.write(t, map[string]string{"main.go": roundTrip})
	for _, platform := range [][]string{
		{"GOARCH=386", "CGO_ENABLED=0"}, {"GOARCH=arm", "CGO_ENABLED=0"}, {"GOARCH=mips", "CGO_ENABLED=0"},
		{"GOARCH=mipsle", "CGO_ENABLED=0"}, {"GOOS=js", "GOARCH=wasm"},
	} {
		t.Run(platform[len(platform)-2], func(t *testing.T) {
			rejectedFor32Bit(t, m.with(platform...))
		})
	}
	t.Run("386 with cgo", func(t *testing.T) {
		testtool.Require(t, "i686-linux-gnu-gcc", "gcc-i686-linux-gnu")
		rejectedFor32Bit(t, m.with("GOARCH=386", "CC=i686-linux-gnu-gcc"))
	})
}

func rejectedFor32Bit(t *testing.T, m module) {
	t.Helper()
	out, err := m.run("vet", "./dlpack")
	require.Error(t, err)
	assert.Contains(t, out, "undefined: this_package_needs_a_64_bit_platform")
	assert.Equal(t, 1, strings.Count(out, "\n")-strings.Count(out, "# "), "it is the only error:\n%s", out)
}

func TestOther64BitPlatformsCompile(t *testing.T) {
	skipShort(t)
	m := bindings(t)
	m.write(t, map[string]string{"main.go": roundTrip})
	for _, platform := range []struct{ name, os, arch, cc, debian string }{
		{"arm64", "linux", "arm64", "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"},
		{"windows", "windows", "amd64", "x86_64-w64-mingw32-gcc", "mingw-w64"},
	} {
		t.Run(platform.name, func(t *testing.T) {
			if platform.name != "windows" {
				tier.OnlyNightly(t)
			}
			testtool.Require(t, platform.cc, platform.debian)
			cross := m.with("GOOS="+platform.os, "GOARCH="+platform.arch, "CC="+platform.cc)
			if tier.IsNightly() { // vet would compile the standard library again
				cross.mustRun(t, "vet", "./...")
			}
			cross.mustRun(t, "build", "-o", filepath.Join(t.TempDir(), "program"), ".")
		})
	}
	for _, platform := range []string{"linux/s390x", "darwin/arm64"} {
		t.Run("types on "+platform, func(t *testing.T) {
			tier.OnlyNightly(t)
			system, arch, _ := strings.Cut(platform, "/")
			m.with("GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0").mustRun(t, "build", "./dlpack")
		})
	}
}

// Without warnings, with the two most common compilers for cgo.
func TestTheCOfTheBindingsIsClean(t *testing.T) {
	m := bindings(t)
	for cc, debian := range map[string]string{"gcc": "gcc", "clang-16": "clang-16"} {
		t.Run(cc, func(t *testing.T) {
			testtool.Require(t, cc, debian)
			out, err := exec.Command(cc, "-std=c11", "-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes",
				"-pedantic", "-Werror",
				"-c", "-o", filepath.Join(t.TempDir(), "export.o"),
				filepath.Join(m.dir, "dlpack", "export.c")).CombinedOutput()
			require.NoError(t, err, "%s", out)
		})
	}
}
