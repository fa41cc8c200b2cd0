package lint

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const (
	// duplicateRun is the number of consecutive equal code lines that count as shared.
	duplicateRun = 6
	// duplicatePage lists the pairs of files that share lines for a reason.
	duplicatePage = "tests/lint/duplicates.txt"
)

// codeKinds are the extensions of code files.
var codeKinds = []string{".go", ".c", ".h", ".hpp", ".cpp", ".cu", ".py", ".pyi", ".sh", ".cmake", ".bzl", ".rs",
	".zig", ".js", ".ts", ".tmpl"}

// passedOver matches lines without content: imports, directives and the ends of blocks.
var passedOver = regexp.MustCompile(`^(?:import\b|from .* import\b|package |#|"[\w./-]+"$|use |mod )`)

// codeLine is a line of code without its white space.
type codeLine struct {
	file   string
	number int
	text   string
}

// run is a sequence of lines that two files share: the first line in each, and the length.
type run struct {
	one, other codeLine
	lines      int
}

// duplicates finds sequences of lines that two files share, and rows of the list whose files share
// none. Duplicated code diverges.
func duplicates(tree []File) (found []string) {
	listed := map[[2]string]bool{}
	for _, f := range tree {
		if f.Path == duplicatePage {
			found = append(found, f.listedPairs(listed)...)
		}
	}
	shared := sharedRuns(tree)
	for pair, at := range shared {
		if !listed[pair] {
			found = append(found, fmt.Sprintf(
				"%s:%d: %d lines of code are repeated in %s:%d: move them to one place, or give "+
					"the reason in %s", at.one.file, at.one.number, at.lines, at.other.file, at.other.number,
				duplicatePage))
		}
	}
	for pair := range listed {
		if _, ok := shared[pair]; !ok {
			found = append(found, fmt.Sprintf("%s:1: %s and %s share no lines: remove the row", duplicatePage, pair[0],
				pair[1]))
		}
	}
	slices.Sort(found)
	return found
}

// listedPairs reads the list: two paths and the reason in each row.
func (f File) listedPairs(listed map[[2]string]bool) (found []string) {
	n := 0
	for line := range strings.Lines(string(f.Data)) {
		n++
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case len(words) < 4:
			found = append(found, fmt.Sprintf("%s:%d: want two paths and the reason", f.Path, n))
		default:
			listed[pairOf(words[0], words[1])] = true
		}
	}
	return found
}

func pairOf(one, other string) [2]string { return [2]string{min(one, other), max(one, other)} }

// sharedRuns returns the first sequence of each pair of files, and the total lines.
func sharedRuns(tree []File) map[[2]string]run {
	places := map[string][]codeLine{}
	for _, f := range tree {
		lines := f.code()
		for i := 0; i+duplicateRun <= len(lines); i++ {
			var key strings.Builder
			for _, line := range lines[i : i+duplicateRun] {
				key.WriteString(line.text + "\n")
			}
			places[key.String()] = append(places[key.String()], lines[i])
		}
	}
	shared := map[[2]string]run{}
	for _, all := range places {
		for i, one := range all {
			for _, other := range all[i+1:] {
				add(shared, one, other)
			}
		}
	}
	return shared
}

// add counts a sequence of the minimum length.
func add(shared map[[2]string]run, one, other codeLine) {
	if one.file == other.file {
		return
	}
	if one.file > other.file {
		one, other = other, one
	}
	pair := pairOf(one.file, other.file)
	at, ok := shared[pair]
	if !ok {
		at = run{one, other, duplicateRun - 1}
	}
	at.lines++
	if cmp.Or(cmp.Compare(one.number, at.one.number), cmp.Compare(other.number, at.other.number)) < 0 {
		at.one, at.other = one, other
	}
	shared[pair] = at
}

// code returns the lines of the file with code.
func (f File) code() (lines []codeLine) {
	if f.isGenerated() || f.within("docs") || !slices.Contains(codeKinds, f.kind()) {
		return nil
	}
	n := 0
	for line := range bytes.Lines(f.Data) {
		n++
		text := strings.Join(strings.Fields(string(line)), " ")
		if !f.isComment(text) && !passedOver.MatchString(text) && strings.ContainsFunc(text, isWord) {
			lines = append(lines, codeLine{path.Clean(f.Path), n, text})
		}
	}
	return lines
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
