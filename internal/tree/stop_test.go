package tree

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A run that is asked to stop at any operation restores the previous state, including directories,
// or completes. In both cases, no temporary file and no journal remain.
func TestStop(t *testing.T) {
	all := scenarios()
	if testing.Short() {
		all = all[1:2] // the update of files
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			b, undone, done := &bed{make: func() (string, Request) { return s.start(t) }}, 0, 0
			for n := 1; ; n++ {
				dir, req := b.ready(t)
				before, at := disked(t, dir), fmt.Sprintf("operation %d of %s", n, s.name)
				stop := make(chan struct{})
				req.Stop = stop
				in := injector{at: n, mode: stopAt, stop: func() { close(stop) }}
				_, err := s.run(in.world(), req)
				b.left(t)
				if err != nil {
					undone++
					out := requireKind(t, err, KindStopped)
					assert.False(t, out.Left, at)
					assert.Equal(t, 2, out.ExitCode())
					require.Equal(t, before, disked(t, dir), at)
					if s.from == 0 {
						require.NoDirExists(t, filepath.Dir(dir), at)
					}
					continue
				}
				requireExactly(t, dir, s.want, at)
				if in.n < n {
					break
				}
				done++
			}
			assert.Greater(t, undone, 5, "the injector has missed the run")
			assert.Greater(t, done, 5, "the injector has missed the run")
		})
	}
}

// A stopped or failed run reports what it could not undo.
func TestStoppedRunsReportWhatTheyCouldNotUndo(t *testing.T) {
	s := scenarios()[1]
	_, req := s.start(t)
	stop := make(chan struct{})
	close(stop)
	req.Stop = stop
	w := system()
	w.open = func(dir string) (disk, error) {
		d, err := openDisk(dir)
		return keepingDisk{d}, err
	}
	_, err := s.run(w, req)
	assert.True(t, requireKind(t, err, KindStopped).Left, "the journal")

	b := &bed{make: func() (string, Request) { return s.start(t) }}
	left := 0
	for n := 1; ; n++ {
		_, req := b.ready(t)
		in := injector{at: n, mode: reject, err: broken[0]}
		_, err := s.run(in.world(), req)
		after := b.left(t)
		if in.n < n {
			break
		}
		out, failed := err.(*Error) //nolint:errorlint // not wrapped
		if _, journal := after.files[".dlpackgen.journal"]; journal {
			require.True(t, failed && out.Left, "operation %d", n)
			left++
		}
	}
	assert.Greater(t, left, 3, "the injector has missed the run")
}

// keepingDisk cannot remove journals.
type keepingDisk struct{ disk }

func (d keepingDisk) Remove(name string) error {
	if name == ".dlpackgen.journal" {
		return broken[0]
	}
	return d.disk.Remove(name)
}

// A run that waits for another one stops at once.
func TestStopWhileWaiting(t *testing.T) {
	dir, req := oneFile(t)
	d, err := openDisk(dir)
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, d.Guard(false))
	stop := make(chan struct{})
	req.Stop = stop
	w := system()
	w.wait = time.Hour
	time.AfterFunc(3*poll, func() { close(stop) })
	_, err = w.generate(req, false)
	requireKind(t, err, KindStopped)
}
