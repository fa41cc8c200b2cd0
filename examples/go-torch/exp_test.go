package main

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestExp(t *testing.T) {
	for x := float32(0); x > -87; x -= 0.001 {
		want := math.Exp(float64(x))
		assert.InEpsilon(t, want, float64(exp(x)), 2e-7, "exp(%g)", x)
	}
	assert.Zero(t, exp(-88))
	assert.Zero(t, exp(float32(math.Inf(-1))))
	assert.True(t, math.IsNaN(float64(exp(float32(math.NaN())))))
}
