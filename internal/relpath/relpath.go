// Package relpath holds the rule for paths in configs, locks and plans: they have slashes, and
// stay below where they start, on every system.
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

// maxLen is Linux's limit of a path. Windows takes longer ones, which are not in use.
const maxLen = 4096

var drive = regexp.MustCompile(`^[A-Za-z]:`)

// Problem says what is wrong with a path, to follow its name in a sentence, and how to mend
// that, which may be ""; both are "" for a good path.
func Problem(name string) (problem, hint string) {
	switch {
	case name == "":
		return "is empty", "write . for the folder itself"
	case TooLong(name) != "":
		return TooLong(name), "shorten it"
	case !utf8.ValidString(name):
		return "is not UTF-8", ""
	case strings.ContainsFunc(name, unicode.IsControl):
		return "holds a control character", "remove it"
	case strings.Contains(name, `\`):
		return "holds a backslash", "write slashes, on Windows too"
	case slices.ContainsFunc(strings.Split(name, "/"), isRepository):
		return "lies in the folder that git keeps for itself, whose config can run programs", "write another path"
	case path.IsAbs(name) || drive.MatchString(name):
		return "must be relative", ""
	case slices.Contains(strings.Split(name, "/"), ".."):
		return "must not contain `..`", ""
	case slices.ContainsFunc(strings.Split(name, "/"), lost):
		return "has a part that Windows cannot store: a device's name, or a dot or a blank at the end", "rename it"
	case !filepath.IsLocal(filepath.FromSlash(name)):
		return "is not below the output directory on this system", ""
	}
	return "", ""
}

// isRepository reports whether some system takes a name for .git. HFS+ of macOS ignores characters
// that have no width.
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

// lost reports whether Windows has no file of that name: a repository is checked out there too.
func lost(part string) bool {
	return reserved.MatchString(part) || part != "." && (strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "))
}

// TooLong says by how much a path of any kind is longer than a system takes, or nothing. Beyond
// the limit, what costs time for each part of a path would cost minutes.
func TooLong(name string) string {
	if len(name) <= maxLen {
		return ""
	}
	return fmt.Sprintf("has %d bytes, more than the %d of the longest path", len(name), maxLen)
}

// Show quotes a path for a message, and cuts off what is too long to read.
func Show(name string) string {
	const enough = 80
	if len(name) > enough {
		name = strings.ToValidUTF8(name[:enough], "") + "..."
	}
	return fmt.Sprintf("%q", name)
}

// Fold returns one spelling for names that differ only in case, or only in whether a letter and its
// accent are one character: on many disks they are one name. macOS ignores both.
func Fold(name string) string { return norm.NFC.String(strings.ToLower(strings.ToUpper(name))) }

// Where says on which systems two names of one Fold are one name.
func Where(a, b string) string {
	if norm.NFC.String(a) == norm.NFC.String(b) {
		return "where a letter and its accent may be one character or two, as on macOS"
	}
	return "where case does not count, as on Windows and macOS"
}
