//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpack

// AsReadOnly gives the same view with the flag that forbids writing, for a tensor
// whose producer could not set it.
func (t Tensor) AsReadOnly() Tensor {
	t.flags |= FlagReadOnly
	return t
}

// SetReadOnly makes the tensor read-only, whatever its producer says of it, in
// the views that Tensor gives from here on. Call it before others have the
// Managed.
func (m *Managed) SetReadOnly() {
	m.tensor = m.tensor.AsReadOnly()
	m.frozen = true
}
