package rules

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

const (
	inC   = "gen/c/dlpackgen/rules.h"
	inCxx = "gen/cpp/dlpackgen/"
	inGo  = "gen/go/dlpack/"
	inPy  = "gen/c/dlpackgen_python.c"
	inAll = "gen/c/dlpackgen/checker.h"
)

// mutants breaks each result in each language once; the comparison must detect it.
var mutants = []struct{ quantity, file, old, new string }{
	{"validity", inC, "dtype.bits == 0 || ", ""},
	{"count", inC, "uint64_t product = 1;", "uint64_t product = 2;"},
	{"bytes", inC, "return (bits + 7) / 8 * 8;", "return bits;"},
	{"low", inC, "tensor->strides[i] < 0 ? below : above", "above"},
	{"high", inC, "dlpackgen_bytes_of_(above + 1, ", "dlpackgen_bytes_of_(above, "},
	{"layout", inC, " || tensor->shape[i] == 1;", ";"},
	{"column-major", inC, "tensor->shape[i] != 1 && (tensor->strides ? tensor->strides[i] : 1) != expected",
		"(tensor->strides ? tensor->strides[i] : 1) != expected"},
	{"column-major without strides", inC, "(tensor->strides ? tensor->strides[i] : 1) != expected",
		"(tensor->strides ? tensor->strides[i] : expected) != expected"},
	{"column-major and empty", inC, "count != 0 && i < tensor->ndim", "i < tensor->ndim"},
	{"inner-contiguous", inC, "tensor->strides[last] == 1) return 1;", "tensor->strides[last] != 0) return 1;"},
	{"inner-contiguous with one column", inC, "!tensor->strides || tensor->shape[last] < 2 ||", "!tensor->strides ||"},
	{"inner-contiguous and empty", inC, "== DLPACKGEN_OK && count == 0;", "== DLPACKGEN_OK && count < 0;"},
	{"contiguous in any order", inC, "if (expected == before) return 0;", "if (expected == before) return 1;"},
	{"contiguous in reversed order", inC, "if (dlpackgen_magnitude_(tensor->strides[i]) == expected)",
		"if ((uint64_t)tensor->strides[i] == expected)"},
	{"alignment", inC, "dtype.bits / parts", "dtype.bits"},
	{"strides", inC, "return extent < 2 ||", "return extent == 1 ||"},
	{"overlap", inC, "if (step <= covered) return 1;", "if (step < covered) return 1;"},
	{"allocated code", inC, "got.code != wanted.code || ", ""},
	{"allocated bits", inC, "got.bits != wanted.bits || ", ""},
	{"allocated lanes", inC, " || got.lanes != wanted.lanes", ""},
	{"allocated dimensions", inC, "if (made->ndim != requested->ndim) return DLPACKGEN_DIFFERS_NDIM_;", ""},
	{"allocated shape", inC, "while (i < made->ndim && made->shape[i] == requested->shape[i]) ++i;",
		"while (i < made->ndim) ++i;"},
	{"allocated device", inC, "return a.device_type == b.device_type && (managed", "return (managed"},
	{"id of the allocated device", inC, "(managed || a.device_id == b.device_id)", "1"},
	{"id of allocated managed memory", inC, "(managed || a.device_id == b.device_id)", "a.device_id == b.device_id"},
	{"allocated read-only", inC, "if ((flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0)", "if (0)"},
	{"allocated padded", inC, "if (got.bits < DLPACKGEN_PACKED_BELOW && ", "if (0 && "},
	{"allocated wide elements", inC, "if (got.bits < DLPACKGEN_PACKED_BELOW && ", "if ("},
	{"allocated strides", inC, "made->shape[i] != 1 && wanted != got", "0"},
	{"allocated strides of one", inC, "made->shape[i] != 1 && wanted != got", "wanted != got"},
	{"allocated strides of none", inC, "if (made->shape[i] == 0) return 0;", ""},
	{"allocated NULL strides", inC, "got = made->strides ? made->strides[i] : usual;",
		"got = made->strides ? made->strides[i] : 0;"},
	{"allocated read-only", inGo + "exchange.go", "case t.IsReadOnly():", "case false:"},
	{"allocated padded", inGo + "exchange.go", "case t.IsPadded() && dtype.Bits < packedBelow:", "case false:"},
	{"allocated wide elements", inGo + "exchange.go", "case t.IsPadded() && dtype.Bits < packedBelow:",
		"case t.IsPadded():"},
	{"allocated strides", inGo + "exchange.go", "case !t.IsContiguous():", "case false:"},
	{"allocated device", inGo + "exchange.go", "|| !sameDevice(device, t.Device())", ""},
	{"id of allocated managed memory", inGo + "exchange.go", "(a.ID == b.ID || a.Type.isManaged())", "a.ID == b.ID"},
	{"validity", inCxx + "validate.hpp", "limits.null_strides = detail::allows(accept, Accept::null_strides);",
		"limits.null_strides = 1;"},
	{"count", inCxx + "validate.hpp", "dlpackgen_size_(ndim, shape,", "dlpackgen_size_(0, shape,"},
	{"bytes", inCxx + "validate.hpp", "dlpackgen_nbytes_(&tensor, set,", "dlpackgen_nbytes_(&tensor, 0,"},
	{"range", inCxx + "validate.hpp", "dlpackgen_byte_range_(&tensor, set,", "dlpackgen_byte_range_(&tensor, 0,"},
	{"layout", inCxx + "validate.hpp", "return dlpackgen_is_contiguous(&tensor) != 0;", "return true;"},
	{"alignment", inCxx + "validate.hpp", "static_cast<std::uint64_t>(dlpackgen_alignment(dtype))", "1"},
	{"overlap", inCxx + "validate.hpp", "return dlpackgen_may_overlap(&tensor) != 0;", "return false;"},
	{"strides", inCxx + "tensor_view.hpp", "dlpackgen_extend_stride_(&stride, shape(i))",
		"dlpackgen_extend_stride_(&stride, 1)"},
	{"validity", inGo + "validate.go", "case fixed != 0 && t.Bits != fixed:", "case false:"},
	{"order of a data type's rules", inGo + "validate.go", "case t.Bits == 0:", "case t.Bits == 0 && t.Lanes != 0:"},
	{"fast check of NULL", inGo + "validate.go", " && dl.Data != 0", ""},
	{"fast check of offsets", inGo + "validate.go", "uint64(dl.Data)|dl.ByteOffset", "uint64(dl.Data)"},
	{"fast check of strides", inGo + "validate.go", "stride != size && extent != 1 || extent == 0", "extent == 0"},
	{"fast check of sizes", inGo + "validate.go", "return over|high|(large|size)>>61 == 0 && ", "return "},
	{"kind of a data type", inGo + "validate.go", `failf(ErrDataType, "%v has 0 lanes", t.Code)`,
		`failf(ErrShape, "%v has 0 lanes", t.Code)`},
	{"kind of data", inGo + "validate.go", "if fits && fit && dl.Data == 0 {", "if dl.Data == 0 {"},
	{"count", inGo + "tensor.go", "n := int64(1)\n", "n := int64(2)\n"},
	{"bytes", inGo + "validate.go", "return (width + 7) / 8 * 8", "return width"},
	{"low", inGo + "validate.go", "side, size = &r.before, -size", "size = -size"},
	{"high", inGo + "validate.go", "bytesOf(r.after+1, width)", "bytesOf(r.after, width)"},
	{"column-major", inGo + "tensor.go", "extent != 1 && t.Stride(i) != next", "t.Stride(i) != next"},
	{"layout", inGo + "data.go", "extent != 1 && strides != nil", "strides != nil"},
	{"alignment", inGo + "validate.go", "parts := int(t.Code.parts())", "parts := 1"},
	{"strides", inGo + "tensor.go", "stride *= max(extent, 1)", "stride *= extent"},
	{"validity", inPy, "dlpackgen_validate(view, flags, DLPACKGEN_ACCEPT_NULL_STRIDES);",
		"dlpackgen_validate(view, flags, 0);"},
	{"validity in a call", inPy, "if (error == DLPACKGEN_OK) error = dlpackgen_validate(tensor, a->flags, 0);", ""},
	{"bytes", inPy, "made->tensor.flags = flags;", "made->tensor.flags = 0;"},
	{"bytes in a call", inPy, "a->flags = imported.versioned ? imported.versioned->flags :",
		"a->flags = imported.versioned ? 0 :"},
	{"low", inPy, "if (tensor->strides) memcpy(strides, tensor->strides, size);",
		"for (int i = 0; i < tensor->ndim; i++)\n    if (tensor->strides) " +
			"strides[i] = tensor->strides[i] < 0 ? 0 : tensor->strides[i];"},
	{"strides that were left out", inPy,
		"const dlpackgen_error_code error = dlpackgen_compact_strides(tensor->ndim, numbers, strides);",
		"const dlpackgen_error_code error = DLPACKGEN_OK;"},
	{"use", inPy, "return writable && dlpackgen_has_overlap(tensor)", "return writable && 0"},
	{"layout", inAll, "if (layout == DLPACKGEN_LAYOUT_ANY || row_major) return 1;", "if (layout < 2) return 1;"},
	{"inner-contiguous", inAll, "&& dlpackgen_is_inner_contiguous(tensor);", ";"},
	{"contiguous in any order", inAll, "? dlpackgen_is_contiguous_any_order(tensor)", "? tensor->ndim < 3"},
	{"alignment", inAll, "% 16 != 0) &&", "% 2 != 0) && tensor->dtype.bits > 32 &&"},
	{"overlap", inAll, "{ return dlpackgen_may_overlap(tensor); }", "{ return tensor->ndim > 1; }"},
}

