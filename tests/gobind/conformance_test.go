package gobind

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack/dlpacktest"
	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// The test that users write to run the conformance tests of vendored bindings.
const conformance = `package consumer

import (
	"testing"

	"example.org/bindings/dlpack/dlpacktest"
)

func TestDLPack(t *testing.T) { dlpacktest.Run(t) }
`

func TestConformanceFromASecondModule(t *testing.T) {
	skipShort(t)
	m := published(t)
	m.write(t, map[string]string{"dlpack_test.go": conformance})
	m.mustRun(t, "get", "example.org/bindings/dlpack@v1.0.0")
	m.mustRun(t, "mod", "vendor")
	vendor := filepath.Join(m.dir, "vendor", "example.org", "bindings", "dlpack")
	for _, name := range []string{"dlpack.h", "foreign.h", "foreign.c", "run.go"} {
		assert.FileExists(t, filepath.Join(vendor, "dlpacktest", name))
	}
	assert.NoFileExists(t, filepath.Join(vendor, "dlpacktest", "run_test.go"),
		"which is why Run is in a file of another name")
	vendored := m.with("GOPROXY=off", "GOMODCACHE="+t.TempDir(), "GOFLAGS=-trimpath -mod=vendor")
	vendored.mustRun(t, "vet", ".")
	out := vendored.mustRun(t, "test", "-short", "-v", ".")
	assert.Contains(t, out, "--- PASS: TestDLPack/Threads ")
	assert.Empty(t, strings.TrimSpace(vendored.mustRun(t, "list", "-deps", "-test", "-f",
		`{{if not .Standard}}{{with .Module}}{{if ne .Path "example.org/consumer"}}{{if ne .Path `+
			`"example.org/bindings"}}{{.Path}}{{end}}{{end}}{{end}}{{end}}`, ".")),
		"it needs nothing but the standard library")
}

func TestConformanceOfTwoCopiesInOneProgram(t *testing.T) {
	skipShort(t)
	m := newModule(t, "example.org/two")
	m.emit(t, "one", "1.2", nil)
	m.emit(t, "other", "main", map[string]string{"package": "tensors"})
	m.write(t, map[string]string{"two_test.go": `package two

import (
	"testing"

	one "example.org/two/one/dlpacktest"
	other "example.org/two/other/dlpacktest"
)

func TestOne(t *testing.T)   { t.Parallel(); one.Run(t) }
func TestOther(t *testing.T) { t.Parallel(); other.Run(t) }
`})
	out := m.mustRun(t, "test", "-short", "-v", "-skip=/Lifetimes/NoGoroutineStays", ".")
	assert.Contains(t, out, "--- PASS: TestOne ")
	assert.Contains(t, out, "--- PASS: TestOther ")
}

// Without cgo, the package is empty.
func TestConformanceWithoutCgoCompiles(t *testing.T) {
	m := bindings(t).with("CGO_ENABLED=0")
	m.mustRun(t, "vet", "./...")
	m.mustRun(t, "test", "./...")
}

// mutants are bindings with one change, which a conformance test must detect.
var mutants = map[string]struct{ file, old, replacement string }{
	"released more than once": {"import.go", "atomic.SwapUintptr(&m.address, 0)",
		"atomic.LoadUintptr(&m.address)"},
	"no deleter for a bad tensor":   {"import.go", "\t\t\tdeleteNow(p)\n", ""},
	"another major version is read": {"import.go", "p.Version.Major != MajorVersion || m.owns()", "m.owns()"},
	"byte_offset is forgotten": {"tensor.go", "return unsafe.Add(loadPtr(&t.dl.Data), t.dl.ByteOffset)",
		"return loadPtr(&t.dl.Data)"},
	"slices are not pinned":       {"slots.go", "in.pins[s.number-in.first].Pin(object)", ""},
	"slices stay pinned":          {"slots.go", "in.pins[s.number-in.first].Unpin()", ""},
	"no sweep after a collection": {"slots.go", "\t\te.arm()\n", ""},
	"double releases are not counted": {"shared.c",
		"DLManagedTensorVersioned* self) {\n  (void)self;\n  __atomic_fetch_add(&trapped, 1, __ATOMIC_RELAXED);",
		"DLManagedTensorVersioned* self) {\n  (void)self;"},
	"released slots are lost": {"export.c", "(uint32_t)(head & number_mask), __ATOMIC_RELAXED",
		"0, __ATOMIC_RELAXED"},
	"strides are not looked at":  {"data.go", "contiguous = false", "contiguous = true"},
	"read-only data is written":  {"tensor.go", "t.flags&FlagReadOnly != 0", "false"},
	"a legacy tensor is written": {"import.go", "Tensor{&p.DLTensor, FlagReadOnly}", "Tensor{&p.DLTensor, 0}"},
	"what is read-only is lent": {"table.c", "if (o->flags & ~(uint64_t)DLPACK_FLAG_BITMASK_IS_COPIED)",
		"if (0)"},
	"a borrowed tensor is written":     {"exchange.c", "v->flags = DLPACK_FLAG_BITMASK_READ_ONLY;", "v->flags = 0;"},
	"what may be written never is":     {"import.go", "t.flags &^= FlagReadOnly", "t.flags |= FlagReadOnly"},
	"an exchange table of any version": {"exchange.go", "case header.Version.Major == MajorVersion:", "default:"},
	"the last reference keeps the tensor": {"object.c", "__ATOMIC_ACQ_REL) != 1) return;",
		"__ATOMIC_ACQ_REL) != 0) return;"},
	"negative extents pass": {"validate.go", "if extent < 0 {", "if extent < -9 {"},
}

