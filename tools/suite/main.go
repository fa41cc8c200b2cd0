// Command suite runs everything that "make test" promises, says what it does as
// it goes, and ends with a count of what ran. It installs nothing:
// tools/setup.sh has done that before, and what is still missing is skipped
// with its reason.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	quick := flag.Bool("quick", false, "the inner loop: cached, short tests, neither staticcheck nor fuzzing")
	fuzzTime := flag.Duration("fuzztime", 5*time.Second, "how long each fuzz target runs; 0 runs none")
	flag.Parse()

	s := &suite{out: os.Stdout, quick: *quick, fuzzTime: *fuzzTime}
	start := time.Now()
	s.run()
	fmt.Println(timeGoal(*quick, time.Since(start)))
	s.tally.report(os.Stdout)
	if !s.tally.good() {
		os.Exit(1)
	}
}

// timeGoal is a line as "make bench" has them. Time misses no landing: a busy
// machine is no broken build.
func timeGoal(quick bool, took time.Duration) string {
	name, limit := "make-test", 45*time.Minute
	if quick {
		name, limit = "make-quick", time.Minute
	}
	verdict := "met"
	if took > limit {
		verdict = "missed"
	}
	return fmt.Sprintf("goal %s measured %.0fs limit %.0fs %s", name, took.Seconds(), limit.Seconds(), verdict)
}