// hurtsPython reports whether a file is part of only the Python module.
func hurtsPython(file string) bool { return file == inPy || file == inAll }

// wrong writes a file with the change into a build's include path.
func wrong(t *testing.T, path, file, old, changed string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(golden.Root(t), file))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(mutation.Once(t, string(text), old, changed)), 0o600))
}

// headers creates a folder of all headers, one of which is wrong.
func headers(t *testing.T, file, old, changed string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, language := range []string{"c", "cpp"} {
		gen := filepath.Join(golden.Root(t), "gen", language)
		require.NoError(t, os.CopyFS(filepath.Join(dir, language), os.DirFS(gen)))
	}
	wrong(t, filepath.Join(dir, strings.TrimPrefix(file, "gen/")), file, old, changed)
	return dir
}

// quick are flags for builds of single mutants.
var quick = []string{"-O0", "-w"}

// unreachable reports whether a module cannot show a wrong quantity: the base of modules has no
// requirement of column-major tensors, and accepts empty tensors before it computes strides.
func unreachable(quantity string) bool {
	return strings.HasPrefix(quantity, "column-major") || quantity == "inner-contiguous and empty"
}

// Only Python has the wrong header.
func TestMutantsOfPythonAreNoticed(t *testing.T) {
	tier.OnlyNightly(t)
	right := withPython(t)
	for _, m := range mutants {
		if strings.HasPrefix(m.file, inGo) || strings.HasPrefix(m.file, inCxx) || unreachable(m.quantity) {
			continue
		}
		t.Run(filepath.Base(m.file)+" "+m.quantity, func(t *testing.T) {
			t.Parallel()
			built := right
			built.python = openPython(t, filepath.Join(headers(t, m.file, m.old, m.new), "c"), quick...)
			_, what := built.compare(rounds)
			assert.Contains(t, what, "Python")
		})
	}
}

