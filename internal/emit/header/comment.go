package header

import (
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
)

// width is the maximum column of comments.
const width = 80

// comment returns a Doxygen comment without a final line end, whose first line is not indented: on
// one line if it fits, else as a block. Sentences are joined; empty ones are omitted.
func comment(indent string, sentences ...string) string {
	words := strings.Fields(harmless(strings.Join(sentences, " ")))
	if line := "/** " + strings.Join(append(words, "*/"), " "); len(indent)+len(line) <= width {
		return line
	}
	var b strings.Builder
	b.WriteString("/**")
	for _, line := range emit.Wrap(strings.Join(words, " "), width-len(indent)-len(" * ")) {
		b.WriteString("\n" + indent + " * " + line)
	}
	b.WriteString("\n" + indent + " */")
	return b.String()
}

// harmless changes a text so that it neither ends the surrounding comment nor begins another one.
func harmless(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "*/", "* /"), "/*", "/ *")
}
