//go:build !race

package gobind

// raced reports that the race detector is on.
const raced = false
