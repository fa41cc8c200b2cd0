//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpack

// Leak is an object that was not released yet.
type Leak struct {
	What  string // "imported tensor", "exported tensor", "Batch" or "Buffer"
	Stack string // of the goroutine that created it
}

// String returns the kind of the object and where it was created.
func (l Leak) String() string { return l.What + " made by\n" + l.Stack }

// Leaks returns everything that was imported, exported or allocated and not released yet, in the
// order of creation, if the program is built with the tag dlpackdebug; otherwise nil. Such a
// program also logs each imported tensor, each Batch and each Buffer that becomes unreachable
// before it is released. Leaks is intended for the end of a test, and is not fast.
//
// The result omits tensors of a Buffer of which only one exists at a time. An exported tensor that
// a consumer still holds may be intended.
func Leaks() []Leak { return leaks() }
