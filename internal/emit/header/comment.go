package header

import (
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
)

// width is the column that comments keep within.
const width = 80

// comment returns a Doxygen comment without a final line end, its first line not
// indented: on one line where it fits, else as a block. Sentences are joined;
// empty ones are left out.
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

// harmless keeps a text from ending the comment that it stands in, and from
// beginning another one.
func harmless(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "*/", "* /"), "/*", "/ *")
}
