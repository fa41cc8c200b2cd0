package main

import (
	"os"
	"syscall"
)

// peak reads the most resident memory that a process ever had. Linux counts in
// KiB, and starts from what the parent held when it forked: this program stays
// small for that reason.
func peak(state *os.ProcessState) int64 {
	return state.SysUsage().(*syscall.Rusage).Maxrss << 10
}
