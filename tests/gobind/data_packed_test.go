package gobind

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// bytesOf returns the memory of a foreign tensor.
func bytesOf(f Foreign) []byte {
	data := f.Data()
	return unsafe.Slice((*byte)(unsafe.Pointer(&data[0])), 4*len(data))
}

// number is memory as DLPack defines packed elements: one little-endian integer, of which element i
// is (number >> i*bits) & mask.
func number(memory []byte) *big.Int {
	backwards := slices.Clone(memory)
	slices.Reverse(backwards)
	return new(big.Int).SetBytes(backwards)
}

func element(memory []byte, i, bits int) uint8 {
	shifted := new(big.Int).Rsh(number(memory), uint(i*bits))
	return uint8(shifted.Uint64() & (1<<bits - 1))
}

func fillRandom(memory []byte, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 7))
	for i := range memory {
		memory[i] = byte(random.Uint32())
	}
}

// narrowTensor returns a foreign tensor of random memory, with one dimension.
func narrowTensor[T dlpack.Narrow](t *testing.T, count int, flags dlpack.Flags) (Foreign, dlpack.Tensor) {
	t.Helper()
	f := foreign(t)
	fillRandom(bytesOf(f), uint64(count))
	f.Reshape([]int64{int64(count)}, []int64{1})
	f.Versioned().Flags = flags
	f.Versioned().DLTensor.DType = dlpack.DataTypeOf[T]()
	m, err := dlpack.Import(f.Versioned())
	require.NoError(t, err)
	t.Cleanup(m.Release)
	return f, m.Tensor()
}

// readsNarrow compares each function that reads with the definition.
func readsNarrow[T dlpack.Narrow](t *testing.T, flags dlpack.Flags) {
	bits := int(dlpack.DataTypeOf[T]().Bits)
	step := bits
	if flags != 0 {
		step = 8
	}
	for count := range 35 {
		f, tensor := narrowTensor[T](t, count, flags)
		packed, err := dlpack.PackedData[T](tensor)
		require.NoError(t, err)
		require.Equal(t, count, packed.Len())
		require.Equal(t, (count*step+7)/8, len(packed.Bytes()))
		require.Equal(t, len(packed.Bytes()), tensor.NBytes())
		all := make([]T, count+1)
		require.Equal(t, count, packed.Unpack(all))
		for i, got := range packed.All() {
			want := element(bytesOf(f), i*step, 1) // the lowest bit
			for bit := 1; bit < bits; bit++ {
				want |= element(bytesOf(f), i*step+bit, 1) << bit
			}
			require.Equal(t, want, got.Bits(), "%d of %d", i, count)
			require.Equal(t, got, all[i])
			single, err := dlpack.At[T](tensor, int64(i))
			require.NoError(t, err)
			require.Equal(t, got, single)
		}
		require.Zero(t, all[count].Bits())
		for _, i := range []int{-1, count} {
			require.Panics(t, func() { packed.At(i) }, "as a slice does")
		}
	}
}

// writesNarrow sets every element in random order; other elements, and the memory after the last
// one, are unchanged.
func writesNarrow[T dlpack.Narrow](t *testing.T, flags dlpack.Flags) {
	const count = 23
	random := rand.New(rand.NewPCG(1, 1))
	f, tensor := narrowTensor[T](t, count, flags)
	packed, err := dlpack.WritablePackedData[T](tensor)
	require.NoError(t, err)
	want, before := make([]T, count), slices.Clone(bytesOf(f))
	packed.Unpack(want)
	for _, i := range random.Perm(count) {
		want[i] = dlpack.FromBits[T](uint8(random.Uint32()))
		if i%2 == 0 {
			packed.Set(i, want[i])
		} else {
			require.NoError(t, dlpack.SetAt(tensor, want[i], int64(i)))
		}
		got := make([]T, count)
		packed.Unpack(got)
		require.Equal(t, want, got)
	}
	end := len(packed.Bytes())
	assert.Equal(t, before[end:], bytesOf(f)[end:])
	if used := count * int(dlpack.DataTypeOf[T]().Bits) % 8; flags == 0 && used != 0 {
		assert.Equal(t, before[end-1]>>used, bytesOf(f)[end-1]>>used, "the unused bits of the last byte")
	}
	slices.Reverse(want)
	assert.Equal(t, count, packed.Pack(want))
	got := make([]T, count)
	packed.Unpack(got)
	assert.Equal(t, want, got)
	assert.Equal(t, 2, packed.Pack(want[:2]))
	assert.Panics(t, func() { packed.Set(count, want[0]) })
}

