package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// markdown is a page under construction.
type markdown struct{ bytes.Buffer }

// newPage begins a page with its heading and its purpose.
func newPage(heading, purpose string) *markdown {
	m := &markdown{}
	m.line("# " + heading)
	m.line("")
	m.paragraph("%s", purpose)
	return m
}

func (m *markdown) line(text string) { m.WriteString(text + "\n") }

func (m *markdown) heading(text string) { m.line("## " + text + "\n") }

// anchor is the name of a position in links, if MkDocs derives another one from the heading.
func (m *markdown) anchor(name string) { m.line(anchorOf(name) + "\n") }

func anchorOf(name string) string { return `<a id="` + name + `"></a>` }

var (
	unslugged = regexp.MustCompile(`[^\w\- ]`)
	otherSlug = regexp.MustCompile(`^-|--|-$`) // MkDocs derives another one from it
)

// anchored adds the anchors that GitHub derives from headings, so that links work on both sites.
func anchored(page []byte) []byte {
	var out bytes.Buffer
	code := false
	for line := range bytes.Lines(page) {
		code = code != bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("```"))
		if text := bytes.TrimLeft(line, "#"); !code && len(text) < len(line) && bytes.HasPrefix(text, []byte(" ")) {
			slug := unslugged.ReplaceAllString(strings.ToLower(strings.TrimSpace(string(text))), "")
			if slug = strings.ReplaceAll(slug, " ", "-"); otherSlug.MatchString(slug) {
				out.WriteString(anchorOf(slug) + "\n\n")
			}
		}
		out.Write(line)
	}
	return out.Bytes()
}

func (m *markdown) paragraph(format string, args ...any) { m.line(fmt.Sprintf(format, args...) + "\n") }

func (m *markdown) item(format string, args ...any) { m.line("- " + fmt.Sprintf(format, args...)) }

// row is a line of a table; a bar in a cell would end it.
func (m *markdown) row(cells ...string) {
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(strings.TrimSpace(cell), "|", `\|`)
	}
	m.line("| " + strings.Join(cells, " | ") + " |")
}

func (m *markdown) code(language, text string) {
	m.line("```" + language + "\n" + strings.TrimRight(text, "\n") + "\n```\n")
}

func (m *markdown) bytes() []byte { return append(bytes.TrimRight(m.Bytes(), "\n"), '\n') }
