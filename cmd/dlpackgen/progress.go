package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// The time before a run shows its progress, and the time between updates.
const (
	quietStart = 500 * time.Millisecond
	refresh    = 100 * time.Millisecond
)

// progress is a line on a terminal that counts the finished parts of a long run.
type progress struct {
	mu    sync.Mutex // a signal ends the line while others count
	w     io.Writer  // nil: nothing is shown
	what  string
	of    int
	now   func() time.Time
	next  time.Time // when the line may change
	shown bool
}

// progress starts the line of a run with some number of parts, on a terminal.
func (a *app) progress(what string, of int) *progress {
	p := &progress{what: what, of: of, now: time.Now}
	if isTerminal(a.stderr) {
		p.w = a.stderr
	}
	p.next = p.now().Add(quietStart)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.line = p
	return p
}

// tick shows how many parts are finished.
func (p *progress) tick(done int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.w == nil || now.Before(p.next) {
		return
	}
	p.next, p.shown = now.Add(refresh), true
	fmt.Fprintf(p.w, "\r\x1b[Kdlpackgen: %d of %d %s", done, p.of, p.what)
}

// done removes the line, to make room for the run's findings.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	p.w, p.shown = nil, false
}
