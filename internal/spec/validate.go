package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// validate resolves every release for its findings. A problem in several releases is reported for
// the oldest of them.
func (s *Spec) validate() {
	seen := map[string]bool{}
	once := func(n *yaml.Node, code, hint, format string, args ...any) {
		key := fmt.Sprint(n.Line, ":", n.Col, " ", code)
		if !seen[key] {
			seen[key] = true
			n.Errorf(code, hint, format, args...)
		}
	}
	codes := map[string]string{}
	for i := range s.releases {
		_, has := s.link(i, once)
		maps.Copy(codes, has)
	}
	s.dangling(codes)
	s.references(codes)
	s.undocumented()
}

// dangling reports the dtypes whose code no release has.
func (s *Spec) dangling(codes map[string]string) {
	names := sortedKeys(codes)
	for _, t := range s.dtypes {
		if _, ok := codes[t.Code]; !ok {
			t.node.Errorf("undefined-code", diag.DidYouMean(t.Code, names), "dtype %s: no enumerator %q", t.Name,
				t.Code)
		}
	}
}

func sortedKeys(codes map[string]string) []string { return slices.Sorted(maps.Keys(codes)) }

// undocumented warns about entities without documentation, because their names are then
// undocumented in every language.
func (s *Spec) undocumented() {
	for _, d := range s.decls {
		for _, n := range append([]*yaml.Node{d.node}, d.parts...) {
			if !hasDoc(n) {
				n.Warnf("no-doc", "add `doc:`", "%s has no doc", describe(n))
			}
		}
	}
}

func hasDoc(n *yaml.Node) bool {
	return slices.ContainsFunc(n.Entries,
		func(e yaml.Entry) bool { return e.Key.Value == "doc" && e.Value.Value != "" })
}

// describe returns the description of an entity by its first key, such as "struct DLTensor".
func describe(n *yaml.Node) string {
	first := n.Entries[0]
	return strings.TrimPrefix(first.Key.Value+" "+first.Value.Value, "name ")
}
