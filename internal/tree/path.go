package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/relpath"
)

// tempPrefix and tempSuffix surround 16 hex digits in the name of a temporary. It is in the folder
// of its file, because a rename cannot cross file systems.
const (
	tempPrefix = ".dlpackgen-"
	tempSuffix = ".tmp"
)

// tempName returns the temporary of a path. It depends only on the path, so that the temporaries of
// a killed run can be found from the paths in the journal. Its length does not depend on the file's
// name.
func tempName(name string) string {
	sum := sha256.Sum256([]byte(name))
	return path.Join(path.Dir(name), tempPrefix+hex.EncodeToString(sum[:8])+tempSuffix)
}

// isTemp reports whether a name is that of a temporary. No other file may have such a name.
func isTemp(name string) bool {
	base := path.Base(name)
	middle, ok := strings.CutPrefix(base, tempPrefix)
	middle, ok2 := strings.CutSuffix(middle, tempSuffix)
	return ok && ok2 && len(middle) == 16 && isHex(middle)
}

// badPath returns why a path with slashes does not name a file below the output directory on every
// system, or "" for a valid path.
func badPath(name string) string {
	problem, _ := relpath.Problem(name)
	if problem == "" {
		return ""
	}
	return "the path " + problem
}

// parents returns the parent directories of a clean path, nearest first, without ".".
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
