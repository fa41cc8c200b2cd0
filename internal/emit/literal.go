package emit

import (
	"fmt"
	"strings"
)

// CLiteral spells a text as a literal of C and C++.
func CLiteral(text string) string {
	var out strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case strings.IndexByte(`\"?`, c) >= 0:
			out.WriteString(`\` + string(rune(c)))
		case c == '\n':
			out.WriteString(`\n`)
		case c == '\t':
			out.WriteString(`\t`)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&out, `\%03o`, c)
		default:
			out.WriteByte(c)
		}
	}
	return `"` + out.String() + `"`
}

// CComment keeps a text from ending the comment of C and C++ that it stands in.
func CComment(text string) string {
	return strings.NewReplacer("*/", "* /", "/*", "/ *", `\`, `\\`).Replace(text)
}
