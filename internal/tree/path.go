package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/relpath"
)

// tempPrefix and tempSuffix stand around 16 hex digits in the name of a
// temporary, which lies beside the file that it becomes: a rename cannot cross
// file systems.
const (
	tempPrefix = ".dlpackgen-"
	tempSuffix = ".tmp"
)

// tempName returns the temporary of a path. It is a function of the path, so that
// the journal's paths are enough to find what a killed run left; and short,
// whatever the length of the file's own name.
func tempName(name string) string {
	sum := sha256.Sum256([]byte(name))
	return path.Join(path.Dir(name), tempPrefix+hex.EncodeToString(sum[:8])+tempSuffix)
}

// isTemp tells a temporary's name. Nothing else may be called like that.
func isTemp(name string) bool {
	base := path.Base(name)
	middle, ok := strings.CutPrefix(base, tempPrefix)
	middle, ok2 := strings.CutSuffix(middle, tempSuffix)
	return ok && ok2 && len(middle) == 16 && isHex(middle)
}

// badPath says what keeps a path, taken as slashes, from naming a file below
// the output directory on every system; "" is a good path.
func badPath(name string) string {
	problem, _ := relpath.Problem(name)
	if problem == "" {
		return ""
	}
	return "the path " + problem
}

// parents returns the directories above a clean path, nearest first, without ".".
func parents(name string) []string {
	var out []string
	for end := strings.LastIndexByte(name, '/'); end >= 0; end = strings.LastIndexByte(name[:end], '/') {
		out = append(out, name[:end])
	}
	return out
}

func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdef") == ""
}
