package targets

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/templates"
)

// A copied file with parts consists of the lines of its source and its parts, in order. Only lines
// with a substituted word differ. Rendered parts are compared with their separate files.
func TestCopiesWithPartsAreTheirSources(t *testing.T) {
	copies := 0
	copied(t, func(row, file string, a emit.Asset, manifest emit.Manifest) {
		if a.Parts != nil || a.Known != nil {
			copies++
			j := joint{read: readers(t, manifest, a), words: manifest.Words, asset: a}
			assert.Empty(t, j.compare(file), "%s: %s", row, a.To)
		}
	})
	assert.Greater(t, copies, 30)
}

// readers returns the function that returns the text of an asset or of one of its parts.
func readers(t *testing.T, manifest emit.Manifest, a emit.Asset) func(emit.Asset) string {
	t.Helper()
	return func(part emit.Asset) string {
		if !part.Rendered() {
			source, err := templates.Files.ReadFile(part.From)
			require.NoError(t, err)
			return string(source)
		}
		part.Words = slices.Concat(part.Words, a.Words)
		alone, err := emit.Render("1.3", emit.Manifest{Assets: []emit.Asset{part}, Words: manifest.Words})
		require.NoError(t, err)
		return withoutBanner(string(alone[0].Data))
	}
}

// withoutBanner returns a file without the two lines of the banner.
func withoutBanner(file string) string {
	_, body, _ := strings.Cut(file, "\n")
	_, body, _ = strings.Cut(body, "\n")
	return body
}

// joint compares an output with its source and its parts.
type joint struct {
	read  func(emit.Asset) string
	words emit.Words // of the manifest
	asset emit.Asset
	rest  []string // the lines of the output that are not compared yet, without blank ones
	done  []string // the parts that were included
	lost  []string // the first finding
}

// compare returns the first line of the source or a part that is missing at its position in the
// output, or the first line of the output that is in none of them.
func (j *joint) compare(output string) []string {
	j.rest = filled(withoutBanner(output))
	source := filled(j.read(j.asset))
	if strings.HasPrefix(source[0], "//go:build ignore") && strings.HasPrefix(j.rest[0], "//go:build ") {
		source, j.rest = source[1:], j.rest[1:]
	}
	j.follow(source, slices.Concat(j.asset.Words, j.words))
	if len(j.rest) > 0 && j.lost == nil {
		return []string{"in no source: " + j.rest[0]}
	}
	return j.lost
}

// filled returns the non-blank lines of a text, because the blank ones at the ends of parts are
// merged.
func filled(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			all = append(all, line)
		}
	}
	return all
}

var includes = regexp.MustCompile(`^\s*#\s*include\s+["<](.+)[">]`)

// follow compares the lines of a source, and the lines of each part at its first include. The name
// of a part may be a substituted word.
func (j *joint) follow(source []string, words emit.Words) {
	replacer := strings.NewReplacer(words...)
	for _, line := range source {
		if found := includes.FindStringSubmatch(replacer.Replace(line)); found != nil && j.included(found[1], words) {
			continue
		}
		j.next(line, words)
	}
}

// next compares the next line of the output. It does nothing after the first finding.
func (j *joint) next(line string, words emit.Words) {
	switch {
	case j.lost != nil:
	case len(j.rest) == 0 || line != j.rest[0] && !hasWord(line, words):
		j.lost = []string{line}
	default:
		j.rest = j.rest[1:]
	}
}

// included compares the text that replaces an include of a part. It returns false for other files.
func (j *joint) included(name string, words emit.Words) bool {
	if output, ok := j.asset.Known[name]; ok {
		if !slices.Contains(j.done, output) {
			j.done = append(j.done, output)
			j.next(`#include "`+output+`"`, nil)
		}
		return true
	}
	part, ok := partOf(j.asset.Parts, name)
	if ok && !slices.Contains(j.done, name) {
		j.done = append(j.done, name)
		lines := filled(j.read(part))
		if !j.asset.Guards {
			lines = unguarded(lines)
		}
		j.section(lines, slices.Concat(part.Words, words))
	}
	return ok
}

// section compares the text of a part. Its first comment precedes its own code, with other line
// breaks.
func (j *joint) section(lines []string, words emit.Words) {
	size := 0
	if strings.HasPrefix(lines[0], "/*") {
		size = 1 + slices.IndexFunc(lines, func(line string) bool { return strings.HasSuffix(line, "*/") })
	}
	for size < len(lines) && strings.HasPrefix(lines[size], "//") {
		size++
	}
	comment, lines := lines[:size], lines[size:]
	code := slices.IndexFunc(lines, func(line string) bool { return !isBeforeCode.MatchString(line) })
	if code < 0 {
		code = len(lines)
	}
	j.follow(lines[:code], words)
	if code < len(lines) && !strings.HasPrefix(lines[code], "#endif") {
		j.heading(strings.NewReplacer(words...).Replace(strings.Join(comment, " ")))
	}
	j.follow(lines[code:], words)
}