func narrow[T dlpack.Narrow](t *testing.T) {
	for name, flags := range map[string]dlpack.Flags{"packed": 0, "padded": dlpack.FlagIsSubbyteTypePadded} {
		t.Run(name+" read", func(t *testing.T) { readsNarrow[T](t, flags) })
		t.Run(name+" written", func(t *testing.T) { writesNarrow[T](t, flags) })
	}
}

func TestNarrowElements(t *testing.T) {
	t.Run("int4", narrow[dlpack.Int4])
	t.Run("uint4", narrow[dlpack.Uint4])
	t.Run("float4_e2m1fn", narrow[dlpack.Float4E2M1FN])
	t.Run("float6_e2m3fn", narrow[dlpack.Float6E2M3FN])
	t.Run("float6_e3m2fn", narrow[dlpack.Float6E3M2FN])
}

// By hand: 0x21, 0x43 are the int4 numbers 1, 2, 3, 4; three bytes are four elements of 6 bits.
func TestTheFirstElementIsInTheLowestBits(t *testing.T) {
	f := foreign(t)
	copy(bytesOf(f), []byte{0x21, 0xf3, 0b11_000001, 0b0101_0000, 0b000111_00})
	f.Reshape([]int64{4}, []int64{1})
	f.Versioned().DLTensor.DType = dlpack.DTypeInt4
	m, err := dlpack.Import(f.Versioned())
	require.NoError(t, err)
	nibbles, err := dlpack.PackedData[dlpack.Int4](m.Tensor())
	require.NoError(t, err)
	assert.Equal(t, []int{1, 2, 3, -1},
		[]int{nibbles.At(0).Int(), nibbles.At(1).Int(), nibbles.At(2).Int(), nibbles.At(3).Int()})
	m.Release()

	f.Versioned().DLTensor.DType = dlpack.DTypeFloat6E3M2FN
	f.Versioned().DLTensor.ByteOffset = 2
	m, err = dlpack.Import(f.Versioned())
	require.NoError(t, err)
	defer m.Release()
	sixes, err := dlpack.PackedData[dlpack.Float6E3M2FN](m.Tensor())
	require.NoError(t, err)
	assert.Equal(t, []uint8{1, 3, 0b000101, 0b000111},
		[]uint8{sixes.At(0).Bits(), sixes.At(1).Bits(), sixes.At(2).Bits(), sixes.At(3).Bits()})
}

func TestPackedElementsWithStrides(t *testing.T) {
	for _, g := range []grid{
		{shape: []int64{3, 2}, strides: []int64{1, 3}},
		{shape: []int64{7}, strides: []int64{-1}, before: 8},
		{shape: []int64{2, 3}, strides: []int64{-3, 2}, before: 4},
		{shape: []int64{4, 2}, strides: []int64{0, 1}},
	} {
		f := foreign(t)
		fillRandom(bytesOf(f), 9)
		f.Reshape(g.shape, g.strides)
		f.Versioned().DLTensor.DType = dlpack.DTypeFloat6E2M3FN
		f.Versioned().DLTensor.ByteOffset = uint64(g.before * 6 / 8)
		m, err := dlpack.Import(f.Versioned())
		require.NoError(t, err)
		defer m.Release()
		g.each(func(indices []int64, place int32) {
			got, err := dlpack.At[dlpack.Float6E2M3FN](m.Tensor(), indices...)
			require.NoError(t, err)
			require.Equal(t, element(bytesOf(f), int(place), 6), got.Bits(), "%+v %v", g, indices)
		})
		_, err = dlpack.PackedData[dlpack.Float6E2M3FN](m.Tensor())
		require.ErrorIs(t, err, dlpack.ErrNotContiguous)
	}
}

