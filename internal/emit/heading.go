package emit

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// A part of a C or C++ output begins with a comment about its file. In the output, this comment
// becomes the heading of a section: it does not name the part's file, which users do not have, and
// precedes the part's own code. A part that only includes others leaves none.

// unwanted matches the name of the file, and then the file that it is part of. Each match contains
// the word, which is found faster.
var unwanted = []struct {
	word    string
	pattern *regexp.Regexp
}{
	{`\file `, regexp.MustCompile(`\\file \S+\s*`)},
	{"Part", regexp.MustCompile(`\s*\bPart\s+of\s(?:[^.]|\.\w)*\.`)},
}

var (
	marks      = regexp.MustCompile(`(?m)^(?:/\*\*?| \*|//) ?|[ \n]*\*/$`)
	prologue   = regexp.MustCompile(`^(?:\n|[ \t]*#[ \t]*include\b[^\n]*\n)+`)
	guardLines = regexp.MustCompile(`^\n*#ifndef (\w+)\n#define (\w+)\n`)
)

// columns is the maximum width of comments.
const columns = 100

// cutHeading divides a part into the heading of its section, its guard and includes, and its code.
// The heading is empty if there is no code.
func (a Asset) cutHeading(text string) (heading, includes, code string) {
	if !slices.Contains(inC, path.Ext(a.To)) {
		return "", "", text
	}
	comment, body := firstComment(strings.TrimLeft(text, "\n"))
	at := 0
	if guard := guardLines.FindStringSubmatch(body); guard != nil && guard[1] == guard[2] {
		at = len(guard[0])
	}
	at += len(prologue.FindString(body[at:]))
	if code = body[at:]; code == "" || strings.HasPrefix(code, "#endif") {
		return "", body[:at], code
	}
	return sectionHeading(comment), body[:at], code
}

// firstComment divides a text after its first comment, if it begins with one.
func firstComment(text string) (comment, rest string) {
	end := 0
	switch {
	case strings.HasPrefix(text, "/*"):
		end = strings.Index(text, "*/\n") + len("*/\n")
	case strings.HasPrefix(text, "//"):
		for strings.HasPrefix(text[end:], "//") {
			end += strings.IndexByte(text[end:], '\n') + 1
		}
	}
	return text[:end], text[end:]
}

// sectionHeading returns the comment without the name of the file and the file that it is part of.
// Lines are filled again, except in a text with code, which is indented.
func sectionHeading(comment string) string {
	if comment == "" {
		return ""
	}
	text := marks.ReplaceAllString(strings.TrimRight(comment, "\n"), "")
	for _, u := range unwanted {
		if strings.Contains(text, u.word) {
			text = u.pattern.ReplaceAllString(text, "")
		}
	}
	text = strings.Trim(text, "\n")
	lines := strings.Split(text, "\n")
	if !strings.Contains(text, "\n  ") {
		lines = nil
		for i, paragraph := range strings.Split(text, "\n\n") {
			if i > 0 {
				lines = append(lines, "")
			}
			lines = append(lines, fill(paragraph, columns-len(" * "))...)
		}
	}
	last := len(lines) - 1
	if cut := strings.LastIndexByte(lines[last], ' '); cut >= 0 && len(lines[last]) > columns-len(" *  */") {
		lines = append(lines[:last], lines[last][:cut], lines[last][cut+1:])
	}
	switch {
	case strings.HasPrefix(comment, "//"):
		return "// " + strings.Join(lines, "\n// ") + "\n\n"
	case slices.Contains(lines, ""):
		joined := " * " + strings.Join(lines, "\n * ")
		return "/*\n" + strings.ReplaceAll(joined, " * \n", " *\n") + "\n */\n\n"
	}
	return "/* " + strings.Join(lines, "\n * ") + " */\n\n"
}

// fill divides a text into lines of a width.
func fill(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
