//go:build ignore && cgo && !(asan || msan) && !(386 || arm || mips || mipsle || wasm)

package dlpack

// unpooled is set if a tool detects uses of freed memory.
const unpooled = false

// consumers returns the memory that a consumer receives for a slot.
func (s *slot) consumers() *slot { return s }
