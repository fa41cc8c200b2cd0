package main

import (
	"fmt"
	"time"

	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// limits are the goals for the suite's own times, on two cores. A run is warm if some packages had
// results in the go command's cache, and cold if none had.
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

// The part of a run that came from the go command's cache.
const (
	cold   = "cold"
	warm   = "warm"
	cached = "cached"
)

// state returns the part of a run that came from the cache.
func state(t *tally) string {
	switch {
	case t.cached == 0:
		return cold
	case t.cached < t.packages:
		return warm
	}
	return cached
}

// goals are lines in the form of "make bench". A missed goal fails no run, because load on the
// machine can cause it.
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
