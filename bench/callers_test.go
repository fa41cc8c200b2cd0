package main

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/bench/pair"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

func TestEveryGoalOfCallersIsMeasured(t *testing.T) {
	nothing := calls{"loading": {"described": {math.NaN()}}}
	missing := callerGoals(nothing, pair.Result{Ours: []float64{math.NaN()}, Bare: []float64{1}}, 1)
	require.Len(t, missing, len(callerShares)+4)
	for _, g := range missing {
		if g.name != "callers.library.size" && g.name != "callers.go.tvmffi.allocs" {
			assert.Contains(t, g.String(), " not measured: needs ")
		}
	}
	took := calls{"loading": {"described": {900_000}}}
	for _, g := range callerShares {
		took[g.group] = map[string][]float64{"described": {1}, "by hand": {2}, "jax-tvm-ffi": {2}}
	}
	fromGo := pair.Result{Ours: []float64{50}, Bare: []float64{49}, Limit: 1.1}
	for _, g := range callerGoals(took, fromGo, 149_000) {
		assert.Contains(t, g.String(), " met")
	}
	for _, g := range callerGoals(took, fromGo, 151_000)[:1] {
		assert.Contains(t, g.String(), " missed")
	}
}

// The time of XLA itself is subtracted round by round.
func TestTheOwnPartsOfHandlers(t *testing.T) {
	var out bytes.Buffer
	printHandlers(&out, map[string][]float64{"empty": {50, 60, 70}, "described": {80, 81, 90}, "by hand": {90}})
	assert.Equal(t, "jax, a step of fori_loop: XLA itself 60.0 ns, described 21.0 ns\n", out.String())
	out.Reset()
	printHandlers(&out, map[string][]float64{"described": {80}})
	assert.Empty(t, out.String())
}

// The libraries are built and called, once.
func TestCallersAreMeasured(t *testing.T) {
	tier.OnlyNightly(t)
	t.Chdir("..")
	var out bytes.Buffer
	goals, err := benchCallers(&out, t.TempDir(), 1)
	require.NoError(t, err, "%s", out.String())
	require.Len(t, goals, len(callerShares)+4)
	for _, g := range goals {
		assert.NotContains(t, g.String(), "not measured")
		if g.name != "callers.go.tvmffi.allocs" {
			assert.Positive(t, g.measured, g.name)
		}
	}
	for _, rival := range []string{"jax-tvm-ffi", "compiled", "torch.add", "libm", "XLA itself"} {
		assert.Contains(t, out.String(), rival)
	}
}
