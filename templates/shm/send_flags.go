//go:build ignore

package shm

// SendFlags restricts the use of a sent tensor by its receivers.
type SendFlags uint32

// ReadOnly prevents receivers from writing to the tensor. The sender still may.
const ReadOnly SendFlags = 1 // DLPACKGEN_SHM_READ_ONLY
