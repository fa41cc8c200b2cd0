package devices

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
)

// sized are the backends that are called with structs of every size.
var sized = []struct {
	end           backEnd
	source, parts func(testing.TB) string
	driver        func(testing.TB, ...string) string
	macro         string
}{
	{cudaEnd, cuda, cudaParts, standin, "-DPLAIN"},
	{rocmEnd, rocm, rocmParts, hipStandin, hip6},
	{acmeEnd, acme, acmeParts, acmeDriver, "-DPLAIN"},
}

// sizes returns the results of a backend of the table, built from a folder.
func sizes(t *testing.T, i int, source string) (string, error) {
	t.Helper()
	row := sized[i]
	env := append(os.Environ(), "LD_LIBRARY_PATH="+row.driver(t, row.macro))
	return testkit.Sizes(t, source, env, append(append(row.end.macros(), row.end.sources(t, source)...),
		"-ldl", "-lpthread")...)
}

// Callers of another interface version: structs that are too small are rejected, and memory after a
// struct is neither read nor written, even by a backend with more members.
func TestStructsOfEverySize(t *testing.T) {
	if testing.Short() {
		t.Skip("builds each backend twice under AddressSanitizer")
	}
	for i, row := range sized {
		for _, source := range []string{row.source(t), testkit.Grown(t, row.source(t))} {
			out, err := sizes(t, i, source)
			require.NoError(t, err, out)
			assert.Equal(t, testkit.WantSizes(row.end.name, 3), out)
		}
	}
}

// sizeMutants break the rule for extensible structs, in a backend of the table.
var sizeMutants = []struct {
	backend          int
	file, old, fresh string
}{
	{0, "device_allocation.h", "if (size >= first) return DLPACKGEN_BACKEND_OK;",
		"if (1) return DLPACKGEN_BACKEND_OK;"},
	{0, "device_allocation.h", "info->version = version, info->devices = devices, info->reserved = 0;",
		"*info = (dlpackgen_driver_info){.size = sizeof *info, .version = version, .devices = devices};"},
	{0, "device_allocation.h", "info->base = base, info->bytes = bytes;",
		"*info = (dlpackgen_pointer_attributes){.size = info->size, .device = device, .base = base, .bytes = bytes};"},
	{2, "vendor_load.h",
		"if (!code) device_return_attributes(found.device, found.ordinal, found.base, found.bytes, info);",
		"if (!code) *info = found;"},
}

func TestMutantsOfSizesAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the backends with mutants")
	}
	for _, m := range sizeMutants {
		row := sized[m.backend]
		out, err := sizes(t, m.backend, testkit.Grown(t, testkit.Mutated(t, row.parts(t), m.file, m.old, m.fresh)))
		assert.False(t, err == nil && out == testkit.WantSizes(row.end.name, 3), "%s: %s", m.file, m.old)
	}
}
