package main

import (
	"bytes"
	"fmt"
	"strings"
)

// markdown is a page in the making.
type markdown struct{ bytes.Buffer }

// newPage begins a page with its heading and what its reader gets.
func newPage(heading, purpose string) *markdown {
	m := &markdown{}
	m.line("# " + heading)
	m.line("")
	m.paragraph("%s", purpose)
	return m
}

func (m *markdown) line(text string) { m.WriteString(text + "\n") }

func (m *markdown) heading(text string) { m.line("## " + text + "\n") }

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
