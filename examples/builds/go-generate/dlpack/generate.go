// Package dlpack takes and gives tensors; dlpackgen makes its other files.
package dlpack

//go:generate dlpackgen generate
