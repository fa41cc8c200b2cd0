package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCostsOfPackages(t *testing.T) {
	assert.Equal(t, "CPU seconds of tests: 113\n    100 r\n     12 p\n",
		costs(map[string]float64{"p": 12.4, "r": 100, "s": 0.5}))
	assert.Empty(t, costs(map[string]float64{"s": 0.5}), "a run of cached results reports no times")
}

func TestParseStat(t *testing.T) {
	p, ok := parseStat("7 (a ) b) S 3 7 7 0 -1 4194560 1 2 3 4 10 20 300 400 20 0 1 0 5 6")
	assert.True(t, ok)
	assert.Equal(t, process{parent: 3, ticks: 730}, p)
	_, ok = parseStat("7 (a")
	assert.False(t, ok, "a line that is cut")
}

// A test binary counts together with its children; other processes do not count.
func TestLook(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc, which is Linux's")
	}
	root := t.TempDir()
	dir := filepath.Join(root, "tests", "x")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	sleep, err := exec.LookPath("sleep")
	require.NoError(t, err)
	text, err := os.ReadFile(sleep)
	require.NoError(t, err)
	program := filepath.Join(root, "x.test")
	require.NoError(t, os.WriteFile(program, text, 0o700))
	ids := make([]int, 0, 2)
	for _, name := range []string{program, sleep} {
		cmd := exec.Command(name, "600")
		cmd.Dir, cmd.Env = root, []string{"PWD=" + dir} // a test that has changed its folder
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
		ids = append(ids, cmd.Process.Pid)
	}
	assert.Equal(t, os.Getpid(), processes()[ids[0]].parent)

	m := meter{root: root, seconds: map[string]float64{}}
	all := map[int]process{ids[0]: {1, 150}, ids[1]: {1, 1000}, -1: {ids[0], 250}, -2: {-1, 100}}
	m.look(1, all)
	assert.Equal(t, map[string]float64{"tests/x": 5}, m.seconds)
	m.look(1, map[int]process{ids[0]: {1, 160}})
	assert.Equal(t, map[string]float64{"tests/x": 5}, m.seconds, "ended processes still count")
}
