package testkit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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

// RequireCaught requires of the output of tests/mutants.py that the numbered mutants were caught,
// and that no script fails without one.
func RequireCaught(t testing.TB, out string, mutants, scripts []string) {
	t.Helper()
	for i, name := range mutants {
		require.Regexp(t, fmt.Sprintf(`(?m)^caught %d \w+\.py `, i+1), out, "no test detected that %s", name)
	}
	for _, script := range scripts {
		require.Contains(t, out, "missed 0 "+script+"\n", "it fails with all guards in place:\n%s", out)
	}
}
