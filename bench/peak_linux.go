package main

import (
	"os"
	"syscall"
)

// peak returns the maximum resident memory of a process. Linux counts in KiB, and starts with the
// parent's memory at the fork, so this program must remain small.
func peak(state *os.ProcessState) int64 {
	return state.SysUsage().(*syscall.Rusage).Maxrss << 10
}
