package gobind

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// processor is a processor on which an emulator runs programs.
type processor struct{ arch, cc, emulator string }

var processors = []processor{
	{"arm64", "aarch64-linux-gnu-gcc", "qemu-aarch64-static"},
	{"s390x", "s390x-linux-gnu-gcc", "qemu-s390x-static"},
}

func (p processor) need(t *testing.T) {
	t.Helper()
	testtool.Require(t, p.cc, strings.TrimSuffix("gcc-"+p.cc, "-gcc"))
	testtool.Require(t, p.emulator, "qemu-user-static")
}

// These tests, except those that start other programs, on other processors.
func TestTheseTestsOnOtherProcessors(t *testing.T) {
	tier.OnlyNightly(t)
	if os.Getenv(inner) != "" {
		t.Skip("this is the run on another processor")
	}
	for _, processor := range processors {
		t.Run(processor.arch, func(t *testing.T) {
			processor.need(t)
			program := filepath.Join(t.TempDir(), "tests")
			build := exec.Command("go", "test", "-c", "-ldflags=-extldflags=-static", "-o", program, ".")
			build.Env = append(os.Environ(), "CGO_ENABLED=1", "GOARCH="+processor.arch, "CC="+processor.cc)
			out, err := build.CombinedOutput()
			require.NoError(t, err, "%s", out)
			cmd := exec.Command(processor.emulator, program, "-test.short", "-test.v",
				"-test.skip=NumPy|Python|TablesAreFew")
			cmd.Env = append(os.Environ(), inner+"=1")
			out, err = cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			assert.Contains(t, string(out), "--- PASS: TestPackedElementsAreExported ")
			assert.Contains(t, string(out), "--- PASS: TestSlotsChangeTheirSlices ")
		})
	}
}

// The conformance tests on other processors, of which s390x is big-endian. Windows is in
// tests/wine.
func TestConformanceOnOtherProcessors(t *testing.T) {
	tier.OnlyNightly(t)
	m := bindings(t)
	for _, processor := range processors {
		t.Run(processor.arch, func(t *testing.T) {
			processor.need(t)
			program := filepath.Join(t.TempDir(), "conformance")
			m.with("GOARCH="+processor.arch, "CC="+processor.cc).mustRun(t, "test", "-c",
				"-ldflags=-extldflags=-static", "-o", program, "./dlpack/dlpacktest")
			out, err := exec.Command(processor.emulator, program, "-test.short", "-test.v").CombinedOutput()
			require.NoError(t, err, "%s", out)
			assert.Contains(t, string(out), "--- PASS: TestConformance ")
		})
	}
}

// A compiler for macOS checks the C, and Go's type checker the Go, including cgo's output there.
// Linking and running would need macOS.
func TestTheBindingsTypeCheckForMacOS(t *testing.T) {
	tier.OnlyNightly(t)
	skipShort(t)
	testtool.Require(t, "clang-16", "clang-16")
	headers, err := filepath.Abs(filepath.Join("testdata", "darwin"))
	require.NoError(t, err)
	m := bindings(t)
	for _, arch := range []string{"arm64", "amd64"} {
		t.Run(arch, func(t *testing.T) {
			cc := []string{"clang-16",
				"--target=" + map[string]string{"arm64": "arm64", "amd64": "x86_64"}[arch] + "-apple-macos11",
				"-nostdlibinc", "-ffreestanding"}
			sources, err := filepath.Glob(filepath.Join(m.dir, "dlpack", "*.c"))
			require.NoError(t, err)
			sources = append(sources, filepath.Join(m.dir, "dlpack", "dlpacktest", "foreign.c"))
			strict := append(cc[1:len(cc):len(cc)], "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-isystem", headers)
			out, err := exec.Command(cc[0], append(strict, sources...)...).CombinedOutput()
			require.NoError(t, err, "%s", out)
			mac := m.with("GOOS=darwin", "GOARCH="+arch, "CC="+strings.Join(cc, " "))
			mac.translate(t, "dlpack", arch, headers)
			mac.with("CGO_ENABLED=0").mustRun(t, "vet", "-tags=cgo", "./"+arch)

			file := arch + "/cgo_gotypes.go"
			text := readFile(t, m, file)
			m.write(t, map[string]string{file: mutant.Once(t, text, "type _Ctype_int64_t = _Ctype_longlong",
				"type _Ctype_int64_t = _Ctype_int")})
			printed, err := mac.with("CGO_ENABLED=0").run("vet", "-tags=cgo", "./"+arch)
			require.Error(t, err, "another width in C is seen\n%s", printed)
		})
	}
}

// translate runs cgo on a package, like a build, and stores its Go output with the package's other
// Go files as a package without C.
func (m module) translate(t *testing.T, from, to, headers string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(m.dir, from, "*.go"))
	require.NoError(t, err)
	made := filepath.Join(t.TempDir(), "cgo")
	args := []string{"tool", "cgo", "-objdir", made, "-importpath", "example.org/bindings/" + to, "--", "-isystem",
		headers}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if strings.HasSuffix(file, "_test.go") {
			continue // it imports the package, which is compiled under another name
		}
		if strings.Contains(string(text), "\nimport \"C\"\n") {
			args = append(args, filepath.Base(file))
			continue
		}
		m.write(t, map[string]string{to + "/" + filepath.Base(file): string(text)})
	}
	inside := m
	inside.dir = filepath.Join(m.dir, from)
	inside.mustRun(t, args...)
	files, err = filepath.Glob(filepath.Join(made, "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		// The part of the run time that only programs with cgo have.
		plain := strings.NewReplacer("import _cgopackage \"runtime/cgo\"", "", "_cgopackage.Incomplete",
			"struct{}").Replace(string(text))
		m.write(t, map[string]string{to + "/" + strings.TrimPrefix(filepath.Base(file), "_"): plain})
	}
}
