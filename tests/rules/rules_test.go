package rules

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/tests/gobind"
)

// choices converts bytes to values that break arithmetic.
type choices []byte

func pick[T any](c *choices, from ...T) T {
	if len(*c) == 0 {
		return from[0]
	}
	b := (*c)[0]
	*c = (*c)[1:]
	return from[int(b)%len(from)]
}

// typeCodes and deviceTypes are those of the spec, and one that no release has. The common ones
// occur more often, because most properties are the same for all.
var (
	typeCodes   = append([]uint8{2, 0, 1, 4, 5, 6, 15, 17, 99}, enumerators[uint8]("DLDataTypeCode")...)
	deviceTypes = append([]int32{1, 1, 2, 4, 999}, enumerators[int32]("DLDeviceType")...)
)

func enumerators[T uint8 | int32](enum string) (all []T) {
	r, err := spec.Embedded().Release("main")
	if err != nil {
		panic("unreachable: the spec has the branch main")
	}
	for _, v := range spec.Find[*spec.Enum](r, enum).Values {
		all = append(all, T(v.Value))
	}
	return all
}

// spoil creates a tensor from the bytes, most of whose numbers are small, so that all kinds of
// layouts occur.
func (c *choices) spoil(f gobind.Foreign) {
	ndim := pick[int32](c, 2, 0, 1, 3, 4, 2, 3, 65, -1)
	shape, strides := make([]int64, gobind.MaxForeignNDim), make([]int64, gobind.MaxForeignNDim)
	compact, wide := pick(c, false, true), pick(c, false, false, false, true)
	for i := range shape {
		shape[i], strides[i] = 1, 1
	}
	for i := range max(0, min(ndim, 4)) {
		shape[i] = pick[int64](c, 2, 1, 3, 4, 0, 5, 2, 3, 1<<31, 1<<33, 1<<62, math.MaxInt64, -1)
		strides[i] = pick[int64](c, 1, 3, 2, 4, 6, 12, 0, -1, -3, -6, 5, 1<<31, 1<<60, -1<<60, math.MaxInt64,
			math.MinInt64)
		if wide { // fast checks accept such extents, but not their products
			shape[i] = pick[int64](c, 1<<24, 1, 1<<20, 1<<24+1)
		}
	}
	if compact {
		compactStrides(shape[:max(0, min(ndim, 4))], strides)
	}
	f.Reshape(shape, strides)
	t := f.Versioned().DLTensor
	t.NDim = ndim
	t.DType.Code = dlpack.DataTypeCode(pick(c, typeCodes...))
	t.DType.Bits = pick[uint8](c, 32, 16, 64, 128, 8, 4, 6, 12, 1, 0, 255)
	t.DType.Lanes = pick[uint16](c, 1, 2, 3, 0, math.MaxUint16)
	t.Device.Type = dlpack.DeviceType(pick(c, deviceTypes...))
	t.Device.ID = pick[int32](c, 0, 0, 1, -1, math.MaxInt32)
	t.ByteOffset = pick[uint64](c, 0, 4, 64, 1<<62, math.MaxUint64)
	t.Data = pick(c, t.Data, t.Data, t.Data, 64, 1<<61, 1<<62, 1<<63-64, 1<<63, math.MaxUint64-63)
	t.Strides = pick(c, t.Strides, t.Strides, t.Strides, 0)
	f.Versioned().DLTensor = t
	f.Versioned().Flags = pick[dlpack.Flags](c, 0, dlpack.FlagIsSubbyteTypePadded)
	f.Versioned().Version.Minor = pick[uint32](c, 3, 1, 2)
	if pick(c, false, false, false, true) {
		f.Versioned().DLTensor.Data = 0
	}
}

// compactStrides makes a tensor row-major: fast checks accept only such tensors. The strides of
// extents of 1 have no meaning and stay as they are.
func compactStrides(shape, strides []int64) {
	next := int64(1)
	for i, extent := range slices.Backward(shape) {
		if extent != 1 {
			strides[i] = next
		}
		next *= extent
	}
}

// crosses reports whether elements may share memory, for dimensions that are sorted first. It is
// the definition with which C's result is compared: Go's bindings have no such function.
func crosses(t dlpack.Tensor) bool {
	if t.Len() == 0 || t.Strides() == nil {
		return false
	}
	var steps [][2]uint64
	for i, extent := range t.Shape() {
		if stride := t.Stride(i); extent > 1 {
			steps = append(steps, [2]uint64{uint64(max(stride, -stride)), uint64(extent - 1)})
		}
	}
	slices.SortFunc(steps, func(a, b [2]uint64) int { return cmp.Compare(a[0], b[0]) })
	covered := uint64(0)
	for _, step := range steps {
		if step[0] <= covered {
			return true
		}
		covered += step[0] * step[1]
	}
	return false
}

