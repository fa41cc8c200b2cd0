package main

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

func TestGoalLines(t *testing.T) {
	const limit = " limit 40MiB "
	tests := map[string]goal{
		"measured 0.231 limit 0.25 met":       {measured: 0.2314, limit: 0.25},
		"measured 40MiB" + limit + "met":      {measured: 40, limit: 40, unit: "MiB"},
		"measured 41.5MiB" + limit + "missed": {measured: 41.5, limit: 40, unit: "MiB"},
		"measured +Inf limit 13 missed":       {measured: math.Inf(1), limit: 13},
		"not measured: needs x: apt-get install": {measured: math.NaN(), limit: 1,
			needs: "x: apt-get install\nlog"},
		"not measured: needs times of both sides; see what the suite printed": {measured: math.NaN()},
	}
	for want, g := range tests {
		g.name = "a"
		assert.Equal(t, "goal a "+want, g.String())
	}
}

// A goal whose reference program is missing is not measured, and reports what to install.
func TestWithoutBindgenItsGoalIsNotMeasured(t *testing.T) {
	b := &generateBench{fresh: map[int]*command{1: took(5), 10: took(14), 100: took(104)}}
	assert.Equal(t, "goal generate-time-over-bindgen not measured: needs bindgen: apt-get install bindgen",
		b.goals()[0].String())
	b.bindgen = took(50)
	assert.Equal(t, "goal generate-time-over-bindgen measured 0.1 limit 0.25 met", b.goals()[0].String())
}

func TestAnUnknownSuiteIsRejected(t *testing.T) {
	assert.ErrorContains(t, bench(&bytes.Buffer{}, "nothing", 1), "generate")
}

// took returns a command whose rounds took these milliseconds.
func took(walls ...int) *command {
	c := &command{}
	for _, w := range walls {
		c.runs = append(c.runs, usage{wall: time.Duration(w) * time.Millisecond})
	}
	return c
}

func TestRatioIsTheMiddleOfTheRounds(t *testing.T) {
	slowing := ratio(took(10, 20, 90), took(20, 40, 180))
	assert.InDelta(t, 0.5, slowing, 1e-9, "a machine that slows down does so for both")
	assert.InDelta(t, 2, ratio(took(2, 2, 900), took(1, 1, 1)), 1e-9, "one bad round does not count")
}

// Without the digest, the time to compute it would be measured too.
func TestTheProgramIsBuiltAsAReleaseIs(t *testing.T) {
	if testing.Short() {
		t.Skip("builds dlpackgen")
	}
	t.Chdir("..")
	tool := filepath.Join(t.TempDir(), "dlpackgen")
	require.NoError(t, buildProgram(tool))
	output, err := exec.Command(tool, "version").Output()
	require.NoError(t, err)
	assert.Equal(t, "dlpackgen devel "+benchDigest+"\n", string(output))
	output, err = exec.Command(tool, "generate", "--quiet", "--no-config", "--out", t.TempDir()).CombinedOutput()
	require.NoError(t, err, "%s", output)
}

// Deleted files would slow the next round.
func TestConfigsOfARoundAreMovedAside(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	configs := map[string]string{filepath.Join(home, "p", "dlpackgen.yaml"): "  acme: {}\n"}
	prepare := (&monorepoBench{}).writeConfigs(home, configs)
	for range 3 {
		require.NoError(t, prepare())
		require.NoFileExists(t, filepath.Join(home, "p", "made"))
		require.NoError(t, os.WriteFile(filepath.Join(home, "p", "made"), nil, 0o600))
	}
	text, err := os.ReadFile(filepath.Join(home, "p", "dlpackgen.yaml"))
	require.NoError(t, err)
	assert.Equal(t, "version: 1\nbackends:\n  acme: {}\n", string(text))
	assert.FileExists(t, filepath.Join(home+"-2", "p", "made"))
	require.NoError(t, (&monorepoBench{inMemory: true}).writeConfigs(home, nil)())
	assert.NoDirExists(t, home)
	assert.NoDirExists(t, home+"-1", "memory is needed, and deleting costs nothing there")
}

