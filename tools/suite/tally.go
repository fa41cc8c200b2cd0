package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// outcome is the result of one check or test.
type outcome int

const (
	passed outcome = iota
	failed
	skipped
)

// linesOfFailure is the number of output lines of a failed check that are repeated at the end.
const linesOfFailure = 15

// result is one check or test that ran or was skipped.
type result struct {
	Name    string
	Outcome outcome
	Reason  string // the reason of the skip
	Message string // the output, if it failed
}

// tally collects results; the zero value is ready to use.
type tally struct {
	results          []result
	packages, cached int                // with tests, and with cached results
	cpu              map[string]float64 // seconds of the tests of each package
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

// good reports whether the run passed; a run without passed checks fails.
func (t *tally) good() bool { return t.count(failed) == 0 && t.count(passed) > 0 }

// report ends with the line that CI reads.
func (t *tally) report(w io.Writer) {
	if t.count(failed) > 0 {
		fmt.Fprintln(w, "failed:")
	}
	for _, r := range t.results {
		if r.Outcome == failed {
			fmt.Fprintf(w, "  %s\n%s", r.Name, ending(r.Message))
		}
	}
	t.reportSkips(w)
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", t.count(passed), t.count(failed), t.count(skipped))
}

// ending returns the last output lines of a failed check, indented, because a CI may show only the
// end of a log.
func ending(message string) string {
	lines := strings.FieldsFunc(message, func(r rune) bool { return r == '\n' })
	lines = lines[max(0, len(lines)-linesOfFailure):]
	out := ""
	for _, line := range lines {
		out += "      " + line + "\n"
	}
	return out
}

// reportSkips lists each reason once, the most frequent first, with its tests.
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
