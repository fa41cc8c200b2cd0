// Package relpath contains the rule for paths in configs, locks and plans: they use slashes, are
// relative, and do not leave their base folder on any system.
package relpath

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxLen is Linux's limit of a path. Windows supports longer paths, which are not used in practice.
const maxLen = 4096

var drive = regexp.MustCompile(`^[A-Za-z]:`)

// Problem returns what is wrong with a path, as a text that follows its name in a sentence, and a
// hint, which may be "". Both are "" for a valid path.
func Problem(name string) (problem, hint string) {
	switch {
	case name == "":
		return "is empty", "write . for the folder itself"
	case TooLong(name) != "":
		return TooLong(name), "shorten it"
	case !utf8.ValidString(name):
		return "is not UTF-8", ""
	case strings.ContainsFunc(name, unicode.IsControl):
		return "contains a control character", "remove it"
	case strings.Contains(name, `\`):
		return "contains a backslash", "write slashes, on Windows too"
	case slices.ContainsFunc(strings.Split(name, "/"), isRepository):
		return "is in git's own folder, whose config can run programs", "write another path"
	case path.IsAbs(name) || drive.MatchString(name):
		return "must be relative", ""
	case slices.Contains(strings.Split(name, "/"), ".."):
		return "must not contain `..`", ""
	case slices.ContainsFunc(strings.Split(name, "/"), lost):
		return "has a part that Windows cannot store: a device name, or a dot or a space at the end", "rename it"
	case !filepath.IsLocal(filepath.FromSlash(name)):
		return "is not below the output directory on this system", ""
	}
	return "", ""
}

// isRepository reports whether a name is equivalent to .git on some system. HFS+ of macOS ignores
// zero-width characters.
func isRepository(part string) bool {
	visible := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, part)
	name := Fold(strings.TrimRight(visible, ". "))
	return name == ".git" || name == "git~1"
}

// reserved are names of devices on Windows, with any extension.
var reserved = regexp.MustCompile(`^(?i:CON|PRN|AUX|NUL|COM[0-9]|LPT[0-9])(?:\.|$)`)

// lost reports whether a name is not possible on Windows, where the repository may be checked out
// too.
func lost(part string) bool {
	return reserved.MatchString(part) || part != "." && (strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "))
}

// TooLong returns by how much a path exceeds the limit of systems, or "". Beyond the limit,
// operations on each part of a path would take minutes.
func TooLong(name string) string {
	if len(name) <= maxLen {
		return ""
	}
	return fmt.Sprintf("has %d bytes, more than the %d of the longest path", len(name), maxLen)
}

// Show quotes a path for a message, and truncates a long one.
func Show(name string) string {
	const enough = 80
	if len(name) > enough {
		name = strings.ToValidUTF8(name[:enough], "") + "..."
	}
	return fmt.Sprintf("%q", name)
}

// Fold returns the same result for names that differ only in case or Unicode normalization, because
// they are one name on many file systems. macOS ignores both.
func Fold(name string) string { return norm.NFC.String(strings.ToLower(strings.ToUpper(name))) }

// Where returns the systems on which two names with the same Fold are one name.
func Where(a, b string) string {
	if norm.NFC.String(a) == norm.NFC.String(b) {
		return "where a letter and its accent may be one character or two, as on macOS"
	}
	return "where case is ignored, as on Windows and macOS"
}
