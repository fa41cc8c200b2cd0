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

// progress is a line on a terminal that counts the finished parts of a long run. A timer shows it,
// because the first part may take long.
type progress struct {
	mu       sync.Mutex // a signal ends the line while others count
	w        io.Writer  // nil: nothing is shown
	what     string
	of       int
	finished int
	line     string // on the terminal; "" before the first one
	timer    *time.Timer
}

// progress starts the line of a run with some number of parts, on a terminal.
func (a *app) progress(what string, of int) *progress {
	p := &progress{what: what, of: of}
	if isTerminal(a.stderr) {
		p.w = a.stderr
		p.mu.Lock()
		defer p.mu.Unlock()
		p.timer = time.AfterFunc(quietStart, p.show)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.line = p
	return p
}

// tick records how many parts are finished.
func (p *progress) tick(finished int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished = finished
}

// show brings the line up to date, and does so again after some time.
func (p *progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w == nil {
		return
	}
	if line := fmt.Sprintf("\r\x1b[Kdlpackgen: %d of %d %s", p.finished, p.of, p.what); line != p.line {
		fmt.Fprint(p.w, line)
		p.line = line
	}
	if p.timer != nil {
		p.timer.Reset(refresh)
	}
}

// done removes the line, to make room for the run's findings.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.line != "" && p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	p.w = nil
}
