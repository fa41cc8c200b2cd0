package emit

import "strings"

// CLiteral spells a text as a literal of C and C++.
func CLiteral(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "?", `\?`, "\n", `\n`, "\t", `\t`).Replace(text) + `"`
}

// CComment keeps a text from ending the comment of C and C++ that it stands in.
func CComment(text string) string {
	return strings.NewReplacer("*/", "* /", "/*", "/ *", `\`, `\\`).Replace(text)
}
