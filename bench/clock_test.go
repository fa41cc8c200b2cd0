package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAChangeOfTheClockIsReported(t *testing.T) {
	const ms = time.Millisecond
	assert.Equal(t, "clock: the same loop took 10.00 ms before the suite, and 10.40 ms after it (+4.0 %)",
		clock(10*ms, 10*ms+400*time.Microsecond))
	for _, after := range []time.Duration{9 * ms, 11 * ms} {
		assert.Contains(t, clock(10*ms, after), "%): run the suite again")
	}
	assert.Positive(t, fixedWork())
}
