package emit

import (
	"bytes"
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
	words  *strings.Replacer
	guards bool
	known  map[string]string
	done   map[string]bool // parts, and outputs that are included
	open   []string        // the parts that include the one at work
	texts  []string
	err    error
}

// inline inserts each part where the source, or an earlier part, first includes it. Includes of
// other files, such as system headers, are unchanged.
func (a Asset) inline(texts []string, words *strings.Replacer) ([]string, error) {
	if !a.isInlined() {
		return texts, nil
	}
	in := &inliner{parts: a.allParts(), words: words, guards: a.Guards, known: a.Known, done: map[string]bool{}}
	for _, text := range texts {
		in.expand(text)
	}
	for _, part := range a.Parts {
		if in.err == nil && !in.done[part.To] && !part.Spare {
			in.err = fmt.Errorf("nothing includes its part %s", part.To)
		}
	}
	return in.texts, in.err
}

func (a Asset) isInlined() bool { return len(a.Parts) > 0 || len(a.Known) > 0 }

func (in *inliner) write(text string) { in.texts = append(in.texts, text) }

// join joins texts behind a head. Consecutive blank lines, which remain at the ends of parts, can
// become one.
func join(head string, texts []string, isOneBlankLine bool) []byte {
	size := len(head) + 1
	for _, text := range texts {
		size += len(text)
	}
	out := append(make([]byte, 0, size), head...)
	for _, text := range texts {
		if isOneBlankLine {
			out = appendOneBlankLine(out, len(head), text)
		} else {
			out = append(out, text...)
		}
	}
	return out
}

// appendOneBlankLine appends a text, and replaces consecutive blank lines behind a place with one.
// A regular expression takes eight times as long.
func appendOneBlankLine(out []byte, from int, text string) []byte {
	end := out[max(from, len(out)-len("\n\n")):]
	ended := len(end) - len(bytes.TrimRight(end, "\n"))
	body := strings.TrimLeft(text, "\n")
	text = text[max(0, ended+len(text)-len(body)-len("\n\n")):]
	for {
		at := strings.Index(text, "\n\n\n")
		if at < 0 {
			return append(out, text...)
		}
		out = append(out, text[:at+len("\n\n")]...)
		text = strings.TrimLeft(text[at:], "\n")
	}
}

// expand writes a text with the parts that its lines include. It searches for the word first:
// matching the expression on every line would take a third of the time of a run with 1,000 kernels.
func (in *inliner) expand(text string) {
	for {
		at := strings.Index(text, "include")
		if at < 0 {
			in.write(text)
			return
		}
		start, end := strings.LastIndexByte(text[:at], '\n')+1, len(text)
		if next := strings.IndexByte(text[at:], '\n'); next >= 0 {
			end = at + next + 1
		}
		in.write(text[:start])
		in.line(text[start:end])
		text = text[end:]
	}
}

// line writes the replacement of a line.
func (in *inliner) line(line string) {
	match := included.FindStringSubmatch(line)
	if match == nil {
		in.write(line)
		return
	}
	name := match[1]
	if output, ok := in.known[name]; ok {
		in.once(output, func() { in.write(`#include "` + output + "\"\n") })
		return
	}
	i := slices.IndexFunc(in.parts, func(p Asset) bool { return p.To == name })
	switch {
	case i < 0:
		in.write(line)
	case slices.Contains(in.open, name):
		in.err = fmt.Errorf("its part %s includes itself", name)
	default:
		in.once(name, func() { in.part(in.parts[i]) })
	}
}

func (in *inliner) once(name string, write func()) {
	if in.done[name] {
		return
	}
	in.open = append(in.open, name)
	write()
	in.open, in.done[name] = in.open[:len(in.open)-1], true
}

func (in *inliner) part(a Asset) {
	texts, err := a.source(in.words)
	if err != nil {
		in.err = err
	}
	text := strings.Join(texts, "")
	if !in.guards {
		text = unguarded(text)
	}
	if len(a.Words) > 0 {
		text = strings.NewReplacer(a.Words...).Replace(text)
	}
	heading, includes, code := a.cutHeading(text)
	in.write("\n")
	in.expand(includes)
	in.write("\n" + heading)
	in.expand(code)
	in.write("\n")
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
