//go:build ignore && cgo && (asan || msan) && !(386 || arm || mips || mipsle || wasm)

package dlpacktest

// sanitized tells that tensors are freed memory once they are released, for the
// sanitizers to find uses after that.
const sanitized = true
