package gobind

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// Messages state what is wrong in a sentence with a subject and a verb.
func TestTextsOfInvalidTensors(t *testing.T) {
	for want, spoil := range map[string]func(dl *dlpack.DLTensor){
		"dlpack: unsuitable data type: Bool has 32 bits, expected 8": func(dl *dlpack.DLTensor) {
			dl.DType.Code = dlpack.CodeBool
		},
		"dlpack: unsuitable data type: Float has 0 bits":  func(dl *dlpack.DLTensor) { dl.DType.Bits = 0 },
		"dlpack: unsuitable data type: Float has 0 lanes": func(dl *dlpack.DLTensor) { dl.DType.Lanes = 0 },
		"dlpack: invalid data pointer: data is NULL, but the tensor has elements": func(dl *dlpack.DLTensor) {
			dl.Data = 0
		},
		"dlpack: invalid shape or strides: shape or strides is at an address that is not a multiple of 8": func(
			dl *dlpack.DLTensor) {
			dl.Strides++
		},
	} {
		f := foreign(t)
		spoil(&f.Versioned().DLTensor)
		_, err := dlpack.Import(f.Versioned())
		require.EqualError(t, err, want)
	}
	_, err := dlpack.TensorOf(make([]int8, 5), 2, 3)
	require.EqualError(t, err, "dlpack: invalid shape or strides: shape [2 3] has 6 elements, the slice has 5")
	_, err = dlpack.TensorOf(make([]int8, 1), make([]int64, 70)...)
	require.EqualError(t, err, "dlpack: invalid shape or strides: 70 dimensions; at most 64 are supported")
}
