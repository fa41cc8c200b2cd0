package main

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSharesAreTheMiddleOfTheRounds(t *testing.T) {
	took := calls{"torch": {"held": {10, 20, 90}, "tvm-ffi": {40, 40, 90}}}
	assert.InDelta(t, 0.5, took.share("torch", "held", "tvm-ffi"), 1e-9)
	assert.True(t, math.IsNaN(took.share("torch", "held", "nanobind")), "never met by accident")
	assert.True(t, math.IsNaN(took.share("numpy", "held", "tvm-ffi")))
}

// Every library must meet the goal separately, and none may be missing.
func TestTheLibraryCountsThatLettingGoCostsMost(t *testing.T) {
	took := calls{}
	for i, library := range []string{"torch", "numpy", "paddle", "jax"} {
		assert.True(t, math.IsNaN(took.more()), "%s is missing", library)
		more := float64(20 * i)
		took[library] = map[string][]float64{"held": {10, 20, 90}, "released": {11 + more, 25 + more, 190 + more}}
	}
	assert.InDelta(t, 65, took.more(), 1e-9)
	took["numpy"]["released"] = []float64{310, 320, 390}
	assert.InDelta(t, 300, took.more(), 1e-9)
	took["jax"]["released"] = nil
	assert.True(t, math.IsNaN(took.more()))
}

func TestEveryGoalOfPythonIsMeasured(t *testing.T) {
	goals := callGoals(calls{})
	assert.Len(t, goals, len(pythonGoals)+1)
	for _, g := range goals {
		assert.Contains(t, g.String(), "not measured: needs times of ")
	}
	for i, g := range pythonGoals {
		took := calls{g.library: {g.ours: {1}, g.rival: {1000}}}
		assert.Contains(t, callGoals(took)[i].String(), " met")
		var out bytes.Buffer
		printCalls(&out, took, "tvm-ffi", "bare")
		assert.Contains(t, out.String(), g.rival)
		assert.NotContains(t, out.String(), "NaN")
	}
	took := calls{}
	for _, library := range []string{"torch", "numpy", "paddle", "jax"} {
		took[library] = map[string][]float64{"held": {10}, "released": {70}}
	}
	assert.Contains(t, callGoals(took)[len(pythonGoals)].String(), " met")
}
