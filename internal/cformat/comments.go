package cformat

import (
	"slices"
	"strings"
)

// AlignComments puts the comments behind lines of code that follow each other into one column.
func AlignComments(lines []string) []string {
	out := slices.Clone(lines)
	for from := 0; from < len(out); {
		to, widest := from, 0
		for ; to < len(out) && behind(out[to]) > 0; to++ {
			widest = max(widest, behind(out[to]))
		}
		for i := from; i < to; i++ {
			at := behind(out[i])
			out[i] = out[i][:at] + spaces(widest-at) + out[i][at:]
		}
		from = to + 1
	}
	return out
}

// behind returns where the comment behind code begins, or 0.
func behind(line string) int {
	at := strings.LastIndex(line, " /* ")
	if at < 0 || strings.TrimSpace(line[:at]) == "" || !strings.HasSuffix(line, "*/") {
		return 0
	}
	return at
}
