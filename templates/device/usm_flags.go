//go:build ignore

package device

// CheckFlags select the memory that CheckTensor accepts besides device memory.
type CheckFlags uint32

// AllKinds also accepts shared memory and host memory, as dpnp allocates them.
const AllKinds CheckFlags = 1 // DLPACKGEN_USM_ALL_KINDS
