// Command suite runs the checks of "make quick", "make test" and "make nightly", prints its
// progress, and ends with the time and a count of the checks. It installs nothing: tools/setup.sh
// does, and tests with missing dependencies are skipped with a reason.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/dlpackgen/dlpackgen/internal/tier"
)

func main() {
	quick := flag.Bool("quick", false, "the inner loop: short tests of quick packages, neither staticcheck nor fuzzing")
	nightly := flag.Bool("nightly", false,
		"what make test leaves out as well: emulators, other versions of hosts, long fuzzing")
	fuzzTime := flag.Duration("fuzztime", time.Second, "how long each fuzz target runs; 0 runs none")
	flag.Parse()

	s := &suite{out: os.Stdout, tier: tier.Test, fuzzTime: *fuzzTime}
	switch {
	case *quick:
		s.tier = tier.Quick
	case *nightly:
		s.tier = tier.Nightly
	}
	start := time.Now()
	leaveMake()
	s.run()
	fmt.Print(costs(s.tally.cpu))
	fmt.Print(goals(s.tier, &s.tally, time.Since(start)))
	s.tally.report(os.Stdout)
	if !s.tally.good() {
		os.Exit(1)
	}
}

// leaveMake removes make's variables, which would make nested calls print folders: tests run make
// like users.
func leaveMake() {
	for _, name := range []string{"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES"} {
		os.Unsetenv(name)
	}
}
