package codes

import (
	"fmt"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/jsontext"
)

// jsonVersion is the version of the JSON form; docs/schema/explain.json has it.
const jsonVersion = 1

// Text renders an entry for a terminal of 100 columns.
func Text(e Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", wrapped(e.Code+": "+e.Summary))
	if e.Why != "" {
		fmt.Fprintf(&b, "\n%s\n", wrapped(e.Why))
	}
	fmt.Fprintf(&b, "\n%s\n", wrapped("Fix: "+e.Fix))
	if e.Example != nil {
		fmt.Fprintf(&b, "\nExample:\n\n%s\nOutput:\n\n%s", indented(e.Example.Input),
			indented(folded(e.Example.Output)))
	}
	return b.String()
}

// JSON renders entries for programs.
func JSON(entries []Entry) []byte {
	return jsontext.Of(struct {
		Version int     `json:"version"`
		Codes   []Entry `json:"codes"`
	}{jsonVersion, entries})
}

const columns = 100

// wrapped breaks the lines of each paragraph.
func wrapped(text string) string { return wrappedTo(columns, text) }

func wrappedTo(columns int, text string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Split(strings.ReplaceAll(text, "\n\n", " \n "), " ") {
		switch {
		case word == "\n":
			b.WriteString("\n\n")
			column = 0
			continue
		case column > 0 && column+1+len(word) > columns:
			b.WriteString("\n")
			column = 0
		case i > 0 && column > 0:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}

// folded breaks long findings and hints of an output at spaces, and indents the rest of each. Long
// quoted source lines, which have marks below them, are cut.
func folded(output string) string {
	const room, rest = columns - 2, "        "
	var b strings.Builder
	for line := range strings.Lines(output) {
		text := strings.TrimLeft(line, " ")
		switch {
		case len(line) <= room+1:
		case text == line || strings.HasPrefix(text, "hint: "):
			text = wrappedTo(room-len(rest), strings.TrimRight(text, "\n"))
			line = line[:len(line)-len(strings.TrimLeft(line, " "))] + strings.ReplaceAll(text, "\n", "\n"+rest) + "\n"
		default:
			line = strings.TrimRight(line[:room-3], ".") + "...\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	return b.String()
}