// Only one of C and C++ has the wrong header.
func TestMutantsOfHeadersAreNoticed(t *testing.T) {
	tier.OnlyNightly(t)
	right := generated(t)
	for _, m := range mutants {
		if strings.HasPrefix(m.file, inGo) || hurtsPython(m.file) {
			continue
		}
		t.Run(filepath.Base(m.file)+" "+m.quantity, func(t *testing.T) {
			t.Parallel()
			dir := headers(t, m.file, m.old, m.new)
			if m.file == inC {
				built := right
				built.c = openC(t, filepath.Join(dir, "c"), quick...)
				_, what := built.compare(rounds)
				assert.NotEmpty(t, what, "in C")
			}
			built := right
			built.cxx = openCxx(t, filepath.Join(dir, "c"), filepath.Join(dir, "cpp"), quick...)
			_, what := built.compare(rounds)
			assert.NotEmpty(t, what, "in C++")
		})
	}
}

func TestMutantsOfGoAreNoticed(t *testing.T) {
	tier.OnlyNightly(t)
	program, numbers := withMutantsOfGo(t)
	run := func(number int) (string, error) {
		cmd := exec.Command(program, "-test.run=^TestLanguagesAgree$")
		cmd.Env = append(os.Environ(), mutation.Env(number))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run(0)
	require.NoError(t, err, "without a mutant: %s", out)
	for i, m := range mutants {
		if !strings.HasPrefix(m.file, inGo) {
			continue
		}
		t.Run(filepath.Base(m.file)+" "+m.quantity, func(t *testing.T) {
			out, err := run(numbers[i])
			require.Error(t, err)
			assert.Contains(t, out, "--- FAIL: TestLanguagesAgree", "it differs")
		})
	}
}

// withMutantsOfGo builds these tests with bindings that contain all mutants of Go, and returns the
// number of each by its index.
func withMutantsOfGo(t *testing.T) (program string, numbers map[int]int) {
	t.Helper()
	dir, bindings := t.TempDir(), filepath.Join(golden.Root(t), inGo)
	program, numbers = filepath.Join(dir, "tests"), map[int]int{}
	copied := filepath.Join(dir, "bindings")
	require.NoError(t, os.CopyFS(copied, os.DirFS(bindings)))
	files, all := map[string]string{}, []mutation.Mutant(nil)
	for i, m := range mutants {
		if name, isGo := strings.CutPrefix(m.file, inGo); isGo {
			all = append(all, mutation.Mutant{File: name, Old: m.old, New: m.new})
			numbers[i] = len(all)
			files[filepath.Join(bindings, name)] = filepath.Join(copied, name)
		}
	}
	require.Empty(t, mutation.Write(t, copied, all).Apart, "each is a statement or an expression")
	files[filepath.Join(bindings, mutation.GoFile)] = filepath.Join(copied, mutation.GoFile)
	text, err := json.Marshal(map[string]any{"Replace": files})
	require.NoError(t, err)
	overlay := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(overlay, text, 0o600))
	testkit.Run(t, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", program, ".")
	return program, numbers
}
