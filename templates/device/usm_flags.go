//go:build ignore

package device

// CheckFlags says what CheckTensor admits beyond the memory of devices alone.
type CheckFlags uint32

// AllKinds admits memory that is shared with the host and the host's own, as dpnp makes it.
const AllKinds CheckFlags = 1 // DLPACKGEN_USM_ALL_KINDS
