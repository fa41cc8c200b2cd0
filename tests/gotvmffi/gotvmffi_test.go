// Package gotvmffi calls tvm-ffi functions from Go: of a library generated from a description, of
// libtvm_ffi, and of TVM.
package gotvmffi

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// module is a Go module of generated files with the calls, and the libraries that they load.
type module struct {
	dir string
	env []string
}

// prepare generates, and builds the library of kernels.
func prepare(t *testing.T) module {
	t.Helper()
	if testing.Short() {
		t.Skip("builds programs with cgo for some seconds, and -short was given")
	}
	python := testtool.RequirePython(t)
	m := module{dir: t.TempDir()}
	host := filepath.Join(testtool.RequirePackage(t, python, "tvm_ffi", "make setup"), "lib")
	m.env = []string{"PLAIN=" + filepath.Join(m.dir, "plain.so"), "RUNTIME=" + filepath.Join(host, "libtvm_ffi.so"),
		"ODD=" + filepath.Join(m.dir, "odd.so"), "TESTING=" + filepath.Join(host, "libtvm_ffi_testing.so")}
	m.generate(t)
	author, err := filepath.Abs("../kernels/testdata/author.c")
	require.NoError(t, err)
	direct, err := filepath.Abs("../tvmffi/testdata/direct.c")
	require.NoError(t, err)
	m.run(t, testtool.RequireCompiler(t, "gcc", "gcc"), "-std=c11", testkit.Level(), "-fPIC", "-shared",
		"-fvisibility=hidden", "-Ic",
		"-Ikernels", "-o", "plain.so", "c_tvmffi/kernels_tvmffi.c", "kernels/kernels.c", author, direct, "-pthread")
	odd, err := filepath.Abs("testdata/odd.c")
	require.NoError(t, err)
	m.run(t, testtool.RequireCompiler(t, "gcc", "gcc"), "-shared", "-fPIC", "-Wall", "-Werror", "-o", "odd.so", odd)
	return m
}

// generate generates from the description of tests/tvmffi, together with the Go bindings.
func (m module) generate(t *testing.T) {
	t.Helper()
	config, err := os.ReadFile("../tvmffi/testdata/dlpackgen.yaml")
	require.NoError(t, err)
	const callers = "  tvmffi: {path: tvmffi, legacy: tvm_}\n"
	file := filepath.Join(m.dir, "dlpackgen.yaml")
	require.NoError(t, os.WriteFile(file, []byte(mutation.Once(t, string(config), callers,
		"  tvmffi: {path: c_tvmffi}\n  go: {path: dlpack, import: example.com/tried/dlpack}\n")), 0o600))
	testkit.Generate(t, file, m.dir)
	calls, err := os.ReadFile("testdata/calls_test.go")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(m.dir, "calls_test.go"), calls, 0o600))
	mod := "module example.com/tried\n\ngo 1.24\n"
	require.NoError(t, os.WriteFile(filepath.Join(m.dir, "go.mod"), []byte(mod), 0o600))
}

