package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The line shows the count when its timer fires, also before the first part is finished, and leaves
// no trace.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	p := &progress{w: &out, what: "configs", of: 9}
	shown := func() string {
		out.Reset()
		p.show()
		return out.String()
	}
	assert.Equal(t, "\r\x1b[Kdlpackgen: 0 of 9 configs", shown())
	assert.Empty(t, shown(), "an equal line is not written again")
	p.tick(1)
	p.tick(2)
	assert.Equal(t, "\r\x1b[Kdlpackgen: 2 of 9 configs", shown())
	out.Reset()
	p.tick(3)
	p.done()
	assert.Equal(t, "\r\x1b[K", out.String(), "a count alone writes nothing")
	assert.Empty(t, shown(), "the run is over")
	out.Reset()
	p.done()
	assert.Empty(t, out.String())
}

func TestAShortRunShowsNoProgress(t *testing.T) {
	var out bytes.Buffer
	p := &progress{w: &out, what: "configs", of: 2}
	p.tick(2)
	p.done()
	assert.Empty(t, out.String())
}

func TestNoProgressWithoutATerminal(t *testing.T) {
	var out bytes.Buffer
	p := (&app{stderr: &out}).progress("configs", 2)
	p.tick(1)
	p.show()
	p.done()
	assert.Empty(t, out.String())
	assert.Nil(t, p.timer)
}
