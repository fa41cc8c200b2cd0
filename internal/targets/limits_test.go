package targets

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/kernel"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	source "github.com/dlpackgen/dlpackgen/spec"
)

// A comment for vendors, and a header without rendered constants, contain a limit as a number.
func TestLimitsInCopiedSourcesAreThoseOfTheSpec(t *testing.T) {
	release, err := spec.Embedded().Release("1.3")
	require.NoError(t, err)
	for _, c := range []struct {
		file, form string
		want       int
	}{
		{"device/dlpackgen_backend.h", `int32_t ndim; /\* 0 to (\d+), the limit of valid tensors \*/`,
			release.Limits.NDim},
		{"c/parameter.h", `#define DLPACKGEN_MOST_PARAMETERS (\d+)\n`, emit.MaxParameters},
	} {
		found := emittest.Matches(t, c.file, c.form)
		require.Len(t, found, 1, c.file)
		assert.Equal(t, strconv.Itoa(c.want), found[0][1], c.file)
	}
	assert.Equal(t, kernel.MaxArguments, emit.MaxParameters, "each described kernel without results fits")
}

// Other limits in the spec reach the constants of C, Go and Python, and the struct of results in
// both languages.
func TestLimitsOfTheSpecAreRendered(t *testing.T) {
	text := mutant.Once(t, string(source.YAML), "  ndim: 64\n  exchange_chain: 64\n",
		"  ndim: 63\n  exchange_chain: 62\n")
	s, diags := spec.Load("changed", []byte(text))
	require.NotNil(t, s, "%v", diags.Sorted())
	release, err := s.Release("1.3")
	require.NoError(t, err)
	lines := map[string][]string{
		"c":       {"#define DLPACKGEN_MAX_NDIM 63\n", "#define DLPACKGEN_MAX_EXCHANGE_APIS 62\n"},
		"go":      {"const MaxNDim = 63\n", "const maxTables = 62\n", "VIEW_NDIM = DLPACKGEN_MAX_NDIM,"},
		"kernels": {"  int64_t shape[63];\n"},
		"jax":     {"\n_MAX_NDIM = 63\n", `("shape", _ctypes.c_int64 * _MAX_NDIM)`},
		"paddle":  {"\n_MAX_NDIM = 63\n", `("shape", _ctypes.c_int64 * _MAX_NDIM)`},
	}
	for _, target := range All() {
		if lines[target.Name] == nil {
			continue
		}
		files, err := target.Emit(&emit.Model{Release: release, Import: "example.com/" + target.Name,
			Options: map[string]string{"module": "lib._kernels"}})
		require.NoError(t, err)
		output := ""
		for _, f := range files {
			output += string(f.Data)
		}
		for _, line := range lines[target.Name] {
			assert.Equal(t, 1, strings.Count(output, line), "%s: %s", target.Name, line)
		}
	}
}
