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
	Breaking       Kind = "breaking"        // compiled programs fail
	SourceBreaking Kind = "source-breaking" // source code does not compile, or changes its meaning
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
	{"struct-removed", Breaking, "a struct is gone, and no other struct has its fields"},
	{"layout-changed", Breaking, "a size, alignment or offset differs under some data model"},
	{"field-removed", Breaking, "a field is gone"},
	{"field-added", Breaking, "a struct has a new field"},
	{"null-changed", Breaking, "a pointer may now be NULL, or may no longer be NULL"},
	{"owner-changed", Breaking, "the memory that a pointer refers to has a different owner"},
	{"enum-removed", Breaking, "an enum is gone"},
	{"enum-width", Breaking, "an enum has a different size under some data model"},
	{"enumerator-removed", Breaking, "no enumerator has this value any more"},
	{"enumerator-value", Breaking, "an enumerator has a different value"},
	{"flag-removed", Breaking, "a flag is gone"},
	{"flag-bit", Breaking, "a flag has a different bit"},
	{"callback-removed", Breaking, "a function-pointer type is gone"},
	{"callback-signature", Breaking, "a function has different parameter or result types"},
	{"python-name", Breaking, "a capsule or an attribute in Python has a different name"},
	{"python-removed", Breaking, "a capsule or an attribute in Python is gone"},
	{"struct-renamed", SourceBreaking, "a struct has a different name"},
	{"typedef-removed", SourceBreaking, "C code must now write struct before the name"},
	{"field-renamed", SourceBreaking, "a field has a different name"},
	{"field-type", SourceBreaking, "a field has a different type of the same layout"},
	{"enum-underlying", SourceBreaking, "an enum has a different underlying type in C++"},
	{"enumerator-renamed", SourceBreaking, "an enumerator has a different name"},
	{"alias-removed", SourceBreaking, "an alias is gone"},
	{"alias-target", SourceBreaking, "an alias refers to a different type"},
	{"macro-removed", SourceBreaking, "a macro is gone"},
	{"macro-lowered", SourceBreaking, "a macro has a smaller value, so version checks have the opposite result"},
	{"linkage-removed", SourceBreaking, "a macro for the linkage of declarations is gone"},
	{"struct-added", Additive, "a new struct"},
	{"struct-aliased", Additive, "a struct has a new name, and the old name is now an alias"},
	{"typedef-added", Additive, "C code no longer needs the keyword struct"},
	{"enum-added", Additive, "a new enum"},
	{"enumerator-added", Additive, "a new value; consumers must reject unknown values"},
	{"flag-added", Additive, "a new flag"},
	{"callback-added", Additive, "a new function-pointer type"},
	{"alias-added", Additive, "a new alias of a type"},
	{"macro-added", Additive, "a new macro"},
	{"macro-raised", Additive, "a macro has a larger value, as expected of a version"},
	{"macro-respelled", Additive, "a macro has the same value in another notation"},
	{"linkage-added", Additive, "a new macro for the linkage of declarations"},
	{"python-added", Additive, "a new capsule or attribute in Python"},
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
