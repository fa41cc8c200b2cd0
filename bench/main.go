// Command bench measures speed and memory compared with other tools, and ends with a line for each
// goal. The exit status is 0 even if goals are missed, because load on the machine can cause that.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
)

// suite is one family of measurements; it prints its figures and returns its goals.
type suite struct {
	name string
	run  func(out io.Writer, dir string, rounds int) ([]goal, error) // dir is a separate empty folder
}

var suites = []suite{
	{"generate", benchGenerate},
	{"kernels", benchKernels},
	{"kernels", benchKernelCalls},
	{"callers", benchCallers},
	{"python", benchPython},
	{"go", benchGo},
	{"cpp", benchCpp},
	{"devices", benchDevices},
	{"devices", benchOneAPI},
	{"shm", benchShm},
	{"torch", benchTorch},
	{"torch", benchTorchOps},
	{"release", benchRelease},
	{"release", benchFirstResults},
	{"release", benchMonorepo},
}

func main() {
	only := flag.String("only", "all", "the suite to run")
	rounds := flag.Int("rounds", 15, "how often each command runs")
	flag.Parse()
	if err := bench(os.Stdout, *only, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
}

func bench(out io.Writer, only string, rounds int) error {
	var names []string
	for _, s := range suites {
		names = append(names, s.name)
	}
	if only != "all" && !slices.Contains(names, only) {
		return fmt.Errorf("no suite %q; there is: all, %s", only, strings.Join(names, ", "))
	}
	var goals []goal
	for _, s := range suites {
		if only != "all" && only != s.name {
			continue
		}
		reached, err := s.measure(out, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		goals = append(goals, reached...)
	}
	for _, g := range goals {
		fmt.Fprintln(out, g)
	}
	return nil
}

// measure runs a suite in a temporary folder.
func (s suite) measure(out io.Writer, rounds int) ([]goal, error) {
	dir, err := os.MkdirTemp("", "dlpackgen-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	before := fixedWork()
	goals, err := s.run(out, dir, rounds)
	if err == nil {
		fmt.Fprintln(out, clock(before, fixedWork()))
	}
	return goals, err
}

// goal is a figure that must not exceed its limit.
type goal struct {
	name            string
	measured, limit float64 // measured is NaN without a measurement
	unit            string
	needs           string // the missing program
}

// The form of String is a contract: scripts read these lines.
func (g goal) String() string {
	if math.IsNaN(g.measured) {
		needs, _, _ := strings.Cut(cmp.Or(g.needs, "times of both sides; see what the suite printed"), "\n")
		return fmt.Sprintf("goal %s not measured: needs %s", g.name, needs)
	}
	verdict := "met"
	if g.measured > g.limit {
		verdict = "missed"
	}
	return fmt.Sprintf("goal %s measured %.3g%s limit %.3g%s %s", g.name, g.measured, g.unit, g.limit, g.unit, verdict)
}
