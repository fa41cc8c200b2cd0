package kernels

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
)

// locals are names of local variables and parameters in the generated functions. An author's
// function may have such a name.
var locals = []string{"usual", "groups", "place", "call", "bytes_0", "dim_n", "type_t", "dtypes", "storage", "passed_x",
	"status", "sites", "bad", "message", "failure", "results", "flags", "made", "devices", "bound_0"}

func TestFunctionsMayHaveTheNamesOfLocalVariables(t *testing.T) {
	dir := t.TempDir()
	config := "version: 1\ndlpack: '1.3'\n" +
		"targets: {c: {path: c}, kernels: {path: kernels}, cpp: {path: cpp}}\nkernels:\n"
	for _, name := range locals {
		config += fmt.Sprintf("  %s: {types: {T: [float32, float64]}, args: {x: 'T[n]', y: 'T[n] out'}}\n", name)
		config += fmt.Sprintf("  returns_%s: {args: {x: 'T[n]'}, returns: {y: 'T[n]'}, "+
			"types: {T: [float32, float64]}, symbol: %s_2}\n", name, name)
	}
	file := filepath.Join(dir, "dlpackgen.yaml")
	require.NoError(t, os.WriteFile(file, []byte(config), 0o600))
	testkit.Generate(t, file, dir)
	text, err := os.ReadFile(filepath.Join(dir, "kernels", "kernels.c"))
	require.NoError(t, err)
	require.Contains(t, string(text), "dlpackgen_try_kernel_usual(", "the functions with a fast path are tested")
	for _, c := range testkit.Compilers {
		if testing.Short() && strings.Contains(c.Name, "+") {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			c.Build(t, filepath.Join(t.TempDir(), "kernels.o"), append(strict, "-c", "-I"+filepath.Join(dir, "c"), "-I"+
				filepath.Join(dir, "kernels"), filepath.Join(dir, "kernels", "kernels.c"))...)
		})
	}
}
