package emit

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// prefixForm matches prefixes of C names, which must be valid in lower and in upper case.
var prefixForm = regexp.MustCompile(`^[a-z][a-z0-9_]*_$`)

// CheckPrefix returns the reason why a prefix of names is invalid, or "".
func CheckPrefix(prefix string) string {
	switch {
	case len(prefix) > 40:
		return fmt.Sprintf("%.40s... is longer than 40 bytes", prefix)
	case !prefixForm.MatchString(prefix):
		return fmt.Sprintf("%q does not have the form of acme_", prefix)
	case strings.Contains(prefix, "__"):
		return fmt.Sprintf("%q has __, which C++ reserves", prefix)
	case strings.HasPrefix(prefix, "dlpack"):
		return fmt.Sprintf("%q begins with dlpack, as names of dlpackgen do", prefix)
	}
	return ""
}

var (
	// prefixable matches the beginning of dlpackgen's names and folders. DLPack's own names do not
	// match and stay unchanged: they belong to one ABI in every copy.
	prefixable = regexp.MustCompile(`\b(?:dlpackgen|DLPACKGEN)[_/]`)
	// prefixableFolder matches the folder of dlpack.h, in an include.
	prefixableFolder = regexp.MustCompile(`([<"])dlpack/`)
)

// prefixed returns a file with the names of a vendored copy: functions, types, macros, guards and
// folders begin with the prefix.
func prefixed(f File, prefix string) File {
	body := f.Data
	if !slices.Contains([]string{".h", ".hpp", ".c", ".cpp"}, path.Ext(f.Path)) {
		return f
	}
	body = prefixable.ReplaceAllFunc(body, func(word []byte) []byte {
		if word[0] == 'D' {
			return append([]byte(strings.ToUpper(prefix)), word...)
		}
		return append([]byte(prefix), word...)
	})
	f.Data = prefixableFolder.ReplaceAll(body, []byte("${1}"+prefix+"dlpack/"))
	folders := strings.Split(f.Path, "/")
	for i, name := range folders {
		if strings.HasPrefix(name, "dlpack") && i < len(folders)-1 || strings.HasPrefix(name, "dlpackgen_") {
			folders[i] = prefix + name
		}
	}
	f.Path = strings.Join(folders, "/")
	return f
}
