package tree

import (
	"slices"
	"strconv"
	"strings"
)

// isVersion tells a tool version: up to three small numbers with dots between
// them, and maybe a v before them.
func isVersion(s string) bool { return numbers(s) != nil }

// compareVersions orders two tool versions; a missing part is 0.
func compareVersions(a, b string) int { return slices.Compare(numbers(a), numbers(b)) }

func numbers(version string) []int {
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	if len(parts) > 3 {
		return nil
	}
	out := make([]int, 3)
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return nil
		}
		out[i] = int(n)
	}
	return out
}

// installHint says how to get the tool that wrote a lock.
func installHint(version string) string {
	if version != "latest" {
		version = "v" + strings.TrimPrefix(version, "v")
	}
	return "go install github.com/dlpackgen/dlpackgen/cmd/dlpackgen@" + version
}
