package shm

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
)

// sizes calls the backend of a folder with structs of every size.
func sizes(t *testing.T, source string) (string, error) {
	t.Helper()
	return testkit.Sizes(t, source, os.Environ(), `-DBACKEND_HEADER="dlpackgen_shm.h"`,
		"-DBACKEND_TABLE()=dlpackgen_shm()->device", filepath.Join(source, "dlpackgen_shm.c"), "-lpthread")
}

// Callers of another interface version, as in tests/devices.
func TestStructsOfEverySize(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the backend under AddressSanitizer")
	}
	for _, source := range []string{backend(t), testkit.Grown(t, backend(t))} {
		out, err := sizes(t, source)
		require.NoError(t, err, out)
		assert.Equal(t, testkit.WantSizes("shm", 3), out)
	}
}

func TestMutantsOfSizesAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the backend with a mutant")
	}
	source := testkit.Mutated(t, parts(t), "device_allocation.h", "if (size >= first) return DLPACKGEN_BACKEND_OK;",
		"if (1) return DLPACKGEN_BACKEND_OK;")
	out, err := sizes(t, source)
	assert.False(t, err == nil && out == testkit.WantSizes("shm", 3))
}
