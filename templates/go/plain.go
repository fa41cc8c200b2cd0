//go:build dlpackgen_template && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"math"
	"math/bits"
)

// plain tells of most good tensors that they are good, in less time than a
// crossing into C takes: dense ones, with strides, that hold something. It
// accepts nothing that validate, which judges the rest, would refuse.
func plain(dl *DLTensor) bool {
	t := dl.DType
	if t.Code > CodeFloat && t.Code.fixedBits() != 0 || t.Bits&7 != 0 || t.Bits == 0 || t.Lanes != 1 || dl.Data == 0 ||
		uint32(dl.NDim) > MaxNDim || dl.Shape == 0 || dl.Strides == 0 || (dl.Shape|dl.Strides)&7 != 0 {
		return false
	}
	shape, strides := dims(&dl.Shape, dl.NDim), dims(&dl.Strides, dl.NDim)
	size, over := uint64(1), uint64(0)
	for i := len(shape) - 1; i >= 0; i-- {
		if uint64(strides[i]) != size && shape[i] != 1 || shape[i] <= 0 {
			return false
		}
		high, low := bits.Mul64(size, uint64(shape[i]))
		size, over = low, over|high|low>>63
	}
	high, size := bits.Mul64(size, uint64(t.Bits/8))
	end, carry := bits.Add64(uint64(dl.Data), dl.ByteOffset, 0)
	end, beyond := bits.Add64(end, size, 0)
	return over|high|carry|beyond == 0 && dl.ByteOffset|size <= math.MaxInt64 && end <= math.MaxInt64
}
