//go:build !windows

package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Projects may be in memory, such as in a container's /dev/shm.
func TestFilesOfTheProcessAreNoConfigs(t *testing.T) {
	for file, want := range map[string]bool{
		"/dev/stdin": true, "/dev/fd/3": true, "/dev/null": true, "/dev/shm": true, "/proc/self/fd/0": true,
		"/dev/shm/project/dlpackgen.yaml": false, "/device/dlpackgen.yaml": false, "dlpackgen.yaml": false,
	} {
		assert.Equal(t, want, ofProcess(file), file)
	}
}
