//go:build !(asan || msan)

package gobind

// sanitized tells that the compiler instruments reads and writes: it then moves
// values to the heap that else stay on the stack.
const sanitized = false
