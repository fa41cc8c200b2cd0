// Package blas multiplies tensors in place with OpenBLAS, in C. It is a separate module, so that no
// other package needs OpenBLAS or gonum.
package blas

// #cgo LDFLAGS: -lopenblas
// #include <cblas.h>
import "C"

import (
	"fmt"

	"github.com/dlpackgen/dlpackgen/gen/go/dlpack"
)

// Multiply writes the product of two float64 matrices to a third. Each may have padded rows or
// padded columns: BLAS supports both through a leading dimension.
func Multiply(a, b, out dlpack.Tensor) error {
	if a.NDim() != 2 || b.NDim() != 2 || out.NDim() != 2 {
		return fmt.Errorf("matrices have 2 dimensions, not %d, %d and %d", a.NDim(), b.NDim(), out.NDim())
	}
	m, k, n := a.Shape()[0], a.Shape()[1], b.Shape()[1]
	if b.Shape()[0] != k || out.Shape()[0] != m || out.Shape()[1] != n {
		return fmt.Errorf("%v times %v is not %v", a.Shape(), b.Shape(), out.Shape())
	}
	orderA, ldA, errA := leading(dlpack.Strided[float64](a))
	orderB, ldB, errB := leading(dlpack.Strided[float64](b))
	order, ld, err := leading(dlpack.WritableStrided[float64](out))
	for _, err := range []error{errA, errB, err} {
		if err != nil {
			return err
		}
	}
	if order != C.CblasNoTrans {
		return fmt.Errorf("the rows of the result are not contiguous")
	}
	C.cblas_dgemm(C.CblasRowMajor, orderA, orderB, C.blasint(m), C.blasint(n), C.blasint(k), 1,
		(*C.double)(a.Pointer()), ldA, (*C.double)(b.Pointer()), ldB, 0, (*C.double)(out.Pointer()), ld)
	return nil
}

// leading returns a leading dimension, and whether it belongs to rows or to columns.
func leading(_ []float64, strides []int64, err error) (C.enum_CBLAS_TRANSPOSE, C.blasint, error) {
	switch {
	case err != nil:
		return 0, 0, err
	case strides[1] == 1:
		return C.CblasNoTrans, C.blasint(strides[0]), nil
	case strides[0] == 1:
		return C.CblasTrans, C.blasint(strides[1]), nil
	}
	return 0, 0, fmt.Errorf("neither rows nor columns are contiguous: strides %v", strides)
}
