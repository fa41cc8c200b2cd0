package cpp

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlpackgen/dlpackgen/internal/mutant"
)

// numbers compares the numbers that C++ and C exchange: data types, options, limits.
func numbers(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("#include <dlpackgen/core.hpp>\n#include <dlpackgen/parameter.h>\n#include <dlpackgen/tensor.h>\n" +
		"using namespace dlpackgen;\n" +
		"#define SAME(a, b) " +
		"static_assert(static_cast<std::int64_t>(a) == static_cast<std::int64_t>(b), \"differs from C\")\n")
	for _, d := range release(t, "1.3").DTypes {
		fmt.Fprintf(&b, "SAME(as_number({%s, %d, %d}), DLPACKGEN_DTYPE(%[1]s, %[2]d, %[3]d));\n", d.Code, d.Bits,
			d.Lanes)
	}
	b.WriteString(`SAME(as_number({255, 254, 65533}), DLPACKGEN_DTYPE(255, 254, 65533));
static_assert(same_dtype(from_number(DLPACKGEN_DTYPE(255, 254, 65533)), {255, 254, 65533}), "differs from C");
SAME(Accept::null_strides, DLPACKGEN_ACCEPT_NULL_STRIDES);
SAME(Accept::unknown_device, DLPACKGEN_ACCEPT_UNKNOWN_DEVICE);
SAME(Accept::unknown_code, DLPACKGEN_ACCEPT_UNKNOWN_CODE);
SAME(max_ndim, DLPACKGEN_MAX_NDIM);
`)
	return b.String()
}

func TestNumbersAreThoseOfC(t *testing.T) {
	assertCompiles(t, gcc, numbers(t), gen(t)...)
	for _, change := range [][3]string{
		{"dtype.hpp", "std::uint32_t{dtype.bits} << 8", "std::uint32_t{dtype.bits} << 16"},
		{"validate.hpp", "unknown_code = 4 ", "unknown_code = 8 "},
		{"validate.hpp", "max_ndim = DLPACKGEN_MAX_NDIM;", "max_ndim = 32;"},
		{"parameter.h", "(uint32_t)(lanes) << 16", "(uint32_t)(lanes) << 24"},
	} {
		dir := headers(t, "1.3")
		mutant.OnceIn(t, filepath.Join(dir, "dlpackgen/"+change[0]), change[1], change[2])
		assertRejects(t, "differs from C", gcc, numbers(t), "-I", dir)
	}
}
