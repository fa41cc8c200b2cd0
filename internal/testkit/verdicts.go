package testkit

import "strings"

// Verdicts parses the output of tests/mutants.py and tests/collected.py: each verdict, followed by
// the lines of its process.
func Verdicts(out string) map[string]string {
	said, verdict := map[string]string{}, ""
	for line := range strings.Lines(out) {
		if of, isSaid := strings.CutPrefix(line, "\t"); isSaid {
			said[verdict] += of
		} else {
			verdict = strings.TrimSuffix(line, "\n")
			said[verdict] = ""
		}
	}
	return said
}
