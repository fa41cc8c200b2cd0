package targets

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
)

// bitsOfC are the widths of C's integers on 64-bit Linux and macOS.
var bitsOfC = map[string]int{"char": 8, "short": 16, "int": 32, "long": 64, "long long": 64}

// The C of targets python and ufunc reads NumPy's dtypes, and no others.
func TestDTypesOfNumPyAreTheSameInC(t *testing.T) {
	all, scalars := map[string]int{}, map[string]int{}
	for _, d := range emittest.Release(t, "1.3").DTypes {
		if !slices.Contains(emit.NumPyDTypes, d.Name) {
			continue
		}
		key := d.Code + strconv.Itoa(d.Bits)
		all[key] = 1
		if d.Code == "kDLFloat" && d.Bits == 32 || d.Code == "kDLBool" || d.Code == "kDLInt" || d.Code == "kDLUInt" {
			scalars[key] = 1 // a loop's double is the default
		}
	}
	read := map[string]int{}
	for _, m := range emittest.Matches(t, "python/reader_numbers.h", `\bDLPACKGEN_NP_ELEMENT\((kDL\w+), (\d+),`) {
		read[m[1]+m[2]] = 1
	}
	const integer = `\bDLPACKGEN_NP_INTEGER\((kDL\w+), (?:un)?(?:signed )?([a-z ]+)\)`
	for _, m := range emittest.Matches(t, "python/reader_numbers.h", integer) {
		require.NotZero(t, bitsOfC[m[2]], m[0])
		read[m[1]+strconv.Itoa(bitsOfC[m[2]])] = 1
	}
	assert.Equal(t, all, read)
	read = map[string]int{}
	for _, m := range emittest.Matches(t, "ufunc/operands.h", `case DLPACKGEN_DTYPE\((kDL\w+), (\d+), 1\): made`) {
		read[m[1]+m[2]] = 1
	}
	assert.Equal(t, scalars, read)
}