// otherFault is the fault of an error of Go that does not report C's fault.
const otherFault = -1

// byGo returns Go's results. Go's errors have no numbers, so the fault is C's if the error reports
// it. Results that Go does not compute are not compared: Low and High are copies of C's, which
// edges compares with Go's verdicts; Inner and AnyOrder are copies too, and Overlap is that of
// crosses. The second result has all layouts by their definitions.
func byGo(f gobind.Foreign, like Measured) (found, expected Measured) {
	m, err := dlpack.Import(f.Versioned())
	if err != nil {
		found = Measured{Fault: otherFault, Strict: like.Strict}
		if gobind.Agrees(int(like.Fault), err) {
			found.Fault = like.Fault
		}
		return found, found
	}
	defer m.Release()
	view := m.Tensor()
	found = Measured{
		Strict: like.Strict, Alignment: int64(view.DataType().Alignment()), RowMajor: number(view.IsContiguous()),
		ColumnMajor: number(view.IsFContiguous()), Inner: like.Inner, AnyOrder: like.AnyOrder,
		Overlap: number(crosses(view)),
		Count:   int64(view.Len()), Bytes: int64(view.NBytes()), Low: like.Low, High: like.High,
	}
	if like.Bytes < 0 && view.NBytes() == math.MaxInt {
		found.Bytes = -1
	}
	if like.Strides != 0 { // 0: those that C does not name
		for i := range view.NDim() {
			found.Strides = found.Strides*31 + view.Stride(i)
		}
	}
	return found, defined(view, found)
}

func number(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// accepts reports whether Go accepts the tensor with its data at another address.
func accepts(f gobind.Foreign, data uint64) bool {
	before := f.Versioned().DLTensor.Data
	f.Versioned().DLTensor.Data = uintptr(data)
	defer func() { f.Versioned().DLTensor.Data = before }()
	m, err := dlpack.Import(f.Versioned())
	if err == nil {
		m.Release()
	}
	return err == nil
}

// edges reports whether Go's byte range equals C's: the address space may end right after the last
// byte and begin right at the first, but not one byte later.
func edges(f gobind.Foreign, c Measured) bool {
	dl := f.Versioned().DLTensor
	if c.Count == 0 || dl.Device.Type.Opaque() {
		return true
	}
	last := math.MaxUint64 - (uint64(c.High) + dl.ByteOffset)
	if !accepts(f, last) || accepts(f, last+1) {
		return false
	}
	before := uint64(-c.Low)
	return before <= dl.ByteOffset+1 || accepts(f, before-dl.ByteOffset) && !accepts(f, before-dl.ByteOffset-1)
}

// languages are the languages with the given headers; Python is optional.
type languages struct {
	c, cxx Language
	fast   FastChecks
	python *Language
}

// differs reports whether a Python module accepts exactly the tensors of C's strict verdict, with
// C's numbers; the numbers of other tensors are unknown.
func (l languages) differs(f gobind.Foreign, c Measured) (python Measured, differs bool) {
	if l.python == nil {
		return python, false
	}
	python = l.python.Measure(f.Versioned())
	like := c
	like.ColumnMajor = 0 // the base of modules has no such requirement
	if c.Fault != 0 || c.Strict != 0 {
		return python, python.Strict != c.Strict
	}
	if c.Count == 0 {
		like.Alignment = 0 // not required
	}
	return python, python != like
}

// differ compares the languages for a tensor from the bytes; "" if they agree.
func (l languages) differ(data []byte) (c Measured, what string) {
	f := gobind.NewForeign()
	defer f.Free()
	bytes := choices(data)
	bytes.spoil(f)
	c = l.c.Measure(f.Versioned())
	if names := l.tooFast(f, c); len(names) > 0 {
		return c, fmt.Sprintf("%v accept a tensor that C rejects: %+v: %+v", names, c, f.Versioned())
	}
	cxx := l.cxx.Measure(f.Versioned())
	inGo, expected := byGo(f, c)
	if c != cxx || c != inGo || c != expected {
		return c, fmt.Sprintf("C %+v, C++ %+v, Go %+v, by definition %+v: %+v", c, cxx, inGo, expected, f.Versioned())
	}
	if python, differs := l.differs(f, c); differs {
		return c, fmt.Sprintf("C %+v, Python %+v: %+v", c, python, f.Versioned())
	}
	if c.Fault == 0 && !edges(f, c) {
		return c, fmt.Sprintf("C's byte range %+v is not Go's: %+v", c, f.Versioned())
	}
	return c, ""
}

// build builds a library from a source of testdata.
func build(t testing.TB, compiler, source string, flags ...string) (library string) {
	t.Helper()
	library = filepath.Join(t.TempDir(), source+".so")
	args := append([]string{testkit.Level(), "-Wall", "-Wextra", "-shared", "-fPIC", "-o", library,
		filepath.Join("testdata", source)}, flags...)
	out, err := exec.Command(testtool.RequireCompiler(t, compiler, compiler), args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return library
}

// openC builds the C library with a folder of headers.
func openC(t testing.TB, headers string, flags ...string) Language {
	t.Helper()
	l, err := Open(build(t, "gcc", "measure.c", append(flags, "-std=c11", "-I", headers)...))
	require.NoError(t, err)
	return l
}

// openCxx builds the C++ library with folders of headers.
func openCxx(t testing.TB, headersC, headersCxx string, flags ...string) Language {
	t.Helper()
	l, err := Open(build(t, "g++", "measure.cpp", append(flags, "-std=c++17", "-I", headersC, "-I", headersCxx)...))
	require.NoError(t, err)
	return l
}

// openPython builds the Python module with a folder of headers.
func openPython(t testing.TB, headers string, flags ...string) *Language {
	t.Helper()
	p := testtool.RequireEmbeddable(t)
	flags = slices.Concat(p.Flags(), flags, []string{"-std=c11", "-I", headers})
	l, err := OpenPython(build(t, "gcc", "python.c", flags...), p.Home)
	require.NoError(t, err)
	return &l
}

func generated(t testing.TB) languages {
	t.Helper()
	gen := filepath.Join(golden.Root(t), "gen")
	return languages{c: openC(t, filepath.Join(gen, "c")),
		cxx:  openCxx(t, filepath.Join(gen, "c"), filepath.Join(gen, "cpp")),
		fast: openFast(t, filepath.Join(gen, "c"), describedKernel(t))}
}

// withPython are all languages.
func withPython(t testing.TB) languages {
	t.Helper()
	all := generated(t)
	all.python = openPython(t, filepath.Join(golden.Root(t), "gen", "c"))
	return all
}

func FuzzLanguagesAgree(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{3, 2, 4, 3, 2, 0, 1})
	f.Add([]byte{0, 0, 7, 2, 8, 4, 3})
	all := withPython(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		_, what := all.differ(data)
		assert.Empty(t, what)
	})
}

