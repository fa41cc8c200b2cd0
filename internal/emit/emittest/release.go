package emittest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// minorVersion is the declaration of the minor version: its value, and the earlier ones.
var minorVersion = regexp.MustCompile(`(?s)( +- macro: DLPACK_MINOR_VERSION\n.*?literal: )"(\d+)"\n` +
	`((?: +was:\n(?: +- [^\n]+\n)+)?)`)

// NextVersion returns the version of the release that WithNextRelease adds.
func NextVersion() string {
	major, minor, _ := strings.Cut(spec.Embedded().Latest(), ".")
	number, _ := strconv.Atoi(minor)
	return fmt.Sprintf("%s.%d", major, number+1)
}

// WithNextRelease adds a release to the text of the spec as docs/architecture.md describes. It has
// the declarations of branch main.
func WithNextRelease(text string) string {
	latest, next := spec.Embedded().Latest(), NextVersion()
	_, minor, _ := strings.Cut(next, ".")
	const branch = "  - {version: main,"
	text = strings.Replace(text, branch, fmt.Sprintf("  - {version: %q, date: 2099-12}\n", next)+branch, 1)
	return minorVersion.ReplaceAllString(text,
		fmt.Sprintf("${1}%q\n${3}      - {until: %q, literal: \"${2}\"}\n", minor, latest))
}
