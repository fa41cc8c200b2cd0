package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/bench/pair"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

func TestEveryGoalOfCallsIsMeasured(t *testing.T) {
	const goalsOfTime = 8
	missing := describedGoals(calls{}, []pair.Result{{}})
	require.Len(t, missing, goalsOfTime+1)
	for _, g := range missing[:goalsOfTime] {
		assert.Contains(t, g.String(), " not measured: needs ")
	}
	took := calls{"torch.ops": {"described": {120, 130, 900}, "by hand": {100, 105, 880}}}
	for _, g := range callShares {
		took[g.group] = map[string][]float64{"described": {1}, "held": {1}, "tvm-ffi": {1000}}
	}
	goCalls := []pair.Result{{Ours: []float64{50, 55, 400}, Bare: []float64{40, 41, 30}}}
	for _, g := range describedGoals(took, goCalls) {
		assert.Contains(t, g.String(), " met")
	}
	goCalls[0].Allocs = 1
	met := describedGoals(took, goCalls)
	assert.Contains(t, met[len(met)-1].String(), " missed")
}

func TestDescribedKernelsAreCalled(t *testing.T) {
	tier.OnlyNightly(t)
	if testing.Short() {
		t.Skip("compiles modules, some against torch")
	}
	t.Chdir("..")
	var out bytes.Buffer
	goals, err := benchKernelCalls(&out, t.TempDir(), 1)
	require.NoError(t, err, "%s", out.String())
	require.Len(t, goals, 10)
	for _, g := range goals {
		assert.NotContains(t, g.String(), "not measured")
	}
}