func TestGrowth(t *testing.T) {
	of := func(one, ten, hundred int) float64 {
		return (&generateBench{fresh: map[int]*command{1: took(one), 10: took(ten), 100: took(hundred)}}).growth()
	}
	assert.InDelta(t, 11, of(5, 14, 104), 1e-9)
	assert.Greater(t, of(5, 14, 905), 13.0, "quadratic")
	assert.Equal(t, math.Inf(1), of(5, 5, 104), "never met by accident")
	assert.Equal(t, math.Inf(1), of(5, 4, 104))
}

func TestMeasureKeepsEveryRoundButTheFirst(t *testing.T) {
	prepared := 0
	c := &command{argv: []string{"sleep", "0.01"}, prepare: func() error { prepared++; return nil }}
	require.NoError(t, measure(3, []*command{c}))
	assert.Equal(t, 4, prepared)
	require.Len(t, c.runs, 3)
	for _, u := range c.runs {
		assert.Greater(t, u.wall, 10*time.Millisecond)
		assert.Positive(t, u.peak)
	}
	var out bytes.Buffer
	table(&out, []*command{c})
	assert.Contains(t, out.String(), "peak, MiB")
	assert.ErrorContains(t, measure(1, []*command{{argv: []string{"sh", "-c", "echo no >&2; exit 3"}}}), "no\n")
}

func TestScaledSpecIsASpec(t *testing.T) {
	source, err := os.ReadFile("../spec/dlpack.yaml")
	require.NoError(t, err)
	sizes := map[int]int{}
	for _, n := range []int{1, 10, 100} {
		var scaled bytes.Buffer
		require.NoError(t, scale(&scaled, source, n))
		s, diags := spec.Load("scaled.yaml", scaled.Bytes())
		require.False(t, diags.Failed(), "%v", diags.Sorted())
		release, err := s.Release("1.3")
		require.NoError(t, err)
		sizes[n] = len(release.Decls)
	}
	each := (sizes[10] - sizes[1]) / 9
	assert.Greater(t, each, 10, "a copy holds most declarations")
	assert.Equal(t, sizes[1]+99*each, sizes[100])
	assert.Error(t, scale(&bytes.Buffer{}, []byte("spec: 1\n"), 2))
}

func TestCppIsMeasured(t *testing.T) {
	tier.OnlyNightly(t)
	if testing.Short() {
		t.Skip("builds two modules and imports torch")
	}
	t.Chdir("..")
	var out bytes.Buffer
	goals, err := benchCpp(&out, t.TempDir(), 1)
	require.NoError(t, err, "%s", out.String())
	assert.Contains(t, out.String(), "dlpackgen/core.hpp")
	var names []string
	for _, g := range goals {
		names = append(names, g.name)
	}
	assert.Equal(t, []string{"cpp.include.core", "cpp.include.all", "cpp.call.numpy", "cpp.call.torch"}, names)
}

func TestDevicesAreMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("starts drivers")
	}
	t.Chdir("..")
	var out bytes.Buffer
	goals, err := benchDevices(&out, t.TempDir(), 1)
	require.NoError(t, err, "%s", out.String())
	require.Len(t, goals, 3)
	assert.Equal(t, "devices.borrow", goals[0].name)
	assert.Equal(t, 1.0, goals[0].measured, "crossings are counted, not timed")
	assert.Equal(t, "devices.pointer_attributes", goals[1].name)
	assert.Positive(t, goals[1].measured)
	assert.Equal(t, "devices.load", goals[2].name)
}

func TestOneAPIIsMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("starts drivers")
	}
	t.Chdir("..")
	var out bytes.Buffer
	goals, err := benchOneAPI(&out, t.TempDir(), 1)
	require.NoError(t, err, "%s", out.String())
	require.Len(t, goals, 2)
	assert.Equal(t, "devices.oneapi.pointer_attributes", goals[0].name)
	assert.Positive(t, goals[0].measured)
	assert.Equal(t, "devices.oneapi.load", goals[1].name)
}
