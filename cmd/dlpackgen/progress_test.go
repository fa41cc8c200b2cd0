package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Progress appears on a terminal for long runs, is updated a few times per second, and is erased at
// the end.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	var now time.Time
	p := &progress{w: &out, what: "configs", of: 9, now: func() time.Time { return now }, next: now.Add(quietStart)}
	at := func(after time.Duration, done int) string {
		now = time.Time{}.Add(after)
		out.Reset()
		p.tick(done)
		return out.String()
	}
	assert.Empty(t, at(quietStart/2, 1), "a short run shows nothing")
	assert.Equal(t, "\r\x1b[Kdlpackgen: 2 of 9 configs", at(quietStart, 2))
	assert.Empty(t, at(quietStart+refresh/2, 3), "the line changes no faster than one can read")
	assert.Equal(t, "\r\x1b[Kdlpackgen: 4 of 9 configs", at(quietStart+refresh, 4))
	out.Reset()
	p.done()
	assert.Equal(t, "\r\x1b[K", out.String())
}

func TestNoProgressWithoutATerminal(t *testing.T) {
	var out bytes.Buffer
	p := (&app{stderr: &out}).progress("configs", 2)
	p.next = time.Time{}
	p.tick(1)
	p.done()
	assert.Empty(t, out.String())
}
