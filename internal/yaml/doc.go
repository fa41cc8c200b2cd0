package yaml

import (
	"strings"
	"unicode"
)

// Doc reads the optional key `doc` of a mapping: one sentence or more, joined to one line.
func (m *Map) Doc() string {
	n := m.Get("doc")
	if n == nil {
		return ""
	}
	doc := strings.Join(strings.Fields(n.Text("doc")), " ")
	n.CheckDoc("doc", doc)
	return doc
}

// CheckDoc reports characters that a text must not contain because it becomes a comment in every
// language.
func (n *Node) CheckDoc(what, text string) {
	if strings.Contains(text, "*/") || strings.Contains(text, "/*") || strings.Contains(text, `\`) {
		n.Errorf("invalid-doc", "write it without /*, */ and backslashes",
			"%s must not contain comment marks or backslashes, which would change the code around it", what)
	}
	if strings.Contains(text, "??") {
		n.Errorf("invalid-doc", "write a single ?", "%s must not contain ??, which C may read as a trigraph", what)
	}
	// Such as U+202E, which changes the displayed order of code.
	if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		n.Errorf("invalid-doc", "remove them", "%s must not contain non-printable characters, such as %+q", what,
			[]rune(text[i:])[0])
	}
}
