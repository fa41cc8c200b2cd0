// Command gobench compares the Go bindings with minimal implementations: the same work written by
// hand, in Go or in C, for one case. It prints the results as JSON, which the suite "go" of bench
// reads. Both sides process the same tensors, two rows of three float32, and make all checks that
// their callers rely on.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"slices"

	"github.com/dlpackgen/dlpackgen/bench/pair"
)

func main() {
	rounds, slice := pair.Flags()
	only := flag.String("only", "", "pattern of the pairs to measure")
	flag.Parse()
	debug.SetGCPercent(-1) // only exhausted memory makes these calls fail
	wanted := regexp.MustCompile(*only)
	pairs := slices.DeleteFunc(slices.Concat(imports(), exports(), deleters(), tables()), func(p pair.Pair) bool {
		return !wanted.MatchString(p.Name)
	})
	results := pair.Measure(pairs, *rounds, *slice)
	if broken != nil {
		fmt.Fprintln(os.Stderr, "gobench:", broken)
		os.Exit(2)
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		fmt.Fprintln(os.Stderr, "gobench:", err)
		os.Exit(2)
	}
}

// floor is the maximum ratio to the minimal implementation.
const floor = 1.1

// broken is the first error: timings of failed work are useless.
var broken error

func must(err error) {
	if err != nil && broken == nil {
		broken = err
	}
}

func check(ok bool, what string) {
	if !ok && broken == nil {
		broken = fmt.Errorf("%s failed", what)
	}
}
