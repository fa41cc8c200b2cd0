package contract

import (
	"math"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/templates"
)

// The largest finite value of each float dtype, as each language's sources write it. A regular
// expression has a group for the number.
var spellings = []struct{ file, dtype, number string }{
	{"c/scalar.h", "float16", `dtype\.bits == 16 \? (\S+) :`},
	{"c/scalar.h", "bfloat16", `dtype\.code == kDLBfloat\) return (\S+);`},
	{"c/scalar.h", "float32", `dtype\.bits == 16 \? \S+ : (\S+);`},
	{"c/scalar.h", "float64", `dtype\.bits == 64\) return (\S+);`},
	{"go/kernels/values.go", "float16", `dtype\.Bits == 16:\s+largest = (\S+)`},
	{"go/kernels/values.go", "bfloat16", `dlpack\.CodeBFloat:\s+largest = (\S+)`},
	{"go/kernels/values.go", "float32", `dtype\.Bits == 32:\s+largest = (\S+)`},
	{"go/kernels/values.go", "float64", `largest := (\S+)`},
	{"traced/scalars.py", "float16", `_LARGEST = .*"float16": ([\w.]+)`},
	{"traced/scalars.py", "bfloat16", `_LARGEST = .*"bfloat16": float\.fromhex\("([^"]+)"\)`},
	{"traced/scalars.py", "float32", `_LARGEST = .*"float32": float\.fromhex\("([^"]+)"\)`},
	{"kernels/python/dlpackgen_contract_rejected.py", "float16", `(?m)^LARGEST = .*"float16": ([\w.]+)`},
	{"kernels/python/dlpackgen_contract_rejected.py", "bfloat16", `(?m)^LARGEST = .*"bfloat16": ([\w.]+)`},
	{"kernels/python/dlpackgen_contract_rejected.py", "float32", `(?m)^LARGEST = .*"float32": ([\w.]+)`},
}

// spelled returns the value of a number in the notation of any language.
func spelled(t *testing.T, text, pattern string) float64 {
	t.Helper()
	found := regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1)
	require.Len(t, found, 1, pattern)
	number := found[0][1]
	named := map[string]float64{"math.MaxFloat32": math.MaxFloat32, "math.MaxFloat64": math.MaxFloat64}
	if value, ok := named[number]; ok {
		return value
	}
	value, err := strconv.ParseFloat(number, 64)
	require.NoError(t, err, pattern)
	return value
}

func TestLargestIsTheSameInEveryLanguage(t *testing.T) {
	for _, s := range spellings {
		text, err := templates.Files.ReadFile(s.file)
		require.NoError(t, err)
		assert.Equal(t, largestOf(s.dtype), spelled(t, string(text), s.number), "%s of %s", s.dtype, s.file)
	}
	assert.NotEqual(t, largestOf("float16"), spelled(t, "dtype.bits == 16 ? 65505 :", spellings[0].number))
}

// The formula returns the numbers of IEEE 754 and of Go's library.
func TestLargestOfFormats(t *testing.T) {
	assert.Equal(t, 65504.0, largestOf("float16"))
	assert.Equal(t, 0x1.fep127, largestOf("bfloat16"))
	assert.Equal(t, math.MaxFloat32, largestOf("float32"))
	assert.Equal(t, math.MaxFloat64, largestOf("float64"))
	assert.Zero(t, largestOf("int8"))
	for _, dtype := range []string{"float64", "int8", "float8_e5m2"} {
		_, known := Largest(dtype)
		assert.False(t, known, dtype)
	}
}
