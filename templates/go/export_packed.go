//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpack

import "unsafe"

// ExportPacked is [Export] for elements narrower than a byte, which lie in data as
// [Packed] has them: side by side, the first in the lowest bits of the first byte.
// Without a shape there are as many as have room; the elements of a shape must
// reach into the last byte.
func ExportPacked[T Narrow](data []byte, shape ...int64) (*DLManagedTensorVersioned, error) {
	return ExportPackedWith[T](data, ExportOptions{Shape: shape})
}

// ExportPackedWith is ExportPacked with the options of [ExportWith]. The offset
// counts elements, and must lead to the beginning of a byte. With
// [FlagIsSubbyteTypePadded] each element has a byte of its own.
//
// Not every consumer knows packed elements; DLPack describes them since 1.1.
// Errors: those of [ExportWith].
func ExportPackedWith[T Narrow](data []byte, o ExportOptions) (*DLManagedTensorVersioned, error) {
	m := memory{first: unsafe.Pointer(unsafe.SliceData(data)), dtype: DataTypeOf[T]()}
	m.bits = elementBits(m.dtype, o.Flags)
	m.count = len(data)/int(m.bits)*8 + len(data)%int(m.bits)*8/int(m.bits)
	if uint64(o.Offset)*m.bits%8 != 0 {
		return nil, failf(ErrShape, "offset %d is inside of a byte: elements have %d bits", o.Offset, m.bits)
	}
	s, err := exportWith(&m, &o, false)
	if err != nil {
		return nil, err
	}
	return &s.managed, nil
}
