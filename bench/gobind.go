package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/dlpackgen/dlpackgen/bench/pair"
)

// Pairs are timed many times for a short while, so that other processes seldom interrupt.
const (
	pairRounds = 10 // in a process, for each round of whole processes
	processes  = 6  // because memory placement differs between processes, and may favour one side
	pairSlice  = 50 * time.Microsecond
)

// benchGo measures the Go bindings: each call compared with a minimal implementation in one
// process, and an exchange compared with arrow-go's in another.
func benchGo(out io.Writer, dir string, rounds int) ([]goal, error) {
	floors, err := pairsOf(filepath.Join(dir, "gobench"), ".", "./bench/gobench", rounds)
	if err != nil {
		return nil, err
	}
	arrow, err := pairsOf(filepath.Join(dir, "arrow"), "bench/arrow", ".", rounds)
	if err != nil {
		// Its module must be downloaded, which the minimal implementations do not need.
		fmt.Fprintf(out, "arrow-go: %v\n", err)
		arrow = []pair.Result{unmeasured}
	}
	fmt.Fprintf(out,
		"go: %d processes of %d rounds in turn on %d cores, medians; the ratio is that of the rounds, with its "+
			"quartiles\n",
		processes, rounds*pairRounds, runtime.NumCPU())
	results := append(floors, arrow...)
	pairTable(out, results)
	return pairGoals(results), nil
}

// unmeasured replaces arrow-go if its module is missing.
var unmeasured = pair.Result{Name: "arrow", Limit: 0.2, Ours: []float64{math.NaN()}, Bare: []float64{math.NaN()}}

// pairsOf builds a program that measures pairs, and runs it a few times.
func pairsOf(tool, dir, pkg string, rounds int) (results []pair.Result, err error) {
	build := exec.Command("go", "build", "-o", tool, pkg)
	build.Dir = dir
	if output, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, output)
	}
	for range processes {
		more, err := runPairs(tool, rounds*pairRounds)
		if err != nil {
			return nil, err
		}
		results = merged(results, more)
	}
	return results, nil
}

func runPairs(tool string, rounds int) (results []pair.Result, err error) {
	var output bytes.Buffer
	run := exec.Command(tool, "-rounds="+strconv.Itoa(rounds), "-slice="+pairSlice.String())
	run.Stderr = &output
	printed, err := run.Output()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, output.Bytes())
	}
	return results, json.Unmarshal(printed, &results)
}

// merged adds the rounds of another process of the same program.
func merged(all, more []pair.Result) []pair.Result {
	if all == nil {
		return more
	}
	for i, r := range more {
		all[i].Ours = append(all[i].Ours, r.Ours...)
		all[i].Bare = append(all[i].Bare, r.Bare...)
		all[i].Allocs = max(all[i].Allocs, r.Allocs)
	}
	return all
}

func pairTable(out io.Writer, results []pair.Result) {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "goal\tours\tns\tbare\tns\tratio\tfrom\tto\tallocs")
	for _, r := range results {
		if math.IsNaN(middle(r.Ours)) {
			continue
		}
		ratios := slices.Sorted(slices.Values(r.Ratios()))
		fmt.Fprintf(w, "%s\t%s\t%.1f\t%s\t%.1f\t%.2f\t%.2f\t%.2f\t%g\n", r.Name, r.What, middle(r.Ours), r.Than,
			middle(r.Bare),
			middle(ratios), ratios[len(ratios)/4], ratios[len(ratios)*3/4], r.Allocs)
	}
	w.Flush()
}

// pairGoals returns a goal for each pair with a limit, and the goal that no pair allocates.
func pairGoals(results []pair.Result) (goals []goal) {
	most := 0.0
	for _, r := range results {
		if r.Limit != 0 {
			goals = append(goals, goal{name: "go." + r.Name, measured: middle(r.Ratios()), limit: r.Limit,
				needs: "arrow-go: cd bench/arrow && go mod download"})
		}
		most = max(most, r.Allocs)
	}
	return append(goals, goal{name: "go.allocs", measured: most})
}
