//go:build unix

package testtool

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Spent returns the CPU time of this process, which depends less on the load of the machine than
// elapsed time.
func Spent(t testing.TB) time.Duration {
	t.Helper()
	var used syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
