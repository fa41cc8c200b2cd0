// Package compat compares two releases of a spec: it lists the changes that break programs built
// for the older release, and the additions. It compares resolved releases and their layouts. It
// reads no header and decides no exit code.
package compat

import (
	"cmp"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// Kind classifies a change by its effect on programs.
type Kind string

// The kinds, from the most to the least severe.
const (
	Breaking       Kind = "breaking"        // programs already built go wrong
	SourceBreaking Kind = "source-breaking" // programs already written do not compile, or mean something else
	Additive       Kind = "additive"
)

// Change is one difference between two releases.
type Change struct {
	Kind Kind   `json:"kind"`
	Rule string `json:"rule"`
	Name string `json:"name"` // of the declaration, with its member after a dot
	Old  string `json:"old,omitempty"`
	New  string `json:"new,omitempty"`
	Text string `json:"text"`
}

// Rule is a kind of difference between releases.
type Rule struct {
	Name string
	Kind Kind
	Doc  string
}

// Rules lists all rules, the most severe first.
func Rules() []Rule { return slices.Clone(rules) }

var rules = []Rule{
	{"struct-removed", Breaking, "a struct is gone, and no other has its layout"},
	{"layout-changed", Breaking, "a size, alignment or offset differs under some data model"},
	{"field-removed", Breaking, "a field is gone"},
	{"field-added", Breaking, "a struct that others embed or allocate has a new field"},
	{"null-changed", Breaking, "a pointer may be NULL where it could not, or the other way"},
	{"owner-changed", Breaking, "what a pointer leads to belongs to another party"},
	{"enum-removed", Breaking, "an enum is gone"},
	{"enum-width", Breaking, "an enum is wider or narrower, or signed otherwise, under some data model"},
	{"enumerator-removed", Breaking, "a number lost its meaning"},
	{"enumerator-value", Breaking, "a name has another number"},
	{"flag-removed", Breaking, "a bit lost its meaning"},
	{"flag-bit", Breaking, "a flag moved to another bit"},
	{"callback-removed", Breaking, "a function-pointer type is gone"},
	{"callback-signature", Breaking, "a function takes or gives other types"},
	{"python-name", Breaking, "Python finds a capsule or an attribute under another name"},
	{"python-removed", Breaking, "Python no longer finds a capsule or an attribute"},
	{"struct-renamed", SourceBreaking, "another struct has the layout of one that is gone"},
	{"typedef-removed", SourceBreaking, "C needs the word struct where it did not"},
	{"field-renamed", SourceBreaking, "the same field has another name"},
	{"field-type", SourceBreaking, "a field has another type of the same layout"},
	{"enum-underlying", SourceBreaking, "C++ sees another underlying type"},
	{"enumerator-renamed", SourceBreaking, "the same number has another name"},
	{"alias-removed", SourceBreaking, "a second name is gone"},
	{"alias-target", SourceBreaking, "a second name means another type"},
	{"macro-removed", SourceBreaking, "a macro is gone"},
	{"macro-lowered", SourceBreaking, "a macro has a smaller value, so that version tests go the other way"},
	{"linkage-removed", SourceBreaking, "a macro that decorates declarations is gone"},
	{"struct-added", Additive, "a new struct"},
	{"struct-aliased", Additive, "a struct has a new name, and its old one stays as an alias"},
	{"typedef-added", Additive, "C no longer needs the word struct"},
	{"enum-added", Additive, "a new enum"},
	{"enumerator-added", Additive, "a new number; consumers must reject those that they do not know"},
	{"flag-added", Additive, "a new bit"},
	{"callback-added", Additive, "a new function-pointer type"},
	{"alias-added", Additive, "a second name for a type"},
	{"macro-added", Additive, "a new macro"},
	{"macro-raised", Additive, "a macro has a larger value, as versions do"},
	{"macro-respelled", Additive, "a macro has the same value in another spelling"},
	{"linkage-added", Additive, "a new macro that decorates declarations"},
	{"python-added", Additive, "Python finds something new"},
}

// Compare returns the changes from one release to another: the most severe first, and equally
// severe ones in the order of the declarations.
func Compare(old, new *spec.Release) []Change {
	c := &comparison{old: old, new: new, renamed: map[string]string{}}
	for _, m := range layout.Models() {
		for _, lang := range []layout.Lang{layout.C, layout.CXX} {
			c.layouts = append(c.layouts, [2]*layout.Table{layout.Of(old, m, lang), layout.Of(new, m, lang)})
		}
	}
	c.linkages()
	c.macros()
	c.flags()
	c.enums()
	c.structs()
	c.aliases()
	c.callbacks()
	c.python()
	slices.SortStableFunc(c.changes, func(a, b Change) int { return cmp.Compare(rank(a.Kind), rank(b.Kind)) })
	return c.changes
}

// Breaks reports whether any change needs an action.
func Breaks(changes []Change) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return c.Kind != Additive })
}

func rank(k Kind) int { return slices.Index([]Kind{Breaking, SourceBreaking, Additive}, k) }

type comparison struct {
	old, new *spec.Release
	layouts  [][2]*layout.Table // of both releases, for each data model and language
	renamed  map[string]string  // new names of old structs, by the old name
	changes  []Change
}

// add records a change under a rule. Every name must be in the table of rules.
func (c *comparison) add(rule, name, old, new string) {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.Name == rule })
	c.changes = append(c.changes,
		Change{Kind: rules[i].Kind, Rule: rule, Name: name, Old: old, New: new, Text: rules[i].Doc})
}

// pair visits the declarations of one kind: removed ones, those in both releases, and new ones.
func pair[T any, P interface {
	*T
	spec.Decl
}](c *comparison, gone func(old P), both func(old, new P), added func(new P)) {
	for _, old := range spec.Of[P](c.old) {
		if new := spec.Find[P](c.new, c.newName(old.DeclName())); new != nil {
			both(old, new)
		} else {
			gone(old)
		}
	}
	for _, new := range spec.Of[P](c.new) {
		if spec.Find[P](c.old, new.DeclName()) == nil && !c.isRenamed(new.DeclName()) {
			added(new)
		}
	}
}

func (c *comparison) newName(old string) string {
	if name, ok := c.renamed[old]; ok {
		return name
	}
	return old
}

func (c *comparison) isRenamed(new string) bool {
	for _, name := range c.renamed {
		if name == new {
			return true
		}
	}
	return false
}

// changeOf returns a function that records a declaration under a rule.
func changeOf[P spec.Decl](c *comparison, rule string) func(P) {
	return func(d P) { c.add(rule, d.DeclName(), "", "") }
}
