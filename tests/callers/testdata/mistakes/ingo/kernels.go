// Package ingo contains the kernels of the table of mistakes, written in Go.
package ingo

import (
	"errors"
	"strings"

	"example.com/ingo/generated/go/dlpack"
)

// Mix has the results and errors of mix() in author.c.
func Mix[T float32 | float64](x, weight dlpack.Array[T], places dlpack.Array[int32], by float64, times int64,
	also bool, bias dlpack.Array[T], sizes []int64, mode string, y dlpack.Array[T]) error {
	more := float64(places.Data()[0] + places.Data()[places.Len()-1])
	if also {
		more += 1000
	}
	if sizes != nil {
		more += float64(10*sizes[0] + 100*sizes[1])
	}
	for i, v := range x.Data() {
		n := i % weight.Len()
		made := float64(v*weight.Data()[n])*by*float64(times) + more
		if !bias.IsAbsent() {
			made += float64(bias.Data()[n])
		}
		if mode == "mean" {
			made /= 2
		}
		y.Data()[i] = T(made)
	}
	return failed(times)
}

// failed is an error with the statuses of author.c.
func failed(times int64) error {
	switch times {
	case 101:
		return dlpack.WithStatus(1, errors.New("not shown"))
	case 102:
		return errors.New("the mixer is stuck")
	case 103:
		return dlpack.WithStatus(3, errors.New(""))
	case 104:
		return errors.New("the mixer of the caf\xe9 is stuck")
	case 105:
		return errors.New(strings.Repeat("x", 3000))
	}
	return nil
}

// Fill multiplies x by tiny.
func Fill(tiny int8, x, y dlpack.Array[float32]) error {
	for i, v := range x.Data() {
		y.Data()[i] = v * float32(tiny)
	}
	return nil
}
