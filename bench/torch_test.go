package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A type that is inherently faster must not decide: both runs count.
func TestRoundsOfBothOrdersAreJoined(t *testing.T) {
	took := calls{}
	took.join(calls{"with tvm-ffi": {"our table": {1, 1, 1}, "torch's table": {2, 2, 2}},
		"call": {"compiled": {1}, "tvm-ffi": {10}}})
	took.join(calls{"with tvm-ffi": {"our table": {4, 4, 4}, "torch's table": {2, 2, 2}}})
	assert.Equal(t, []float64{1, 1, 1, 4, 4, 4}, took["with tvm-ffi"]["our table"])
	assert.InDelta(t, 2, took.share("with tvm-ffi", "our table", "torch's table"), 1e-9,
		"the upper one of the two in the middle")
	assert.InDelta(t, 0.1, took.share("call", "compiled", "tvm-ffi"), 1e-9)
}

func TestEveryGoalOfTorchIsMeasured(t *testing.T) {
	for _, g := range torchGoals {
		took := calls{g.group: {g.ours: {1}, g.rival: {1000}}}
		assert.Contains(t, took.goal(g.name, g.group, g.ours, g.rival, g.limit).String(), " met")
		missing := calls{}.goal(g.name, g.group, g.ours, g.rival, g.limit)
		assert.Contains(t, missing.String(), " not measured: needs times of "+g.group)
	}
}
