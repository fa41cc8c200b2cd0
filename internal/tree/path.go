package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tempPrefix and tempSuffix stand around 16 hex digits in the name of a
// temporary, which lies beside the file that it becomes: a rename cannot cross
// file systems.
const (
	tempPrefix = ".dlpackgen-"
	tempSuffix = ".tmp"
)

// tempName gives the temporary of a path. It is a function of the path, so that
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
	switch {
	case name == "":
		return "the path is empty"
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return "the path has a character that no file name should have"
	case strings.Contains(name, `\`):
		return "the path has a backslash; paths have slashes on every system"
	case path.IsAbs(name):
		return "the path is absolute"
	case hasDotDot(name):
		return "the path has a .. in it"
	case !filepath.IsLocal(filepath.FromSlash(name)):
		return "the path is none below the output directory on this system"
	}
	return ""
}

func hasDotDot(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// parents gives the directories above a path, nearest first, without ".".
func parents(name string) []string {
	var out []string
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		out = append(out, dir)
	}
	return out
}

func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdef") == ""
}