// withMutants builds the conformance tests of bindings with all mutants, and returns a function
// that runs them with a named mutant, or with none.
func withMutants(t *testing.T) func(t *testing.T, name string) (string, error) {
	t.Helper()
	m, numbers, all := bindings(t), map[string]int{}, []mutation.Mutant(nil)
	for name, broken := range mutants {
		all = append(all, mutation.Mutant{File: broken.file, Old: broken.old, New: broken.replacement})
		numbers[name] = len(all)
	}
	written := mutation.Write(t, filepath.Join(m.dir, "dlpack"), all)
	require.Empty(t, written.Apart, "mutants that change no statements")
	for _, broken := range mutants {
		if text := readFile(t, m, "dlpack/"+broken.file); filepath.Ext(broken.file) == ".c" {
			m.write(t, map[string]string{"dlpack/" + broken.file: "#include \"" + mutation.Header + "\"\n" + text})
		}
	}
	tests := filepath.Join(m.dir, "tests")
	m.mustRun(t, "test", "-c", "-o", tests, "./dlpack/dlpacktest")
	return func(t *testing.T, name string) (string, error) {
		t.Helper()
		cmd := exec.Command(tests, "-test.short", "-test.failfast")
		cmd.Env = append(os.Environ(), mutation.Env(numbers[name]))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
}

func TestABrokenBindingFailsConformance(t *testing.T) {
	tier.OnlyNightly(t)
	run := withMutants(t)
	out, err := run(t, "")
	require.NoError(t, err, "without a mutant: %s", out)
	for name := range mutants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := run(t, name)
			require.Error(t, err, "all tests passed")
			assert.Contains(t, out, "--- FAIL: TestConformance ", "it ends, and fails")
		})
	}
}

// setting reads the duration of a random test from the environment.
func setting[T any](t *testing.T, name string, parse func(string) (T, error), short, usual T) T {
	t.Helper()
	text := os.Getenv(name)
	switch {
	case text != "":
		value, err := parse(text)
		require.NoError(t, err, name)
		return value
	case testing.Short():
		return short
	}
	return usual
}

// DLPACKGEN_SOAK=10m soaks for longer.
func TestSoak(t *testing.T) {
	dlpacktest.Soak(t, setting(t, "DLPACKGEN_SOAK", time.ParseDuration, 50*time.Millisecond, 2*time.Second))
}

// DLPACKGEN_HOSTILE=10000000 imports that many hostile tensors, in about ten seconds.
// [TestGoAndCJudgeAlike] compares as many with the validator in C.
func TestHostileTensorsByTheMillion(t *testing.T) {
	dlpacktest.Hostile(t, setting(t, "DLPACKGEN_HOSTILE", strconv.Atoi, 10_000, 1_000_000), 2)
}

func TestEveryGlobalNameOfTheConformanceTestsHasThePrefix(t *testing.T) {
	testtool.Require(t, "nm", "binutils")
	m := newModule(t, "example.org/m")
	m.emit(t, "dlpack", "latest", map[string]string{"import": "example.org/a"})
	object := filepath.Join(t.TempDir(), "untrusted.o")
	out, err := exec.Command("gcc", "-c", "-Wall", "-Wextra", "-Werror", "-o", object,
		filepath.Join(m.dir, "dlpack", "dlpacktest", "foreign.c")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	symbols, err := exec.Command("nm", "--extern-only", "--defined-only", "--format=just-symbols", object).Output()
	require.NoError(t, err)
	names := strings.Fields(string(symbols))
	assert.NotEmpty(t, names)
	for _, name := range names {
		assert.True(t, strings.HasPrefix(name, "dlp_94584207_"), name)
	}
}
