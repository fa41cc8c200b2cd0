// Package gokernel has the kernels of dlpackgen.yaml.
package gokernel

import (
	"errors"
	"math"

	"example.com/gokernel/generated/go/dlpack"
)

// Float is what the kernels compute with: the dtypes of T.
type Float interface{ float32 | float64 }

// RMSNorm scales each row of x to a root mean square of 1, and then by weight. It keeps the
// reciprocals of the root mean squares for the gradient.
func RMSNorm[T Float](x, weight dlpack.Array[T], eps float64, y, rstd dlpack.Array[T]) error {
	if eps < 0 {
		return errors.New("eps is negative")
	}
	in, out, scale, kept, n := x.Data(), y.Data(), weight.Data(), rstd.Data(), x.Dim(-1)
	for row := range kept {
		of, into, squares := in[row*n:][:n], out[row*n:][:n], 0.0
		for _, v := range of {
			squares += float64(v) * float64(v)
		}
		kept[row] = T(1 / math.Sqrt(squares/float64(n)+eps))
		for i, v := range of {
			into[i] = v * kept[row] * scale[i]
		}
	}
	return nil
}

// RMSNormBackward computes the gradients of x and weight from that of y.
func RMSNormBackward[T Float](grad, x, weight, rstd, dx, dweight dlpack.Array[T]) error {
	of, in, scale, kept, n := grad.Data(), x.Data(), weight.Data(), rstd.Data(), x.Dim(-1)
	intoX, intoWeight := dx.Data(), dweight.Data()
	clear(intoWeight)
	for row, r := range kept {
		g, v, into, inner := of[row*n:][:n], in[row*n:][:n], intoX[row*n:][:n], T(0)
		for i := range g {
			inner += g[i] * scale[i] * v[i]
			intoWeight[i] += g[i] * v[i] * r
		}
		for i := range g {
			into[i] = r * (g[i]*scale[i] - v[i]*r*r*inner/T(n))
		}
	}
	return nil
}
