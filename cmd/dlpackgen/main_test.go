package main

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheLimitOfMemoryGrowsWithTheLargestInput(t *testing.T) {
	before := debug.SetMemoryLimit(memory)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	expectMuch(1 << 20)
	raised := debug.SetMemoryLimit(-1)
	assert.Greater(t, raised, int64(memory))
	expectFiles(64 << 20)
	assert.Greater(t, debug.SetMemoryLimit(-1), raised)
	raised = debug.SetMemoryLimit(-1)
	expectMuch(1)
	assert.Equal(t, raised, debug.SetMemoryLimit(-1), "a small input after a large one")
}
