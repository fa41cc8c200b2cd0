//go:build asan || msan

package gobind

// sanitized reports that the compiler instruments reads and writes: it then moves values to the
// heap that otherwise stay on the stack.
const sanitized = true
