//go:build ignore && cgo && (asan || msan) && !(386 || arm || mips || mipsle || wasm)

package dlpacktest

// sanitized reports whether the memory of released tensors is freed at once, for sanitizers to
// detect later uses.
const sanitized = true
