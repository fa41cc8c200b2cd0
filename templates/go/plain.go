//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"math/bits"
	"unsafe"
)

// plain is a fast check that accepts most valid tensors in less time than a crossing into C takes:
// contiguous, non-empty ones with strides. It accepts no tensor that validate would reject, which
// checks all others.
func plain(dl *DLTensor) bool {
	t, n := dl.DType, uintptr(dl.NDim)
	shape, strides := loadPtr(&dl.Shape), loadPtr(&dl.Strides)
	if t.Code > CodeFloat || t.Bits&7 != 0 || t.Bits == 0 || t.Lanes != 1 || n-1 >= MaxNDim ||
		shape == nil || strides == nil || (uintptr(shape)|uintptr(strides))&7 != 0 {
		return false
	}
	size, over, large := uint64(1), uint64(0), uint64(dl.Data)|dl.ByteOffset
	for i := n * 8; i != 0; {
		i -= 8
		extent, stride := *(*uint64)(unsafe.Add(shape, i)), *(*uint64)(unsafe.Add(strides, i))
		if stride != size && extent != 1 || extent == 0 {
			return false
		}
		high, low := bits.Mul64(size, extent)
		size, over, large = low, over|high, large|low|extent
	}
	high, size := bits.Mul64(size, uint64(t.Bits/8))
	// If each value is below 2^61, no sum of them overflows.
	return over|high|(large|size)>>61 == 0 && dl.Data != 0
}