// draw returns the bytes of a tensor.
func draw(random *rand.Rand) []byte {
	data := make([]byte, 28)
	for i := range data {
		if random.IntN(2) == 0 {
			data[i] = byte(random.Uint32())
		}
	}
	return data
}

// compare returns the first difference among the given number of tensors, and the results seen
// until then; then among allocations.
func (l languages) compare(rounds int) (seen map[string]int, what string) {
	random := rand.New(rand.NewPCG(3, 4))
	seen = map[string]int{}
	for range rounds {
		c, what := l.differ(draw(random))
		if what != "" {
			return seen, what
		}
		count(seen, c)
	}
	return seen, l.judge()
}

const rounds = 60_000

func TestLanguagesAgree(t *testing.T) {
	seen, what := generated(t).compare(rounds)
	require.Empty(t, what)
	assertAllSeen(t, seen)
}

func TestPythonAgrees(t *testing.T) {
	seen, what := withPython(t).compare(rounds)
	require.Empty(t, what)
	assertAllSeen(t, seen)
}

// Every kind of result occurs; otherwise, the comparison would be empty.
func assertAllSeen(t *testing.T, seen map[string]int) {
	t.Helper()
	for _, kind := range []string{
		"good", "bad", "overlap", "row-major", "other order", "empty", "aligned", "anywhere", "before",
		"too many bytes", "taken by Python", "inner-contiguous only", "not inner-contiguous",
		"contiguous in another order",
		"column-major", "many elements in another order",
	} {
		assert.Positive(t, seen[kind], kind)
	}
}

func count(seen map[string]int, c Measured) {
	for kind, is := range map[string]bool{
		"good": c.Fault == 0, "bad": c.Fault != 0, "overlap": c.Overlap == 1, "row-major": c.RowMajor == 1,
		"other order": c.Fault == 0 && c.RowMajor == 0, "empty": c.Fault == 0 && c.Count == 0,
		"aligned":  c.Alignment > 1,
		"anywhere": c.Alignment == 1, "before": c.Low < 0, "too many bytes": c.Bytes < 0,
		"taken by Python":                c.Fault == 0 && c.Strict == 0,
		"inner-contiguous only":          c.Inner == 1 && c.AnyOrder == 0,
		"not inner-contiguous":           c.Fault == 0 && c.Inner == 0,
		"contiguous in another order":    c.AnyOrder == 1 && c.RowMajor == 0,
		"column-major":                   c.ColumnMajor == 1 && c.RowMajor == 0,
		"many elements in another order": c.AnyOrder == 1 && c.RowMajor == 0 && c.Count > mostPositions,
	} {
		if is {
			seen[kind]++
		}
	}
}
