// Package codes explains every code of findings and changes: its meaning, its reason, the fix, and
// an example. `dlpackgen explain`, SARIF and the documentation site use these texts. The package
// reports nothing itself.
package codes

import (
	"cmp"
	"embed"
	"slices"
	"strings"
	"sync"

	"github.com/dlpackgen/dlpackgen/internal/compat"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/order"
)

// Entry explains one code. Texts are Markdown, with `code` spans only.
type Entry struct {
	Code    string   `json:"code"`
	Group   string   `json:"group"`         // title of the group
	Summary string   `json:"summary"`       // one sentence
	Why     string   `json:"why,omitempty"` // paragraphs, with an empty line between them
	Fix     string   `json:"fix"`
	Example *Example `json:"example,omitempty"`
}

// Example is an input that causes the code, and the output of the command.
type Example struct {
	Language string `json:"language"` // yaml: a file for `dlpackgen vet`; console: lines for sh
	Input    string `json:"input"`
	Output   string `json:"output"`
}

// Group is a list of entries about one part of dlpackgen.
type Group struct {
	Title   string
	Text    string // paragraphs; may be empty
	Entries []Entry
}

//go:embed text/*.md
var texts embed.FS

// Groups returns all entries by group. Callers must not change them.
var Groups = sync.OnceValue(func() []Group {
	names, err := texts.ReadDir("text")
	if err != nil {
		panic("unreachable: the texts are embedded: " + err.Error())
	}
	var out []Group
	for _, name := range names {
		text, err := texts.ReadFile("text/" + name.Name())
		if err != nil {
			panic("unreachable: the texts are embedded: " + err.Error())
		}
		group := parse(string(text))
		if name.Name() == changesFile {
			group = changes(group)
		}
		out = append(out, group)
	}
	return out
})

// changesFile contains only the examples of the changes.
const changesFile = "8-changes.md"

// All returns all entries, sorted by code. Callers must not change them.
var All = sync.OnceValue(func() []Entry {
	var out []Entry
	for _, g := range Groups() {
		out = append(out, g.Entries...)
	}
	order.By(out, func(e Entry) string { return e.Code })
	return out
})

// Find returns the entry of a code, or false and a hint that may be empty.
func Find(code string) (e Entry, hint string, ok bool) {
	i, ok := slices.BinarySearchFunc(All(), code, func(e Entry, code string) int { return cmp.Compare(e.Code, code) })
	if ok {
		return All()[i], "", true
	}
	var known []string
	for _, e := range All() {
		known = append(known, e.Code)
	}
	return Entry{}, diag.DidYouMean(code, known), false
}

// changes explains the rules of compat by their own sentences.
func changes(examples Group) Group {
	g := Group{Title: examples.Title, Text: examples.Text}
	shown := map[string]*Example{}
	for _, e := range examples.Entries {
		shown[e.Code] = e.Example
	}
	for _, r := range compat.Rules() {
		summary := strings.ToUpper(r.Doc[:1]) + r.Doc[1:] + "."
		g.Entries = append(g.Entries, Entry{Code: r.Name, Group: g.Title, Summary: summary, Why: effects[r.Kind].why,
			Fix: effects[r.Kind].fix, Example: shown[r.Name]})
	}
	return g
}

var effects = map[compat.Kind]struct{ why, fix string }{
	compat.Breaking: {
		"The change is breaking: a compiled program that uses one of the releases can fail with the other one.",
		"build all programs that exchange tensors for the same release, or check the version field before any other.",
	},
	compat.SourceBreaking: {
		"The change is source-breaking: source code for the old release does not compile for the new one, or changes " +
			"its meaning. Compiled programs work.",
		"adapt the program, or keep using the old release for it.",
	},
	compat.Additive: {
		"The change is additive: existing programs work with both releases.", "nothing needs to be done.",
	},
}
