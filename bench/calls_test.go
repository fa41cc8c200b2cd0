package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/bench/pair"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
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

func TestTheLargestShareOfChecksCounts(t *testing.T) {
	shares, err := sharesOf("a 1 2\nb 3 4\na 1 4\na 9 10\nb 3 4\nb 3 4\n")
	require.NoError(t, err)
	assert.Equal(t, map[string][]float64{"a": {0.5, 0.25, 0.9}, "b": {0.75, 0.75, 0.75}}, shares)
	assert.InDelta(t, 0.75, largestMiddle(shares), 1e-9)
	_, err = sharesOf("a 1\n")
	assert.Error(t, err)
}

// The checks of all calls have the expected outcome, and the same message in both kinds.
func TestChecksAreMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the checks, and counts their instructions")
	}
	testtool.Require(t, "gcc", "gcc")
	testtool.Require(t, "valgrind", "valgrind")
	t.Chdir("..")
	b := &callsBench{torchBench{pythonBench{dir: t.TempDir(), sources: "bench/testdata/kernels/"}}}
	var out bytes.Buffer
	goals, err := b.checks(&out, 3)
	require.NoError(t, err, "%s", out.String())
	require.Len(t, goals, 2)
	assert.Contains(t, goals[0].String(), " met", "%s", out.String())
	assert.NotContains(t, goals[1].String(), "not measured")
	for _, call := range []string{"vectors", "strided", "scalars"} {
		for _, name := range []string{call, call + "-fails"} {
			assert.Contains(t, out.String(), "check of "+name+" by straight lines takes ")
			assert.Contains(t, out.String(), "check of "+name+": ")
		}
	}
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
	require.Len(t, goals, 11)
	for _, g := range goals {
		assert.NotContains(t, g.String(), "not measured")
	}
}
