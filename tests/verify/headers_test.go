// Package verify tests internal/verify with real headers and real compilers: ours of every release
// on every target, Debian's, the one in a Python wheel, and mutants of them.
package verify

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/c"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/verify"
)

var dlpack = spec.Embedded()

// ours emits the header of a release into a folder of the test.
func ours(t *testing.T, version string) string {
	t.Helper()
	release, err := dlpack.Release(version)
	require.NoError(t, err)
	files, err := c.Target.Emit(&emit.Model{Release: release})
	require.NoError(t, err)
	for _, f := range files {
		if filepath.Base(f.Path) == "dlpack.h" {
			return put(t, string(f.Data))
		}
	}
	t.Fatal("target c emits no dlpack.h")
	return ""
}

// put writes a header into a folder of the test.
func put(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dlpack.h")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// findDebian returns the header of libdlpack-dev, or "".
func findDebian(*testing.T) string {
	const path = "/usr/include/dlpack/dlpack.h"
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// findTVMFFI returns the header of the apache-tvm-ffi wheel, or "".
func findTVMFFI(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("DLPACKGEN_TVM_FFI_HEADER"); path != "" {
		return path
	}
	found, err := filepath.Glob("../../.venv/lib/python3*/site-packages/tvm_ffi/include/dlpack/dlpack.h")
	require.NoError(t, err)
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

func run(t *testing.T, req verify.Request) *verify.Result {
	t.Helper()
	result, err := verify.Run(context.Background(), dlpack, req)
	require.NoError(t, err)
	return result
}
