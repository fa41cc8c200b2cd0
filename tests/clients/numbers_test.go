package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// models are platforms with different widths of C's long, and their compilers.
var models = map[string]struct {
	compiler, debian string
	long             string // bits
}{
	"LP64":  {"gcc", "gcc", "64"},
	"LLP64": {"x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64", "32"},
	"ILP32": {"i686-linux-gnu-gcc", "gcc-i686-linux-gnu", "32"},
}

var wrongNumber = regexp.MustCompile(`wrong_[0-9]+`)

// wrongNumbers compiles module/numbers.c, and returns the remaining calls.
func wrongNumbers(t *testing.T, headers, compiler, long string) []string {
	t.Helper()
	object := filepath.Join(t.TempDir(), "numbers.o")
	out, err := exec.Command(compiler, "-std=c11", "-O2", "-ffreestanding", "-Wall", "-Wextra", "-Werror",
		"-DLONG="+long,
		"-I"+headers, "-c", "-o", object, "module/numbers.c").CombinedOutput()
	require.NoError(t, err, "%s", out)
	compiled, err := os.ReadFile(object)
	require.NoError(t, err)
	return wrongNumber.FindAllString(string(compiled), -1)
}

// NumPy's numbers correspond to C types, whose widths depend on the platform.
func TestWidthsOfNumPysNumbers(t *testing.T) {
	for model, on := range models {
		t.Run(model, func(t *testing.T) {
			compiler := testtool.Require(t, on.compiler, on.debian)
			parts := testkit.Parts(t)
			assert.Empty(t, wrongNumbers(t, parts, compiler, on.long))

			other := map[string]string{"32": "64", "64": "32"}[on.long]
			assert.Subset(t, wrongNumbers(t, parts, compiler, other), []string{"wrong_7", "wrong_8"},
				"the mistake is detected")

			fixed := wrongly(t, [3]string{"reader_numbers.h", "(kDLInt, long),", "(kDLInt, char[" + other + " / 8]),"})
			assert.Contains(t, wrongNumbers(t, fixed, compiler, on.long), "wrong_7",
				"a width of another platform is detected")
		})
	}
}
