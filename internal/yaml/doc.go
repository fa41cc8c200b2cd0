package yaml

import (
	"strings"
	"unicode"
)

// Doc reads the optional description of what a mapping is about: a sentence or more, on one line
// whatever the file's line breaks.
func (m *Map) Doc() string {
	n := m.Get("doc")
	if n == nil {
		return ""
	}
	doc := strings.Join(strings.Fields(n.Text("doc")), " ")
	n.CheckDoc("doc", doc)
	return doc
}

// CheckDoc reports what a text must not contain that becomes a comment in each language.
func (n *Node) CheckDoc(what, text string) {
	if strings.Contains(text, "*/") || strings.Contains(text, "/*") || strings.Contains(text, `\`) {
		n.Errorf("invalid-doc", "write it without /*, */ and backslashes",
			"%s must not contain comment marks or backslashes, which would change the code around it", what)
	}
	if strings.Contains(text, "??") {
		n.Errorf("invalid-doc", "write a single ?", "%s must not contain ??, which C takes for another sign", what)
	}
	// Such as U+202E, which makes code read in another order than it has.
	if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		n.Errorf("invalid-doc", "remove them", "%s must not contain characters that do not show, such as %+q", what,
			[]rune(text[i:])[0])
	}
}
