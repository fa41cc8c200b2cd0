// Package args contains kernels with every kind of argument and result.
package args

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"example.com/args/generated/go/dlpack"
)

func shown[T any](p *T) string {
	if p == nil {
		return "None"
	}
	return fmt.Sprint(*p)
}

// Say returns its arguments as an error.
func Say[T dlpack.Element](
	x dlpack.Array[T], by T, k int64, f float64, b bool, s string, small int8, half float32, ks []int64, fs []float64,
	some, either dlpack.Tensor,
	maybeX dlpack.Array[T], maybeK *int64, maybeF *float64, maybeB *bool, maybeSmall *uint8, maybeS *string,
	maybeKs []int64,
) error {
	maybe := "None"
	if !maybeX.IsAbsent() {
		maybe = fmt.Sprint(maybeX.Data())
	}
	if !x.IsReadOnly() {
		return fmt.Errorf("x may be written")
	}
	return fmt.Errorf("%v %v %d %g %t %q %d %g %v %v %v%v %v%v; %s %s %s %s %s %s %v %t",
		x.Data(), by, k, f, b, s, small, half, ks, fs, some.DataType(), some.Shape(), either.DataType(), either.Shape(),
		maybe, shown(maybeK), shown(maybeF), shown(maybeB), shown(maybeSmall), shown(maybeS), maybeKs, maybeKs == nil)
}

// Give returns results of every kind.
func Give[T float32 | int32](
	x, y dlpack.Array[T], first *T, count *int64, mean *float64, yes *bool, half *float32, ones dlpack.Array[int64],
) error {
	m, n := x.Dim(0), x.Dim(1)
	*first, *count, *yes, *half = x.Get(0, 0), int64(x.Len()), true, 1.5
	for i := range m {
		for j := range n {
			*mean += float64(x.Get(int64(i), int64(j))) / float64(x.Len())
			y.Set(x.Get(int64(i), int64(j)), int64(j), int64(i))
		}
		ones.Data()[i]++
	}
	return nil
}

// Twice adds each element to itself.
func Twice[T dlpack.Element](x, y dlpack.Array[T]) error {
	for _, a := range []dlpack.Array[T]{x, y} {
		if a.IsAbsent() {
			continue
		}
		runs, err := dlpack.WritableRuns[T](a.Tensor)
		if err != nil {
			return err
		}
		for run := range runs {
			for i := range run {
				run[i] = doubled(run[i])
			}
		}
	}
	return nil
}

func doubled[T dlpack.Element](v T) T {
	switch v := any(&v).(type) {
	case *float32:
		*v *= 2
	case *complex64:
		*v *= 2
	case *complex128:
		*v *= 2
	case *uint8:
		*v *= 2
	case *dlpack.Float16:
		*v = dlpack.Float16From(2 * v.Float32())
	}
	return v
}

// Pick returns an element, by its indices and by its position in memory.
func Pick(x dlpack.Array[float64], i, j int64, got, byData *float64) error {
	if i < 0 {
		*got = float64(len(x.Data()))
		return nil
	}
	if j < 0 {
		x.Get(i)
	}
	*got, *byData = x.Get(i, j), -1
	if data := x.Data(); data != nil {
		*byData = data[i*x.Stride(0)+j*x.Stride(1)]
	}
	return nil
}

// Count adds in goroutines.
func Count(x dlpack.Array[int64], sum *int64) error {
	var all atomic.Int64
	done := make(chan struct{})
	for _, v := range x.Data() {
		go func() {
			all.Add(v)
			done <- struct{}{}
		}()
	}
	runtime.GC()
	for range x.Len() {
		<-done
	}
	*sum = all.Load()
	return nil
}

// Nothing has no arguments.
func Nothing(answer *int64) error {
	*answer = 42
	return nil
}
