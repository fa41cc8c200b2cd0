package cpp

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// Debian's newest clang with its own library is the only one here with std::mdspan.
var newest = compiler{"clang++-19", "clang-19 libc++-19-dev libc++abi-19-dev", "c++23"}

const hasMdspan = "#include <version>\n#ifndef __cpp_lib_mdspan\n#error it has none\n#endif\n"

func TestStandardViews(t *testing.T) {
	testtool.Require(t, newest.program, newest.debian)
	library := []string{"-stdlib=libc++", "-D_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_DEBUG"}
	if out, err := compile(t, newest, hasMdspan, library...); err != nil {
		t.Skipf("needs a library with std::mdspan: apt-get install %s\n%s", newest.debian, out)
	}
	if testing.Short() {
		t.Skip("compiles with another standard library")
	}
	t.Parallel()
	library = append(library, "-fsanitize=undefined", "-fsanitize-trap=all") // needs no separate library
	for _, p := range programs {
		if p.source != "views.cpp" && !tier.IsNightly() {
			continue
		}
		least := p.least
		if p.source == "views.cpp" {
			least = `[4-9]\d` // including those of std::mdspan
		}
		passes(t, build(t, newest, []string{p.source}, flags(gen(t), strict, library)...), least)
	}
}

// The short float types of C++23 under their names, for libraries without them: the macros state
// that the compiler has the types.
func TestFloatTypesOfCpp23(t *testing.T) {
	stand := []string{"-I", "testdata/cxx23", "-D__STDCPP_FLOAT16_T__=1", "-D__STDCPP_BFLOAT16_T__=1"}
	source := including("stdfloat.hpp") + `
static_assert(dlpackgen::same_dtype(dlpackgen::dtype_of<std::float16_t>, dlpackgen::dtypes::float16));
static_assert(dlpackgen::same_dtype(dlpackgen::dtype_of<const std::bfloat16_t>, dlpackgen::dtypes::bfloat16));
`
	latest := clang
	latest.standard = "c++2b"
	assertCompiles(t, latest, source, flags(gen(t), stand)...)
	out, err := compile(t, latest, source, gen(t)...)
	assert.Error(t, err, "without the types, there are no macros: %s", out)
}