// PyTorch's float4_e2m1fn_x2 is a pair of lanes.
func TestLanesOfPackedElementsCount(t *testing.T) {
	pairs := func(f Foreign) {
		fillRandom(bytesOf(f), 3)
		f.Versioned().DLTensor.DType = dlpack.DataType{Code: dlpack.CodeFloat4E2M1FN, Bits: 4, Lanes: 2}
	}
	tensor := spoiled(t, pairs)
	packed, err := dlpack.PackedData[dlpack.Float4E2M1FN](tensor)
	require.NoError(t, err)
	assert.Equal(t, 12, packed.Len())
	assert.Equal(t, 6, tensor.NBytes())
	assert.Len(t, packed.Bytes(), 6)
	_, err = dlpack.At[dlpack.Float4E2M1FN](tensor, 0, 0)
	require.ErrorIs(t, err, dlpack.ErrDataType, "one element is two numbers")
	padded := spoiled(t, func(f Foreign) { pairs(f); f.Versioned().Flags = dlpack.FlagIsSubbyteTypePadded })
	assert.True(t, padded.IsPadded())
	_, err = dlpack.PackedData[dlpack.Float4E2M1FN](padded)
	require.EqualError(t, err, "dlpack: unsuitable data type: float4_e2m1fnx2 is padded, which has no defined order")
}

// Both the bytes and the elements can be counted, but not the lanes.
func TestMoreLanesThanNumbers(t *testing.T) {
	tensor := spoiled(t, func(f Foreign) {
		f.Versioned().DLTensor.DType = dlpack.DataType{Code: dlpack.CodeFloat4E2M1FN, Bits: 4, Lanes: 2}
		f.Reshape([]int64{1 << 62}, []int64{1})
	})
	_, err := dlpack.PackedData[dlpack.Float4E2M1FN](tensor)
	require.ErrorIs(t, err, dlpack.ErrShape)
}

func TestPackedDataRejectsWhatDataRejects(t *testing.T) {
	for name, test := range unreadable() {
		if name == "address not aligned" {
			continue // not defined for bytes
		}
		t.Run(name, func(t *testing.T) {
			tensor := spoiled(t, func(f Foreign) { f.Versioned().DLTensor.DType = dlpack.DTypeInt4; test.spoil(f) })
			_, err := dlpack.PackedData[dlpack.Uint4](tensor)
			require.Error(t, err)
			_, err = dlpack.PackedData[dlpack.Int4](tensor)
			if name != "several lanes" {
				require.ErrorIs(t, err, test.want)
			}
		})
	}
	readOnly := func(f Foreign) {
		f.Versioned().DLTensor.DType, f.Versioned().Flags = dlpack.DTypeInt4, dlpack.FlagReadOnly
	}
	_, err := dlpack.WritablePackedData[dlpack.Int4](spoiled(t, readOnly))
	require.ErrorIs(t, err, dlpack.ErrReadOnly)
	require.ErrorIs(t, dlpack.SetAt(spoiled(t, readOnly), dlpack.Int4{}, 0, 0), dlpack.ErrReadOnly)
	assert.Empty(t, dlpack.Packed[dlpack.Int4]{}.Bytes())
	for range (dlpack.Packed[dlpack.Int4]{}).All() {
		t.Error("an element of nothing")
	}
}

// FuzzPacked writes random values to packed memory and to a big integer, and compares them.
func FuzzPacked(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 250, 63})
	f.Fuzz(func(t *testing.T, code []byte) {
		c := foreign(t)
		c.Reshape([]int64{40}, []int64{1})
		c.Versioned().DLTensor.DType = dlpack.DTypeFloat6E3M2FN
		m, err := dlpack.Import(c.Versioned())
		require.NoError(t, err)
		defer m.Release()
		packed, err := dlpack.WritablePackedData[dlpack.Float6E3M2FN](m.Tensor())
		require.NoError(t, err)
		want := new(big.Int)
		for ; len(code) >= 2; code = code[2:] {
			i, value := int(code[0]%40), dlpack.FromBits[dlpack.Float6E3M2FN](code[1])
			packed.Set(i, value)
			for bit := range 6 {
				want.SetBit(want, 6*i+bit, uint(value.Bits()>>bit&1))
			}
		}
		require.Zero(t, want.Cmp(number(packed.Bytes())))
	})
}
