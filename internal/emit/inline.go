package emit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// included matches a line that includes a file, with the file's name.
var included = regexp.MustCompile(`^[ \t]*#[ \t]*include[ \t]+["<]([^">\n]+)[">][^\n]*\n`)

// inliner joins a source and its parts into one text.
type inliner struct {
	parts  []Asset
	words  Words
	guards bool
	known  map[string]string
	done   map[string]bool // parts, and outputs that are included
	open   []string        // the parts that include the one at work
	err    error
}

// inline inserts each part where the source, or an earlier part, first includes it. Includes of
// other files, such as system headers, are unchanged.
func (a Asset) inline(text string, words Words) (string, error) {
	if len(a.Parts) == 0 && len(a.Known) == 0 {
		return text, nil
	}
	in := &inliner{parts: a.allParts(), words: words, guards: a.Guards, known: a.Known, done: map[string]bool{}}
	text = in.expand(text)
	for _, part := range a.Parts {
		if in.err == nil && !in.done[part.To] && !part.Spare {
			in.err = fmt.Errorf("nothing includes its part %s", part.To)
		}
	}
	return oneBlankLine(text), in.err
}

// oneBlankLine replaces consecutive blank lines, which remain at the ends of parts, with one. A
// regular expression takes eight times as long.
func oneBlankLine(text string) string {
	var out strings.Builder
	out.Grow(len(text))
	for {
		at := strings.Index(text, "\n\n\n")
		if at < 0 {
			out.WriteString(text)
			return out.String()
		}
		out.WriteString(text[:at+2])
		text = strings.TrimLeft(text[at:], "\n")
	}
}

// expand searches for lines that include a file. It tests for the word first: matching the
// expression on every line would take a third of the time of a run with 1,000 kernels.
func (in *inliner) expand(text string) string {
	var out strings.Builder
	out.Grow(len(text))
	for line := range strings.Lines(text) {
		if strings.Contains(line, "include") {
			line = in.line(line)
		}
		out.WriteString(line)
	}
	return out.String()
}

// line returns the replacement of a line.
func (in *inliner) line(line string) string {
	match := included.FindStringSubmatch(line)
	if match == nil {
		return line
	}
	name := match[1]
	if output, ok := in.known[name]; ok {
		return in.once(output, func() string { return `#include "` + output + "\"\n" })
	}
	i := slices.IndexFunc(in.parts, func(p Asset) bool { return p.To == name })
	if i < 0 {
		return line
	}
	if slices.Contains(in.open, name) {
		in.err = fmt.Errorf("its part %s includes itself", name)
		return ""
	}
	return in.once(name, func() string { return in.part(in.parts[i]) })
}

func (in *inliner) once(name string, text func() string) string {
	if in.done[name] {
		return ""
	}
	in.open = append(in.open, name)
	made := text()
	in.open, in.done[name] = in.open[:len(in.open)-1], true
	return made
}

func (in *inliner) part(a Asset) string {
	text, err := a.source(in.words)
	if err != nil {
		in.err = err
	}
	if !in.guards {
		text = unguarded(text)
	}
	return "\n" + in.expand(strings.NewReplacer(a.Words...).Replace(text)) + "\n"
}

// guard matches an include guard.
var guard = regexp.MustCompile(`(?m)^#ifndef (\w+)\n#define (\w+)\n`)

// unguarded removes the include guard of a header, because a part occurs once in its output.
func unguarded(text string) string {
	at := guard.FindStringSubmatchIndex(text)
	end := strings.LastIndex(text, "\n#endif")
	if at == nil || end < at[1] || text[at[2]:at[3]] != text[at[4]:at[5]] {
		return text
	}
	return text[:at[0]] + text[at[1]:end+1]
}
