//go:build ignore

package shm

// SendFlags says what receivers may do with a tensor that Send sends.
type SendFlags uint32

// ReadOnly keeps receivers of the tensor from writing to it. The sender still may.
const ReadOnly SendFlags = 1 // DLPACKGEN_SHM_READ_ONLY
