package cpp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// The headers assert the properties of their own types; each property is broken here.
func TestPromisesAreAsserted(t *testing.T) {
	tests := []struct{ says, header, old, new string }{
		{"owning costs no room", "managed", "  Struct* managed_ = nullptr;",
			"  Struct* managed_ = nullptr;\n  int more_ = 0;"},
		{"plain structs", "managed", "  ~BasicManaged()", "  virtual ~BasicManaged()"},
		{"owners move and are not copied", "managed", "BasicManaged(BasicManaged&& other) noexcept",
			"BasicManaged(BasicManaged&& other)"},
		{"owners move and are not copied", "managed", "operator=(const BasicManaged&) = delete",
			"operator=(const BasicManaged&) { return *this; }"},
		{"views are copied as bytes", "tensor_view", "  TensorView(const DLTensor& tensor,",
			" public:\n  ~TensorView() {}\n private:\n  TensorView(const DLTensor& tensor,"},
		{"kDLBool is one byte", "dtype", "sizeof(bool) == 1", "sizeof(bool) == 2"},
	}
	for _, tt := range tests {
		dir := headers(t, "1.3")
		mutant.OnceIn(t, filepath.Join(dir, "dlpackgen/"+tt.header+".hpp"), tt.old, tt.new)
		assertRejects(t, tt.says, gcc, including("all.hpp"), "-I", dir)
	}
}

func TestTypesOfElementsHaveTheirWidth(t *testing.T) {
	dir := headers(t, "main")
	header := filepath.Join(dir, "dlpackgen", "storage.hpp")
	text, err := os.ReadFile(header)
	require.NoError(t, err)
	wider := strings.ReplaceAll(string(text), "_t bits;", "_t bits, more;")
	require.NoError(t, os.WriteFile(header, []byte(wider), 0o600))
	out, err := compile(t, gcc, including("storage.hpp"), "-I", dir)
	require.Error(t, err)
	assert.Contains(t, out, "complex32 does not have", "its parts are too wide")
	assert.Len(t, printed(out), strings.Count(storageText(t, dir), "static_assert("), "one for each type: %s", out)
}

// storageText returns the preprocessed text of storage.hpp.
func storageText(t *testing.T, dir string) string {
	t.Helper()
	out, err := compile(t, gcc, including("storage.hpp"), "-I", dir, "-E", "-fdirectives-only")
	require.NoError(t, err, out)
	_, text, found := strings.Cut(out, "struct int4 {")
	require.True(t, found)
	return text
}

// Mistakes that a compiler detects have an explanation.
func TestMisuseIsExplained(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles twenty-two programs")
	}
	testtool.Require(t, gcc.program, gcc.debian)
	tests := map[string]string{
		"struct Bad { Bad() {} }; dlpackgen::Result<Bad> f();\nauto g() { return f().code(); }": "a result is made, and moved, without exceptions",
		"dlpackgen::BasicManaged<int> m;":                                                                           "DLPack has these two structs",
		"auto f(const dlpackgen::TensorView& v) { return v.data_as<void*>(); }":                                     "no data type is known for this C++ type",
		"float f(const dlpackgen::ArrayView<float, 2>& a) { return a(1); }":                                         "a view of rank N takes N indices",
		"float* f(const dlpackgen::ArrayView<float, 2>& a) { return a.at(1, 2, 3); }":                               "a view of rank N takes N indices",
		"auto f(const dlpackgen::ArrayView<float, 0>& a) { return a[0]; }":                                          "a scalar has no index",
		"struct Owner {} owner; auto a = dlpackgen::Builder().build(owner);":                                        "move the owner in",
		"struct Owner {} owner; auto a = dlpackgen::Builder().build_legacy(owner);":                                 "move the owner in",
		"void f(dlpackgen::PackedView<const dlpackgen::int4> v) { v.set(0, {1}); }":                                 "the tensor is only to be read",
		"dlpackgen::PackedView<dlpackgen::float8_e5m2> v;":                                                          "wider elements are not packed",
		"void f(const dlpackgen::TensorView& v) { *dlpackgen::array_of<const float, 1>(v)->data() = 1; }":           "assignment of read-only location",
		"dlpackgen::ArrayView<float, 2> f(const dlpackgen::ArrayView<const float, 2>& a) { return a; }":             "could not convert",
		"dlpackgen::FlatView<float> f(const dlpackgen::FlatView<const float>& a) { return a; }":                     "could not convert",
		"auto f(const dlpackgen::Managed& m) { return m.writable_view(); }":                                         "the versioned struct has a flag for read-only memory",
		"auto f(const DLTensor& t) { return dlpackgen::TensorView::from_raw(&t); }":                                 "no matching function",
		"dlpackgen::Managed f(dlpackgen::Managed& m) { return m; }":                                                 "use of deleted function",
		"auto f(dlpackgen::Managed m) { return dlpackgen::Managed(static_cast<dlpackgen::Managed&&>(m)).view(); }":  "use of deleted function",
		"auto f(DLManagedTensorVersioned* p) { return dlpackgen::unwrap(dlpackgen::Managed::from_raw(p)).view(); }": "use of deleted function",
		"auto f(DLManagedTensorVersioned* p) { return dlpackgen::Managed::from_raw(p)->view(); }":                   "use of deleted function",
		"auto f(DLManagedTensor* p) { return (*dlpackgen::ManagedLegacy::from_raw(p)).writable_view(); }":           "use of deleted function",
		"#include <vector>\nauto a = dlpackgen::Builder().build(std::vector<bool>(3));":                             "its elements are bits",
		"void f() { dlpackgen::Managed::from_raw(nullptr); }":                                                       "nodiscard",
	}
	for source, says := range tests {
		assertRejects(t, says, gcc, including("all.hpp")+source+"\n", flags(gen(t), strict)...)
	}
}

// Uses that an Eigen map forbids have an explanation too.
func TestMisuseOfEigenIsExplained(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles six programs")
	}
	const result = "dlpackgen::Result<dlpackgen::MapOf<float>>"
	tests := map[string]string{
		"auto f(const Eigen::MatrixXd& m) { return dlpackgen::managed_of(m); }":           "use of deleted function",
		"auto f(Eigen::MatrixXd& m) { return dlpackgen::managed_of(m); }":                 "use of deleted function",
		"void f(dlpackgen::MapOf<const float> m) { m(0, 0) = 1; }":                        "lvalue required as left operand",
		"void f(dlpackgen::MapOf<const float> m) { m.setZero(); }":                        "IT_IS_READ_ONLY",
		"void f(" + result + "& a, " + result + "& b) { a = b; }":                         "use of deleted function",
		"using Owned = dlpackgen::OwnedMap<float>; Owned f(const Owned& m) { return m; }": "use of deleted function",
	}
	more := requireEigen(t, "eigen.hpp")
	for source, says := range tests {
		assertRejects(t, says, gcc, including("eigen.hpp")+source+"\n", flags(gen(t), more)...)
	}
}

// Other systems and widths have other conversion rules.
func TestOtherTargetsCompileWithoutWarnings(t *testing.T) {
	for program, debian := range map[string]string{
		"x86_64-w64-mingw32-g++": "mingw-w64", "i686-w64-mingw32-g++": "mingw-w64",
		"aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu", "i686-linux-gnu-g++": "g++-i686-linux-gnu",
	} {
		t.Run(program, func(t *testing.T) {
			cross := compiler{program, debian, "c++17"}
			assertCompiles(t, cross, including("all.hpp"),
				flags(gen(t), strict, []string{"-Wconversion", "-Wshadow"})...)
		})
	}
}
