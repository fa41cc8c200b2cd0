package testkit

import "strings"

// Verdicts reads what tests/mutants.py and tests/collected.py print: under each verdict the lines
// of the process that it is about.
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
