package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"github.com/dlpackgen/dlpackgen/internal/tree"
)

// ending are the signals that end a run cleanly. A second signal ends the run at once.
var ending = []os.Signal{os.Interrupt, syscall.SIGTERM}

// interrupts ends a run after a signal: at once if nothing is being written, otherwise when the
// changes are complete or undone.
type interrupts struct {
	stop    chan struct{} // closed by the first signal
	writing sync.RWMutex  // read-locked by whatever writes
	mu      sync.Mutex    // of the rest
	configs int           // of the run
	changed int           // of these
	left    bool          // something that the next run completes or undoes
	line    *progress
}

// interruptible runs the command until it ends or a signal comes.
func (a *app) interruptible(run func() error) error {
	signals := make(chan os.Signal, 1)
	for _, s := range ending {
		if !signal.Ignored(s) { // as by nohup, or for a job in the background
			signal.Notify(signals, s)
		}
	}
	defer signal.Stop(signals)
	done := make(chan error, 1)
	go func() { done <- run() }()
	select {
	case err := <-done:
		return err
	case s := <-signals:
		signal.Stop(signals)
		return a.interrupted(s)
	}
}

// interrupted waits for the writers, and reports the state of the files.
func (a *app) interrupted(s os.Signal) error {
	close(a.stop)
	a.writing.Lock() // never unlocked: nothing more is written
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.line != nil {
		a.line.done()
	}
	a.say("interrupted: %s", a.became())
	code := exitSignal
	if number, ok := s.(syscall.Signal); ok {
		code += int(number)
	}
	return &failure{code: code}
}

// became describes the state of the files after the signal.
func (i *interrupts) became() string {
	text := "nothing was changed"
	switch {
	case i.changed > 0 && i.configs > 1:
		text = fmt.Sprintf("%d of %d configs were completed, the others are unchanged", i.changed, i.configs)
	case i.changed > 0:
		text = "the run was already complete"
	}
	if i.left {
		text += "; the next run completes or undoes what is left"
	}
	return text
}

// hold runs a function that a signal must wait for. After a signal, it does not return, because the
// run is over.
func (a *app) hold(do func()) {
	a.writing.RLock()
	func() {
		defer a.writing.RUnlock()
		do()
	}()
	select {
	case <-a.stop:
		select {}
	default:
	}
}

// change runs a function that changes files, and records the result.
func (a *app) change(dryRun bool, do func() (*tree.Report, error)) (report *tree.Report, err error) {
	a.hold(func() {
		report, err = do()
		a.mu.Lock()
		defer a.mu.Unlock()
		var failed *tree.Error
		switch {
		case errors.As(err, &failed):
			a.left = a.left || failed.Left
		case err == nil && !dryRun && slices.ContainsFunc(report.Items, isChange):
			a.changed++
		}
	})
	return report, err
}

func isChange(it tree.Item) bool { return it.Action != tree.Keep }

// create runs a function that creates a file or a folder completely or not at all.
func (a *app) create(do func() error) (err error) {
	a.hold(func() {
		if err = do(); err == nil {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.changed++
		}
	})
	return err
}

// stoppable runs a function that a signal cancels and waits for.
func (a *app) stoppable(do func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-a.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	a.hold(func() { do(ctx) })
}
