// Command dlpackgen generates the code with which a project exchanges DLPack tensors: the C header,
// bindings, callers of kernels, and checks of the ABI. One spec of all DLPack releases is the
// source.
//
//	dlpackgen init        write a config
//	dlpackgen generate    make what the config asks for
//	dlpackgen check       tell whether that is still what stands on the disk
//
// The rules of its user interface: findings go to stderr, in lower case and
// without a full stop, each with a place, a stable code and a hint that says
// what to do; what a machine reads goes to stdout. The exit code is 0 when all
// is well, 1 when something was found, 2 when the command could not run. See
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
