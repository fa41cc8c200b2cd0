package main

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/codes"
)

// addCodes adds a page for each group of codes, and their index.
func (p *pages) addCodes(fs.FS) error {
	index := newPage("Codes of findings",
		"Each finding ends with a code in brackets. `dlpackgen explain CODE` prints the same "+
			"text as these pages.")
	for i, group := range codes.Groups() {
		name := fmt.Sprintf("%d-%s.md", i+1, slug(group.Title))
		page := newPage(group.Title, group.Text)
		index.heading(group.Title)
		for _, entry := range group.Entries {
			page.entry(entry)
			index.item("[`%s`](%s#%s): %s", entry.Code, name, entry.Code, entry.Summary)
		}
		index.line("")
		p.files["codes/"+name] = page.bytes()
	}
	p.files["codes/index.md"] = index.bytes()
	return nil
}

// entry explains a code.
func (m *markdown) entry(e codes.Entry) {
	m.heading(e.Code)
	m.paragraph("%s", e.Summary)
	if e.Why != "" {
		m.paragraph("%s", e.Why)
	}
	m.paragraph("**Fix:** %s", e.Fix)
	if e.Example != nil {
		m.code(e.Example.Language, e.Example.Input)
		m.code("text", e.Example.Output)
	}
}

var noWord = regexp.MustCompile(`[^a-z0-9]+`)

func slug(text string) string {
	return strings.Trim(noWord.ReplaceAllString(strings.ToLower(text), "-"), "-")
}
