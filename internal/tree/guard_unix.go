//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package tree

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// guard locks the directory itself, so that no lock file is left in it. The
// system lets go when the directory is closed, also by a kill.
type guard struct{}

// take makes one attempt. Network file systems that cannot lock a directory
// (they want it opened for writing) leave the runs unguarded: every file stays
// whole even then, since each is renamed into place.
func (*guard) take(dir *os.File, shared bool) error {
	how := unix.LOCK_EX
	if shared {
		how = unix.LOCK_SH
	}
	for {
		err := unix.Flock(int(dir.Fd()), how|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return errBusy
		case errors.Is(err, unix.EBADF), errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOLCK), errors.Is(err,
			unix.ENOSYS):
			return nil
		default:
			return err
		}
	}
}

// drop has nothing to do: closing the directory lets go.
func (*guard) drop() {}
