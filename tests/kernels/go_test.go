package kernels

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// goModule creates a module of the generated files, the author's C and the calls of testdata/go.
func goModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	testkit.Generate(t, "testdata/kernels.yaml", dir)
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/go")))
	author, err := os.ReadFile("testdata/author.c")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "author/author.c"), author, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/tried\n\ngo 1.24\n"),
		0o600))
	return dir
}

// goCalls builds the calls.
func goCalls(t *testing.T, dir string, env []string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "calls")
	cmd := exec.Command("go", append(append([]string{"test", "-c", "-vet=off", "-o", program}, flags...), ".")...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOFLAGS=-trimpath", "GOWORK=off"), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// goSays runs the calls with the mutant of a number, 0 for none.
func goSays(t *testing.T, program string, mutant int, env ...string) (string, error) {
	t.Helper()
	here, err := filepath.Abs("testdata/sentences.txt")
	require.NoError(t, err)
	cmd := exec.Command(program)
	cmd.Env = append(append(os.Environ(), "SENTENCES="+here, mutation.Env(mutant)), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Go has the same messages as C, no warnings and no allocations.
func TestGo(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program with cgo for some seconds, and -short was given")
	}
	dir := goModule(t)
	// One build for both.
	flag, err := testtool.Checkout(dir)
	require.NoError(t, err)
	strict := []string{"CGO_CFLAGS=" + testkit.Level() + " -Wall -Werror",
		"GOFLAGS=-trimpath -gcflags=example.com/tried/...=" + flag}
	out, err := testkit.Vet(dir, strict, "./...")
	require.NoError(t, err, out)
	output, err := goSays(t, goCalls(t, dir, strict), 0)
	require.NoError(t, err, output)
}

// The race detector, cgo's pointer checks and AddressSanitizer report no errors. They allocate, so
// the test of allocations is omitted.
func TestGoUnderEachDetector(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs with cgo for some seconds, and -short was given")
	}
	dir := goModule(t)
	for name, detector := range map[string]struct{ env, flag string }{
		"race": {"", "-race"}, "cgocheck2": {"GOEXPERIMENT=cgocheck2", "-tags=dlpackcheck"}, "asan": {"", "-asan"},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "race" {
				tier.OnlyNightly(t)
			}
			program := goCalls(t, dir, []string{detector.env, "CGO_CFLAGS=-O0"}, detector.flag)
			cmd := exec.Command(program, "-test.skip=AllocateNothing")
			here, err := filepath.Abs("testdata/sentences.txt")
			require.NoError(t, err)
			cmd.Env = append(os.Environ(), "SENTENCES="+here)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
		})
	}
}

// The files with mistakes.
const (
	goC      = "go/dlpack/kernels/call.c"
	goValues = "go/dlpack/kernels/values.go"
	goCalled = "go/dlpack/kernels/kernels.go"
)

//mutants:in templates/go/kernels/call.c.tmpl
var goMistakesInC = map[string]mistake{
	"results have no strides": {"(void)dlpackgen_compact_strides(wanted->ndim, tensor->shape, tensor->strides);", ""},
	"results have no shape":   {"tensor->shape[d] = wanted->shape[d];", ""},
	"results are not aligned": {"tensor.data = (void*)(((uintptr_t)made + head + DLPACKGEN_ALIGNED - 1) / DLPACKGEN_ALIGNED * DLPACKGEN_ALIGNED);",
		"tensor.data = (void*)(((uintptr_t)made + head + DLPACKGEN_ALIGNED - 1) / DLPACKGEN_ALIGNED * DLPACKGEN_ALIGNED + 8);"},
	"results lie anywhere": {"if (device.device_type != kDLCPU) {", "if (0) {"},
	"texts do not end":     {"buffer[size] = 0;", "buffer[size] = 'x';"},
	"long texts are dropped": {"if (size >= capacity) buffer = *large = malloc(size + 1);",
		"if (size >= capacity) size = capacity - 1;"},
	"arguments are not named": {"made->argument = message->argument;", "made->argument = NULL;"},
	"every class is the same": {"made->class_name = dlpackgen_class_of(status);",
		"made->class_name = dlpackgen_class_of(1);"},
}

//mutants:in templates/go/kernels/*
var goMistakes = map[string]mutation.Mutant{
	"flags are lost": {File: goCalled, Old: "C.uint64_t(x.Flags()), C.int64_t(a1_.integer)",
		New: "0, C.int64_t(a1_.integer)"},
	"flags of results are lost": {File: goCalled,
		Old: "passed4_, false, pointerOf(unsafe.Pointer(y.Raw())), C.uint64_t(y.Flags())",
		New: "passed4_, false, pointerOf(unsafe.Pointer(y.Raw())), 0"},
	"missing results are made": {File: goCalled, Old: "passed4_, false, pointerOf", New: "passed4_, true, pointerOf"},
	"lists have no items": {File: goValues, Old: "unsafe.Pointer(unsafe.SliceData(list))",
		New: "unsafe.Pointer(nil)"},
	"None is the default": {File: goValues, Old: "if m.state == leftOut {", New: "if m.state != given {"},
	"None is a value":     {File: goValues, Old: "case none:", New: "case none + 10:"},
	"integers are cut": {File: goValues, Old: "case isReal || !n.within(dtype):",
		New: "case isReal && !n.within(dtype):"},
	"integers need not fit floats": {File: goValues, Old: "case isReal && representsFloat(dtype, n.real):",
		New: "case isReal && n.kind != float:"},
	"floats are cut": {File: goValues, Old: "math.Abs(value) <= largest", New: "largest > 0"},
	"texts end at a NUL": {File: goValues, Old: "if strings.IndexByte(text, 0) >= 0 {",
		New: "if strings.IndexByte(text, 0) > 5 {"},
	"numbers are of any kind": {File: goValues,
		Old: "case !isReal && (n.kind == float || (n.kind == truth && kind != truth)):",
		New: "case n.kind > truth:"},
	"bools are any integer":  {File: goValues, Old: "return uint64(n.integer) <= 1", New: "return true"},
	"numbers may be missing": {File: goValues, Old: "if n.kind == noNumber {", New: "if n.kind > truth {"},
}

// Each mistake fails a test of the calls.
func TestMistakesAreSeenFromGo(t *testing.T) {
	tier.OnlyNightly(t)
	if testing.Short() {
		t.Skip("builds a program with all mistakes, and -short was given")
	}
	dir := goModule(t)
	f := flaw(t, dir, in(goC, goMistakesInC), goMistakes)
	includeMutants(t, dir)
	program := goCalls(t, dir, []string{"CGO_CFLAGS=-O0"})
	output, err := goSays(t, program, 0)
	require.NoError(t, err, output)
	f.each(t, func(t *testing.T, number int) {
		output, err := goSays(t, program, number)
		assert.Error(t, err, output)
	})
}

// includeMutants includes the header of mutants in the source: build flags would also apply to the
// assembler of Go's runtime.
func includeMutants(t *testing.T, dir string) {
	t.Helper()
	const first = "#include <stdlib.h>\n"
	file := filepath.Join(dir, goC)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	header := "#include \"" + filepath.Join(dir, mutation.Header) + "\"\n" + first
	require.NoError(t, os.WriteFile(file, []byte(mutation.Once(t, string(text), first, header)), 0o600))
}
