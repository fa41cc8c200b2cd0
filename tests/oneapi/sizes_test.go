package oneapi

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// sizes calls the backend of a folder with structs of every size.
func sizes(t *testing.T, source string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	testkit.Run(t, testtool.Require(t, "gcc", "gcc"), "-std=gnu11", "-g", testkit.Level(), "-fPIC", "-shared", "-I",
		parts(t),
		"-o", filepath.Join(dir, "libze_loader.so.1"), "testdata/standin.c", "-lpthread")
	return testkit.Sizes(t, source, append(os.Environ(), "LD_LIBRARY_PATH="+dir, "ONEAPI_DEVICE_SELECTOR=level_zero:*"),
		`-DBACKEND_HEADER="dlpackgen_oneapi.h"`, "-DBACKEND_TABLE=dlpackgen_oneapi", "-DBACKEND_USM",
		filepath.Join(source, "dlpackgen_oneapi.c"), "-ldl", "-lpthread")
}

// Callers of another interface version, as in tests/devices.
func TestStructsOfEverySize(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the backend under AddressSanitizer")
	}
	for _, source := range []string{folder(t), testkit.Grown(t, folder(t))} {
		out, err := sizes(t, source)
		require.NoError(t, err, out)
		assert.Equal(t, testkit.WantSizes("oneapi", 4), out)
	}
}

var sizeMutants = []struct{ file, old, fresh string }{
	{"device_allocation.h", "if (size >= first) return DLPACKGEN_BACKEND_OK;", "if (1) return DLPACKGEN_BACKEND_OK;"},
	{"levelzero_pointer.h", " || !DLPACKGEN_BACKEND_HAS(dlpackgen_pointer_attributes, info, bytes)", ""},
	{"usm_pointer.h", `if (!code && info) code = device_check_attributes("check_tensor", info, error);`, ""},
}

func TestMutantsOfSizesAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the backend with mutants")
	}
	for _, m := range sizeMutants {
		out, err := sizes(t, testkit.Grown(t, testkit.Mutated(t, parts(t), m.file, m.old, m.fresh)))
		assert.False(t, err == nil && out == testkit.WantSizes("oneapi", 4), "%s: %s", m.file, m.old)
	}
}
