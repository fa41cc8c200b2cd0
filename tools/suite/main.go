// Command suite runs what "make quick", "make test" and "make nightly" promise, says what it does
// as it goes, and ends with the time it took and a count of what ran. It installs nothing:
// tools/setup.sh has done that before, and what is still missing is skipped with its reason.
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
	fuzzTime := flag.Duration("fuzztime", time.Second/2, "how long each fuzz target runs; 0 runs none")
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

// leaveMake takes away what make tells a make that it starts, which would print the folders it
// enters: tests run make as a user does.
func leaveMake() {
	for _, name := range []string{"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES"} {
		os.Unsetenv(name)
	}
}
