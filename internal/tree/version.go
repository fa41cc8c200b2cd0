package tree

import (
	"strings"

	"golang.org/x/mod/semver"
)

// Tool identifies a build of dlpackgen.
type Tool struct {
	Version string // of a module, such as v0.1.0; or anything else for a build from a checkout, which has no order
	Digest  string // of what decides output, in hex digits; "" in records of format 1
}

// isTool guards the first line of the records.
func (t Tool) isTool() bool { return isWord(t.Version) && t.Digest != "" && isHex(t.Digest) }

// newer tells whether t has the newer version. A build from a checkout is neither older
// nor newer than others. What wrote format 1 is older than what has a digest.
func (t Tool) newer(than Tool) bool {
	if t.Digest == "" || than.Digest == "" {
		return t.Digest != ""
	}
	return semver.IsValid(t.Version) && semver.IsValid(than.Version) && semver.Compare(t.Version, than.Version) > 0
}

// isOldVersion tells the versions of format 1, which are numbers without a v.
func isOldVersion(s string) bool { return semver.IsValid("v"+s) && !strings.ContainsAny(s, "-+") }

// installHint says how to get the tool that wrote a lock.
func installHint(version string) string {
	return "go install github.com/dlpackgen/dlpackgen/cmd/dlpackgen@" + version
}