func (m module) run(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = m.dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// build compiles the calls.
func (m module) build(t *testing.T, env string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "calls")
	cmd := exec.Command("go", append(append([]string{"test", "-c", "-o", program}, flags...), ".")...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath", "GOWORK=off", env)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// calls runs the tests without libtvm_ffi, then the others, each kind in a separate process.
func (m module) calls(program string, env ...string) (string, error) {
	for _, args := range [][]string{{"-test.run=TestPlain"}, {"-test.skip=TestPlain"}} {
		for _, e := range env {
			if e == noCounts {
				args = append(args, "-test.skip=TestPlain|AllocateNothing")
			}
		}
		cmd := exec.Command(program, args...)
		cmd.Env = append(append(os.Environ(), m.env...), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return string(out), err
		}
	}
	return "", nil
}

// noCounts excludes the test that nothing is allocated.
const noCounts = "ALLOCATIONS=any"

// Go calls our library and libtvm_ffi's functions, which call Go functions.
func TestCalls(t *testing.T) {
	m := prepare(t)
	out, err := testkit.Vet(m.dir, []string{"GOWORK=off"}, "./dlpack/tvmffi", ".")
	require.NoError(t, err, out)
	printed, err := m.calls(m.build(t, "CGO_CFLAGS=-Wall -Werror -O2"))
	require.NoError(t, err, printed)
}

// Neither the race detector nor AddressSanitizer reports an error.
func TestCallsUnderEachDetector(t *testing.T) {
	m := prepare(t)
	for _, flag := range []string{"-race", "-asan"} {
		t.Run(flag, func(t *testing.T) {
			if flag == "-asan" {
				tier.OnlyNightly(t)
			}
			printed, err := m.calls(m.build(t, "CGO_CFLAGS="+testkit.Level()+" -g", flag), noCounts,
				"ASAN_OPTIONS=detect_leaks=0",
				preloaded(t, flag))
			require.NoError(t, err, printed)
			assert.NotContains(t, printed, "AddressSanitizer")
		})
	}
}

// preloaded makes AddressSanitizer find, at its start, the throwing functions, which libtvm_ffi
// brings along.
func preloaded(t *testing.T, flag string) string {
	t.Helper()
	libraries := ""
	for _, name := range []string{"libasan.so", "libstdc++.so.6"} {
		path, err := exec.Command(testtool.Require(t, "g++", "g++"), "-print-file-name="+name).Output()
		require.NoError(t, err)
		if flag == "-asan" {
			libraries += " " + strings.TrimSpace(string(path))
		}
	}
	return "LD_PRELOAD=" + strings.TrimSpace(libraries)
}

// Go calls TVM's library, TVM's compiled functions, and a kernel of xgrammar's wheel, with TVM's
// own libtvm_ffi.
func TestTVM(t *testing.T) {
	m := prepare(t)
	python := filepath.Join(golden.Root(t), ".cache/tvm/bin/python")
	const installation = "make setup, which installs the wheels of tests/requirements-tvm.txt"
	tvm, folder := testtool.RequirePackage(t, python, "tvm", installation), t.TempDir()
	host := testtool.RequirePackage(t, python, "tvm_ffi", installation)
	printed, err := exec.Command(python, "testdata/compile_with_tvm.py", folder).CombinedOutput()
	require.NoError(t, err, "%s", printed)
	cmd := exec.Command(m.build(t, ""), "-test.v", "-test.run=TestTVM|TestForeignWheel")
	cmd.Env = append(append(os.Environ(), m.env...), "TVM="+folder, "RUNTIME="+host+"/lib/libtvm_ffi.so",
		"TVM_RUNTIME="+tvm+"/lib/libtvm_runtime.so",
		"XGRAMMAR="+filepath.Dir(tvm)+"/xgrammar/libxgrammar_bindings.so")
	printed, err = cmd.CombinedOutput()
	require.NoError(t, err, "%s", printed)
	assert.Contains(t, string(printed), "PASS: TestForeignWheel")
	assert.NotContains(t, string(printed), "SKIP")
}

// The files with mistakes.
const (
	calling   = "dlpack/tvmffi/call.go"
	header    = "dlpack/tvmffi/call.h"
	loading   = "dlpack/tvmffi/call.c"
	values    = "dlpack/tvmffi/values.go"
	objects   = "dlpack/tvmffi/objects.go"
	functions = "dlpack/tvmffi/functions.go"
	libraries = "dlpack/tvmffi/library.go"
	failures  = "dlpack/tvmffi/errors.go"
)

// mistakes remove a guard. The variable never is in the package.
var mistakes = map[string]mutation.Mutant{
	"closed libraries are called": {File: calling, Old: "if !open {", New: "if !open && never {"},
	"many arguments are few":      {File: calling, Old: "if len(args) > few {", New: "if len(args) > few+8 {"},
	"conversions are results": {File: calling, Old: "if reply.index < 0 && reply.size != 0 {",
		New: "if reply.index < 0 && reply.size != 0 && never {"},
	"failures are conversions": {File: calling, Old: "if reply.index < 0 && reply.size != 0 {",
		New: "if reply.index < 0 {"},
	"texts are plain": {File: header, Old: "if (__builtin_expect(kinds > DLPACKGEN_TVM_FFI_DLTENSOR, 0)) {",
		New: "if (__builtin_expect(kinds > 15 + 0 * DLPACKGEN_TVM_FFI_DLTENSOR, 0)) {"},
	"the handler of SIGSEGV is lost": {File: loading, Old: "(void)sigaction(SIGSEGV, &before, NULL);",
		New: "(void)before;"},
	"texts end at a NUL": {File: calling, Old: "if strings.IndexByte(text, 0) >= 0 {",
		New: "if strings.IndexByte(text, 0) > 99 {"},
	"texts do not end": {File: calling, Old: "m.text = append(append(m.text, text...), 0)",
		New: "m.text = append(append(m.text, text...), 'x')"},
	"what is invalid is passed": {File: calling, Old: "case v.index < 0:", New: "case v.index < 0 && never:"},
	"released objects are passed": {File: calling, Old: "case v.index >= firstObject && !v.alive():",
		New: "case v.index >= firstObject && !v.alive() && never:"},
	"read-only tensors are written": {File: values, Old: "if t.IsReadOnly() {", New: "if t.IsReadOnly() && never {"},
	"empty tensors are passed": {File: values, Old: "if p == nil || t.Raw().Strides == 0 {",
		New: "if p != nil && t.Raw().Strides == 0 {"},
	"strides are left out": {File: values, Old: "if err == nil && dl.NDim != 0 {",
		New: "if err == nil && dl.NDim > 99 {"},
	"released functions are passed": {File: values, Old: "if !open || !f.object {", New: "if !open && !f.object {"},
	"every kind is right":           {File: values, Old: "if fits {", New: "if fits || !never {"},
	"objects are never owned": {File: objects, Old: "if p.index < firstObject || !owned {",
		New: "if p.index < firstObject || !owned || !never {"},
	"objects are released twice": {File: objects, Old: "if address := (*owner)(v.ptr).end(); address != 0 {",
		New: "if address, _ := (*owner)(v.ptr).get(); address != 0 {"},
	"released objects are alive": {File: objects, Old: "return open", New: "return open || !never"},
	"borrowed tensors are kept": {File: objects, Old: "case v.index == isDLTensor:",
		New: "case v.index == isDLTensor && never:"},
	"failed tensors leak": {File: objects, Old: "_ = m.Init(managed)", New: "_ = managed"},
	"old tensors leak":    {File: objects, Old: "if managed == nil {", New: "if managed == nil && never {"},
	"no allocator is one": {File: objects, Old: "if api == nil || api.ManagedTensorAllocator == 0 {",
		New: "if api == nil && never {"},
	"references are not followed": {File: objects, Old: "case isRValue:", New: "case isRValue + 1000:"},
	"texts of C are numbers":      {File: objects, Old: "case rawText:", New: "case rawText + 1000:"},
	"panics unwind C": {File: functions, Old: "if cause := recover(); cause != nil {",
		New: "if cause := any(nil); cause != nil {"},
	"kinds of errors are lost": {File: functions, Old: "if errors.As(err, &known) {",
		New: "if errors.As(err, &known) && never {"},
	"borrowed tensors are returned": {File: functions, Old: "case v.index < 0 || v.index == isDLTensor:",
		New: "case v.index < 0:"},
	"released results are returned": {File: functions, Old: "if (*owner)(v.ptr).end() == 0 {",
		New: "if (*owner)(v.ptr).end() == 0 && never {"},
	"missing functions are found": {File: functions, Old: "if reply.index >= 0 && reply.bits == 0 {",
		New: "if reply.index >= 0 && reply.bits == 0 && never {"},
	"unknown flags are accepted": {File: functions, Old: "if flags&^Replace != 0 {",
		New: "if flags&^Replace != 0 && never {"},
	"names in use are always replaced": {File: functions, Old: "C.int(flags&Replace))", New: "C.int(flags|Replace))"},
	"missing members are found": {File: functions, Old: "if found.IsNone() {",
		New: "if found.IsNone() && never {"},
	"no function is one": {File: functions, Old: "if f == nil {", New: "if f == nil && never {"},
	"callbacks leak":     {File: functions, Old: "cgo.Handle(handle).Delete()", New: "_ = cgo.Handle(handle)"},
	"no path is one": {File: libraries, Old: "if path == \"\" || strings.IndexByte(path, 0) >= 0 {",
		New: "if never {"},
	"names end at a NUL": {File: libraries, Old: "case strings.IndexByte(name, 0) >= 0:",
		New: "case strings.IndexByte(name, 0) > 99:"},
	"closed libraries are searched": {File: libraries, Old: "case !open:", New: "case !open && never:"},
	"any library is libtvm_ffi": {File: libraries, Old: "return failf(ErrOpen, \"%s: it is not libtvm_ffi\", path)",
		New: "return nil"},
	"nothing needs libtvm_ffi": {File: libraries, Old: "return ErrRuntime", New: "return nil"},
	"every status is an error": {File: failures, Old: "case reply.index != -1:",
		New: "case reply.index != -1 && never:"},
}

// Each mistake fails a test of the calls.
func TestMistakesAreSeen(t *testing.T) {
	tier.OnlyNightly(t)
	m := prepare(t)
	var names []string
	var all []mutation.Mutant
	for name, mistake := range mistakes {
		names, all = append(names, name), append(all, mistake)
	}
	written := mutation.Write(t, m.dir, all)
	program := m.build(t, "CGO_CFLAGS=-O0 "+strings.Join(written.Flags, " "))
	printed, err := m.calls(program, mutation.Env(0))
	require.NoError(t, err, printed)
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			require.NotContains(t, written.Apart, i+1, "it is not a statement or an expression")
			printed, err := m.calls(program, mutation.Env(i+1))
			assert.Error(t, err, printed)
		})
	}
}
