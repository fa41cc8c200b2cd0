package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// outcome is how one check or test ended.
type outcome int

const (
	passed outcome = iota
	failed
	skipped
)

// linesOfFailure is how much of what a failed check printed is said again at the end.
const linesOfFailure = 15

// result is one check or test that ran or was skipped.
type result struct {
	Name    string
	Outcome outcome
	Reason  string // why it was skipped
	Said    string // what it printed, if it failed
}

// tally collects results; the zero value is ready to use.
type tally struct {
	results          []result
	packages, cached int                // with tests, and those whose results the go command had
	cpu              map[string]float64 // seconds that the tests of each package took
}

func (t *tally) add(r ...result) { t.results = append(t.results, r...) }

func (t *tally) count(o outcome) int {
	n := 0
	for _, r := range t.results {
		if r.Outcome == o {
			n++
		}
	}
	return n
}

// good tells whether the run may land: a run in which nothing passed proves
// nothing, so it is no good either.
func (t *tally) good() bool { return t.count(failed) == 0 && t.count(passed) > 0 }

// report ends with the one line that CI reads.
func (t *tally) report(w io.Writer) {
	if t.count(failed) > 0 {
		fmt.Fprintln(w, "failed:")
	}
	for _, r := range t.results {
		if r.Outcome == failed {
			fmt.Fprintf(w, "  %s\n%s", r.Name, ending(r.Said))
		}
	}
	t.reportSkips(w)
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", t.count(passed), t.count(failed), t.count(skipped))
}

// ending gives the last lines of what a failed check printed, indented. A CI that shows the end of
// a log alone then shows why it failed.
func ending(said string) string {
	lines := strings.FieldsFunc(said, func(r rune) bool { return r == '\n' })
	lines = lines[max(0, len(lines)-linesOfFailure):]
	out := ""
	for _, line := range lines {
		out += "      " + line + "\n"
	}
	return out
}

// reportSkips lists each reason once, the most frequent first, with the tests
// that gave it.
func (t *tally) reportSkips(w io.Writer) {
	byReason := map[string][]string{}
	for _, r := range t.results {
		if r.Outcome == skipped {
			byReason[r.Reason] = append(byReason[r.Reason], r.Name)
		}
	}
	if len(byReason) == 0 {
		return
	}
	reasons := make([]string, 0, len(byReason))
	for reason := range byReason {
		reasons = append(reasons, reason)
	}
	slices.SortFunc(reasons, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(byReason[b]), len(byReason[a])), cmp.Compare(a, b))
	})
	fmt.Fprintln(w, "skipped:")
	for _, reason := range reasons {
		names := byReason[reason]
		fmt.Fprintf(w, "  %d because: %s (%s%s)\n", len(names), reason, names[0], andMore(len(names)-1))
	}
}

func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}
