//go:build !race

package gobind

// raced tells that the race detector is on.
const raced = false
