package cformat

import "strings"

// Pointers moves the asterisks of a declaration to the type: "void *data" is "void* data".
func Pointers(declaration string) string {
	if !strings.Contains(declaration, " *") {
		return declaration
	}
	var out strings.Builder
	for i := 0; i < len(declaration); i++ {
		c := declaration[i]
		if c == ' ' && i+1 < len(declaration) && declaration[i+1] == '*' && i > 0 && declaration[i-1] != ',' {
			continue
		}
		out.WriteByte(c)
		rest := declaration[i+1:]
		if c == '*' && (strings.HasPrefix(rest, "(*") || rest != "" && isWord(rest[0]) && !named(declaration[:i])) {
			out.WriteByte(' ')
		}
	}
	return out.String()
}

// named reports whether asterisks are those before the name of a pointer to a function, behind a
// bracket: "(*deleter)".
func named(before string) bool { return strings.HasSuffix(strings.TrimRight(before, "*"), "(") }

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
