package python

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// attackedKernels describes functions with a hostile argument at each position and two tensors, and
// their C, which keeps its arguments. With a second device, producers are queried for theirs.
func attackedKernels() (config, author string) {
	var kernels, functions strings.Builder
	kernels.WriteString("  read: {args: {x: 'any[...] strided'}, symbol: attacked_read}\n")
	for kind, line := range map[string]string{"tensor": "any[_] strided", "scalar": "int"} {
		for position := range 3 {
			for name, beside := range map[string]string{"f": "float32[n] strided", "a": "any[n] strided"} {
				for _, gil := range []string{"", ", gil: held"} {
					name := fmt.Sprintf("%s_%d_%s%d", kind, position, name, len(gil))
					args := []string{"x: '" + beside + "'", "y: '" + beside + "'"}
					args = append(args[:position:position],
						append([]string{"h: '" + line + "'"}, args[position:]...)...)
					fmt.Fprintf(&kernels, "  %s: {args: {%s}, devices: {kDLCPU: {}, kDLCUDA: {symbol: %s_cuda}}%s}\n",
						name,
						strings.Join(args, ", "), name, gil)
					fmt.Fprintf(&functions, "%s_%d(%s)\n", strings.ToUpper(kind), position, name)
				}
			}
		}
	}
	return "version: 1\ndlpack: '1.3'\ntargets: {c: {path: c}, kernels: {path: kernels}, python: {path: python, " +
		"module: attacked}}\nkernels:\n" + kernels.String(), functions.String()
}

// Hostile code at any place cannot change properties that a generated module has checked. Its
// errors name the function and the argument, and the sanitizers report nothing.
func TestAttackersOfDescribedKernels(t *testing.T) {
	b := newBuilder(t)
	if testing.Short() {
		t.Skip("runs hundreds of attacks, and -short was given")
	}
	if !testtool.Has(b.python, "numpy", "torch") {
		t.Skip("needs numpy and torch: pip install -r tests/requirements-frameworks.txt")
	}
	dir := t.TempDir()
	config, author := attackedKernels()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dlpackgen.yaml"), []byte(config), 0o600))
	testkit.Generate(t, filepath.Join(dir, "dlpackgen.yaml"), dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "attacked.inc"), []byte(author), 0o600))
	for _, name := range []string{"checked.abi3.so", "untrusted.abi3.so"} {
		require.NoError(t, os.Symlink(filepath.Join(modules(t), name), filepath.Join(dir, name)))
	}
	b.headers = filepath.Join(dir, "c")
	flags, preload := testkit.RequireSanitizers(t)
	b.flags = append(slices.Concat(b.flags, flags), "-DDLPACKGEN_WITHOUT_CUDA", "-g", "-I", dir,
		"-I", filepath.Join(dir, "kernels"), "-I", filepath.Join(dir, "python"))
	b.build(t, dir, "attacked", filepath.Join(dir, "python", "attacked.c"), filepath.Join(dir, "kernels", "kernels.c"),
		"module/attacked.c")
	attacks := []string{"test_numpy_and_torch", "test_a_trusted_table_and_ours"}
	out, err := script(t, b.python, dir, []string{"DESCRIBED=1",
		"LD_PRELOAD=" + preload + " " + testkit.RequireRuntime(t, "libstdc++.so.6"),
		"ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:alloc_dealloc_mismatch=0", "PYTHONMALLOC=malloc"},
		append([]string{"attackers.py"}, attacks...)...)
	require.NoError(t, err, out)
	assert.Len(t, passed.FindAllString(out, -1), len(attacks), out)
}
