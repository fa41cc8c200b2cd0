//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpack

import "unsafe"

// ExportPacked is [Export] for elements narrower than a byte, packed in data as in [Packed]: the
// first element is in the lowest bits of the first byte. Without a shape, the tensor has all
// elements that fit in data; with a shape, the last element must be in the last byte.
func ExportPacked[T Narrow](data []byte, shape ...int64) (*DLManagedTensorVersioned, error) {
	return ExportPackedWith[T](data, ExportOptions{Shape: shape})
}

// ExportPackedWith is ExportPacked with the options of [ExportWith]. The offset is in elements, and
// must be at the beginning of a byte. With [FlagIsSubbyteTypePadded], each element occupies one
// byte.
//
// Not every consumer supports packed elements, which DLPack specifies since 1.1. Errors: those of
// [ExportWith].
func ExportPackedWith[T Narrow](data []byte, o ExportOptions) (*DLManagedTensorVersioned, error) {
	m := memory{first: unsafe.Pointer(unsafe.SliceData(data)), dtype: DataTypeOf[T]()}
	m.bits = elementBits(m.dtype, o.Flags)
	m.count = len(data)/int(m.bits)*8 + len(data)%int(m.bits)*8/int(m.bits)
	if uint64(o.Offset)*m.bits%8 != 0 {
		return nil, failf(ErrShape, "offset %d is inside a byte: elements have %d bits", o.Offset, m.bits)
	}
	s, err := exportWith(&m, &o, false)
	if err != nil {
		return nil, err
	}
	return &s.managed, nil
}