var (
	isBeforeCode = regexp.MustCompile(`^\s*#\s*include|^#ifndef \w+_$|^#ifndef \w+_H$|^#define \w+(_|_H)$`)
	ofFiles      = regexp.MustCompile(`\\file \S+|Part of (\w\.\w|[^.])+\.`)
	ofComments   = regexp.MustCompile(`(^|\s)(/\*\*?|//|\*)(\s|$)|\s*\*/`)
)

// heading compares the words of a part's first comment, except for names of files.
func (j *joint) heading(comment string) {
	plain := func(text string) []string { return strings.Fields(ofComments.ReplaceAllString(text, " ")) }
	want := strings.Fields(ofFiles.ReplaceAllString(strings.Join(plain(comment), " "), " "))
	var got []string
	for len(got) < len(want) && len(j.rest) > 0 {
		got, j.rest = append(got, plain(j.rest[0])...), j.rest[1:]
	}
	if len(j.rest) > 0 && strings.TrimSpace(j.rest[0]) == "*/" {
		j.rest = j.rest[1:]
	}
	if j.lost == nil && !slices.Equal(want, got) {
		j.lost = []string{comment}
	}
}

func partOf(parts []emit.Asset, name string) (emit.Asset, bool) {
	for _, part := range parts {
		if part.To == name {
			return part, true
		}
		if below, ok := partOf(part.Parts, name); ok {
			return below, true
		}
	}
	return emit.Asset{}, false
}

// unguarded removes the three lines of an include guard.
func unguarded(lines []string) []string {
	for i := range lines[:max(len(lines)-2, 0)] {
		name, isGuard := strings.CutPrefix(lines[i], "#ifndef ")
		if isGuard && lines[i+1] == "#define "+name && strings.HasPrefix(lines[len(lines)-1], "#endif") {
			return slices.Concat(lines[:i], lines[i+2:len(lines)-1])
		}
	}
	return lines
}

func TestAnotherCopyWithPartsIsSeen(t *testing.T) {
	texts := map[string]string{
		"a.c": "#include <stdio.h>\n#include \"p.h\"\nint a;\nint word;\n#include \"e.h\"\n#include \"k.h\"\nint b;\n",
		"p.h": "/**\n * \\file p.h\n * The p. Part of\n * a.c. */\n#ifndef P_H\n#define P_H\n#include \"q.h\"\nint p;\n\nint p2;\n#endif /* P_H */\n",
		"q.h": "// The q.\n#ifndef Q_H\n#define Q_H\nint q;\n#endif\n",
		"e.h": "/* The e. */\n#ifndef E_H\n#define E_H\n#include \"q.h\"\n#endif\n",
	}
	a := emit.Asset{From: "a.c", Words: emit.Words{"word", "w"}, Known: map[string]string{"k.h": "all.h"},
		Parts: []emit.Asset{{From: "p.h", To: "p.h"}, {From: "q.h", To: "q.h"}, {From: "e.h", To: "e.h"}}}
	const good = "#include <stdio.h>\n\n// The q.\n\nint q;\n\n/* The p. */\n\nint p;\n\nint p2;\n\nint a;\nint w;\n#include \"all.h\"\nint b;\n"
	compare := func(body string) []string {
		j := joint{read: func(part emit.Asset) string { return texts[part.From] }, asset: a}
		return j.compare(emit.Banner("a.c", "1.3") + body)
	}
	assert.Empty(t, compare(good))
	bad := map[string]string{
		"a line of a part is lost":     mutant.Once(t, good, "int p2;\n", ""),
		"a line of a part differs":     mutant.Once(t, good, "int q;", "int q = 1;"),
		"a line of the source differs": mutant.Once(t, good, "int a;", "int a = 1;"),
		"two lines are exchanged":      mutant.Once(t, good, "int p;\n\nint p2;", "int p2;\n\nint p;"),
		"a part stands after its first use": mutant.Once(t,
			good, "int q;\n\n/* The p. */\n\nint p;", "int p;\n\nint q;"),
		"a part stands twice":              mutant.Once(t, good, "int w;\n", "int w;\nint q;\n"),
		"a heading is lost":                mutant.Once(t, good, "/* The p. */\n", ""),
		"a heading differs":                mutant.Once(t, good, "The p.", "The q."),
		"a heading stands without code":    mutant.Once(t, good, "int w;\n", "int w;\n/* The e. */\n"),
		"a heading names its file":         mutant.Once(t, good, "The p.", "p.h The p."),
		"a guard stays":                    mutant.Once(t, good, "int q;\n", "#ifndef Q_H\n#define Q_H\nint q;\n"),
		"an include of a part stays":       mutant.Once(t, good, "int q;\n", "#include \"p.h\"\nint q;\n"),
		"the include of an output is lost": mutant.Once(t, good, "#include \"all.h\"\n", ""),
		"a line is in no source":           good + "int c;\n",
		"the last line is lost":            mutant.Once(t, good, "int b;\n", ""),
	}
	for _, name := range slices.Sorted(maps.Keys(bad)) {
		assert.NotEqual(t, good, bad[name])
		assert.NotEmpty(t, compare(bad[name]), name)
	}
}
