//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpack

// AsReadOnly returns the same view with the read-only flag, for a tensor whose producer could not
// set it.
func (t Tensor) AsReadOnly() Tensor {
	t.flags |= FlagReadOnly
	return t
}

// SetReadOnly makes the tensor read-only in all views that Tensor returns afterwards, regardless of
// the producer's flags. Call it before other goroutines use the Managed.
func (m *Managed) SetReadOnly() {
	m.tensor = m.tensor.AsReadOnly()
	m.frozen = true
}
