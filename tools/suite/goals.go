package main

import (
	"fmt"
	"time"

	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// limits are the goals for the suite's own times, on two cores. A run is warm when results of the
// go command's cache stood for some packages, and cold when they stood for none.
var limits = []struct {
	tier, cache string
	limit       time.Duration
}{
	{tier.Test, cold, 15 * time.Minute},
	{tier.Test, warm, 6 * time.Minute},
	{tier.Quick, cold, 30 * time.Second},
	{tier.Quick, warm, 30 * time.Second},
	{tier.Quick, cached, 5 * time.Second},
}

// How much of a run came from the go command's cache.
const (
	cold   = "cold"
	warm   = "warm"
	cached = "cached"
)

// state tells how much of a run came from the cache.
func state(t *tally) string {
	switch {
	case t.cached == 0:
		return cold
	case t.cached < t.packages:
		return warm
	}
	return cached
}

// goals are lines as "make bench" has them. Time fails no run: a busy machine is no broken build.
func goals(runs string, t *tally, took time.Duration) string {
	lines := fmt.Sprintf("suite: %d packages, %d of them from the cache\n", t.packages, t.cached)
	for _, goal := range limits {
		if goal.tier != runs || goal.cache != state(t) {
			continue
		}
		verdict := "met"
		if took > goal.limit {
			verdict = "missed"
		}
		lines += fmt.Sprintf("goal make-%s.%s measured %.0fs limit %.0fs %s\n", runs, goal.cache, took.Seconds(),
			goal.limit.Seconds(), verdict)
	}
	return lines
}
