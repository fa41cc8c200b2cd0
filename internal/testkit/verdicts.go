package testkit

import "strings"

// Verdicts parses the output of tests/mutants.py and tests/collected.py: each verdict, followed by
// the lines of its process.
func Verdicts(out string) map[string]string {
	printed, verdict := map[string]string{}, ""
	for line := range strings.Lines(out) {
		if of, isSaid := strings.CutPrefix(line, "\t"); isSaid {
			printed[verdict] += of
		} else {
			verdict = strings.TrimSuffix(line, "\n")
			printed[verdict] = ""
		}
	}
	return printed
}
