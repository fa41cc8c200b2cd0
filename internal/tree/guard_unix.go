//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package tree

import (
	"errors"
	"os"
	"syscall"
)

// guard locks the directory itself, so that no lock file remains in it. The system releases the
// lock when the directory is closed, also after a kill.
type guard struct{}

// take makes one attempt. On network file systems that cannot lock a directory, because they
// require it to be open for writing, runs are not guarded. Every file is complete even then,
// because files are renamed into place.
func (*guard) take(dir *os.File, shared bool) error {
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	for {
		err := syscall.Flock(int(dir.Fd()), how|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errBusy
		case errors.Is(err, syscall.EBADF), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOLCK),
			errors.Is(err, syscall.ENOSYS):
			return nil
		default:
			return err
		}
	}
}

// drop has nothing to do: closing the directory releases the lock.
func (*guard) drop() {}
