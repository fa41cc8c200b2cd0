//go:build !unix

package testtool

import (
	"testing"
	"time"
)

// Spent skips the test: its limit of CPU time is held where Unix measures it.
func Spent(t testing.TB) time.Duration {
	t.Helper()
	t.Skip("needs a Unix, which measures the CPU time of a process")
	return 0
}
