// Package author contains the C functions of kernels.yaml.
package author

// #cgo CFLAGS: -I${SRCDIR}/../c -I${SRCDIR}/../kernels
import "C"
