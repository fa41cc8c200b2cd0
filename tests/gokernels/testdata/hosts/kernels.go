// Package hosts contains the kernels that every host calls.
package hosts

/*
int empty_c(const void *x, const void *y, const void *z, void *made, void *stream);

int empty_c(const void *x, const void *y, const void *z, void *made, void *stream) {
  (void)x, (void)y, (void)z, (void)made, (void)stream;
  return 0;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"example.com/hosts/generated/go/dlpack"
)

// Norm is RMSNorm.
func Norm[T float32 | float64](x, weight dlpack.Array[T], eps float64, y dlpack.Array[T]) error {
	in, out, scale, n := x.Data(), y.Data(), weight.Data(), x.Dim(-1)
	for at := 0; at < len(in); at += n {
		squares := 0.0
		for _, v := range in[at:][:n] {
			squares += float64(v) * float64(v)
		}
		by := 1 / math.Sqrt(squares/float64(n)+eps)
		for i, v := range in[at:][:n] {
			out[at+i] = T(float64(v)*by) * scale[i]
		}
	}
	return nil
}

type broken struct{}

func (broken) Error() string { panic("no text") }

// Failing copies x, or fails.
func Failing(x dlpack.Array[float32], how int64, y dlpack.Array[float32]) error {
	copy(y.Data(), x.Data())
	var missing *int64
	switch how {
	case 1:
		return errors.New("no luck")
	case 2:
		return fmt.Errorf("around: %w", dlpack.WithStatus(1, fmt.Errorf("no row %d", how)))
	case 3:
		return dlpack.WithStatus(2, errors.New("not shown"))
	case 4:
		y.Data()[how+int64(x.Len())] = 1 // panics here
	case 5:
		panic(fmt.Errorf("a value: %d", how))
	case 6:
		*missing = how
	case 7:
		return errors.New(strings.Repeat("é", 1000))
	case 8:
		return errors.New("a\xffb")
	case 9:
		return broken{}
	case 10:
		return dlpack.WithStatus(-5, errors.New("a status that is none"))
	case 11:
		return errors.New("")
	case 12:
		panic(nil)
	case 13:
		var none map[int64]bool
		none[how] = true
	}
	return nil
}

var meeting struct {
	sync.Mutex
	there int
	all   chan struct{}
}

// Meet waits for the given number of concurrent calls.
func Meet(x dlpack.Array[float32], parties int64, y dlpack.Array[float32]) error {
	copy(y.Data(), x.Data())
	meeting.Lock()
	if meeting.there == 0 {
		meeting.all = make(chan struct{})
	}
	all := meeting.all
	if meeting.there++; meeting.there == int(parties) {
		meeting.there = 0
		close(all)
	}
	meeting.Unlock()
	<-all
	return nil
}

// Empty does nothing.
func Empty(_, _, _, _ dlpack.Array[float32]) error { return nil }
