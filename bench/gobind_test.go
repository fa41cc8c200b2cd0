package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/bench/pair"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

func TestPairsBecomeGoals(t *testing.T) {
	results := []pair.Result{
		{Name: "near", Limit: 1.1, Ours: []float64{10, 21, 90}, Bare: []float64{10, 20, 30}},
		{Name: "known", Ours: []float64{9}, Bare: []float64{1}},
		{Name: "far", Limit: 1.1, Ours: []float64{12}, Bare: []float64{10}, Allocs: 2},
		unmeasured,
	}
	var lines []string
	for _, g := range pairGoals(results) {
		lines = append(lines, g.String())
	}
	assert.Equal(t, []string{
		"goal go.near measured 1.05 limit 1.1 met",
		"goal go.far measured 1.2 limit 1.1 missed",
		"goal go.arrow not measured: needs arrow-go: cd bench/arrow && go mod download",
		"goal go.allocs measured 2 limit 0 missed",
	}, lines)
	var out bytes.Buffer
	pairTable(&out, results)
	assert.Regexp(t, `near +21\.0 +20\.0 +1\.05 +1\.00 +3\.00 +0\n`, out.String())
	assert.Contains(t, out.String(), "known", "for comparison")
	assert.NotContains(t, out.String(), "NaN")
}

func TestProcessesAreMerged(t *testing.T) {
	one := []pair.Result{{Name: "a", Ours: []float64{1, 2}, Bare: []float64{3, 4}, Allocs: 1}}
	two := []pair.Result{{Name: "a", Ours: []float64{5}, Bare: []float64{6}}}
	assert.Equal(t, one, merged(nil, one))
	assert.Equal(t, []pair.Result{{Name: "a", Ours: []float64{1, 2, 5}, Bare: []float64{3, 4, 6}, Allocs: 1}},
		merged(one, two))
}

// run returns the output of a program of pairs after few rounds.
func run(t *testing.T, dir, pkg string) []pair.Result {
	t.Helper()
	results, err := pairsOf(filepath.Join(t.TempDir(), "pairs"), dir, pkg, 1)
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, r := range results {
		assert.Len(t, r.Ratios(), processes*pairRounds, r.Name)
		assert.Positive(t, middle(r.Ours), r.Name)
		assert.Positive(t, middle(r.Bare), r.Name)
		assert.Zero(t, r.Allocs, r.Name)
		assert.False(t, seen[r.Name], "%s is there twice", r.Name)
		seen[r.Name] = true
	}
	return results
}

func TestGobenchMeasuresEveryFloor(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program with cgo")
	}
	var names []string
	for _, r := range run(t, "..", "./bench/gobench") {
		if r.Limit != 0 {
			assert.Equal(t, 1.1, r.Limit, r.Name)
			names = append(names, r.Name)
		}
	}
	for _, floor := range strings.Fields("import import-release release-batch export export-pin deleter " +
		"deleter-thread " +
		"borrow-3 data table-view table-managed table-stream") {
		assert.Contains(t, names, floor)
	}
}

func TestArrowDoesTheSameExchange(t *testing.T) {
	tier.OnlyNightly(t)
	if testing.Short() {
		t.Skip("builds arrow-go")
	}
	get := exec.Command("go", "mod", "download")
	get.Dir = "arrow"
	if output, err := get.CombinedOutput(); err != nil {
		t.Skipf("needs arrow-go, which cannot be downloaded: %s", output)
	}
	vet := exec.Command("go", "vet", ".")
	vet.Dir = "arrow"
	output, err := vet.CombinedOutput()
	require.NoError(t, err, "%s", output)
	assert.Len(t, run(t, "arrow", "."), 2)
}

func TestAProgramThatFailsIsAnError(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "pairs")
	_, err := pairsOf(tool, ".", "./none", 1)
	assert.ErrorContains(t, err, "go build")
	_, err = pairsOf(tool, "..", "./cmd/dlpackgen", 1)
	assert.ErrorContains(t, err, "unknown", "it does not support -rounds")
}
