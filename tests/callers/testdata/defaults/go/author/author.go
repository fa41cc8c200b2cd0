// Package author contains the C functions of the kernels.
package author

// #cgo CFLAGS: -I${SRCDIR}/../c -I${SRCDIR}/../kernels
import "C"
