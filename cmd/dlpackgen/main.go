// Command dlpackgen generates the code with which a project exchanges DLPack tensors: the C header,
// bindings, callers of kernels, and checks of the ABI. One spec of all DLPack releases is the
// source.
//
//	dlpackgen init        write a config
//	dlpackgen generate    write the files that the config describes
//	dlpackgen check       report files that differ from what generate would write
//
// The rules of its user interface: findings are written to stderr, in lower case and without a full
// stop, each with a position, a stable code and a hint. Machine-readable output is written to
// stdout. The exit code is 0 for success, 1 for findings, and 2 if the command could not run. See
// docs/cli.md.
package main

import (
	"os"
	"runtime/debug"
)

func main() {
	debug.SetGCPercent(200) // runs are short, and most read a few megabytes
	debug.SetMemoryLimit(memory)
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}

// memory is when garbage is collected more often, as a large run needs.
const memory = 72 << 20

// expectMany lets a run on many configs collect garbage less often. Little memory is in use at a
// time, so that a collection would start every few milliseconds, and stop and wake all cores.
func expectMany() { debug.SetGCPercent(800) }

// expectMuch allows more memory for a large input: garbage would be collected all the time if what
// is alive came near to the limit.
func expectMuch(bytes int) { raise(48 * int64(bytes)) }

// expectFiles does so for files that are in memory until they are written.
func expectFiles(bytes int64) { raise(2 * bytes) }

func raise(more int64) {
	if limit := memory + more; limit > debug.SetMemoryLimit(-1) {
		debug.SetMemoryLimit(limit)
	}
}
