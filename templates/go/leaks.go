//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpack

// Leak is something that was not released yet.
type Leak struct {
	What  string // "imported tensor", "exported tensor", "Batch" or "Buffer"
	Stack string // of the goroutine that made it
}

// String gives what it is and where it was made.
func (l Leak) String() string { return l.What + " made by\n" + l.Stack }

// Leaks gives everything that was imported, exported or allocated and not
// released until now, in the order in which it was made, in a program built with
// the tag dlpackdebug; nil in any other. Such a program also logs each imported
// tensor, each Batch and each Buffer that the collector finds to be unreachable before
// it was released. Made for the end of a test; not for speed.
//
// Of the tensors of a Buffer, those of which there is one at a time are not in
// it, and an exported tensor that a consumer holds may be as it should be.
func Leaks() []Leak { return leaks() }
