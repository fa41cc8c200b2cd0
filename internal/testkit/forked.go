package testkit

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

//go:embed forked.py
var forkedSource string

var forked = strings.TrimSpace(forkedSource)

// Torch are the modules of scripts that use torch. The last two import 900 others, and torch itself
// imports them for torch.compile, nested tensors and fake tensors.
const Torch = "numpy,torch,torch._dynamo.testing,torch._inductor.compile_fx"

// JAX are the modules of scripts that use JAX.
const JAX = "numpy,jax"

// Frameworks are the modules of scripts that use several frameworks, in any order, or Paddle, which
// imports torch.
const Frameworks = Torch + ",jax,tvm_ffi,onnxruntime,paddle"

// Modules returns the modules of a script that uses some libraries.
func Modules(libraries ...string) string {
	uses := func(library string) bool { return slices.Contains(libraries, library) }
	switch {
	case uses("paddle"):
		return Frameworks
	case uses("torch"), uses("tvm-ffi"): // which imports torch
		return Torch
	case uses("jax"):
		return JAX
	}
	return "numpy"
}

// Forked returns a command that runs a script of Python (`SCRIPT ARGUMENT ...`, also with -W, -c or
// -m before it) in a fork of a process that has imported the modules. All packages of a `go test`
// share that process, which ends with it. Scripts about Python's shutdown, memory, or the order of
// imports must not use it. With a preloaded library, such as a sanitizer, the script has its own
// process.
func Forked(python, modules string, args ...string) *exec.Cmd {
	if runtime.GOOS != "linux" {
		return exec.Command(python, args...)
	}
	all := append([]string{"-S", "-E", "-c", forked, fmt.Sprint(owner()), modules}, args...)
	return exec.Command(python, all...)
}

// ForkedProgram returns a program that takes the arguments of Python, and runs scripts as Forked.
func ForkedProgram(t testing.TB, python, modules string) string {
	t.Helper()
	dir := t.TempDir()
	file, source := filepath.Join(dir, "python"), filepath.Join(dir, "forked.py")
	text := "#!/bin/sh\nexec '" + python + "' "
	if runtime.GOOS == "linux" {
		text += fmt.Sprintf("-S -E -c \"$(cat '%s')\" %d %s ", source, owner(), modules)
	}
	require.NoError(t, os.WriteFile(source, []byte(forked), 0o600))
	require.NoError(t, os.WriteFile(file, []byte(text+"\"$@\"\n"), 0o700)) //nolint:gosec // a program
	return file
}

// owner is the process of `go test`, or this one if something else started it.
func owner() int {
	parent := os.Getppid()
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", parent))
	if err == nil && strings.TrimSpace(string(name)) == "go" {
		return parent
	}
	return os.Getpid()
}
