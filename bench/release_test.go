package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGoalsOfFirstResultsAreRead(t *testing.T) {
	assert.Equal(t, []goal{{name: "first-success.go-developer", measured: 31.5, limit: 60, unit: "s"}},
		firstGoals("=== RUN x\ngoal first-success.go-developer measured 31.5s limit 60s met\n--- PASS\n"))
}

func TestTheLargestWheelCounts(t *testing.T) {
	dir := t.TempDir()
	_, err := wheelSize(dir)
	assert.ErrorContains(t, err, "no wheel")
	for name, size := range map[string]int{"a.whl": 1_500_000, "b.whl": 2_500_000, "c.zip": 9_000_000} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o600))
	}
	size, err := wheelSize(dir)
	require.NoError(t, err)
	assert.Equal(t, 2.5, size)
}
