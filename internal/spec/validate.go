package spec

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// validate resolves every release for its findings. What is wrong in several
// releases is reported for the oldest of them.
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
}

// dangling reports the dtypes whose code no release has.
func (s *Spec) dangling(codes map[string]string) {
	names := slices.Sorted(maps.Keys(codes))
	for _, t := range s.dtypes {
		if _, ok := codes[t.Code]; !ok {
			t.node.Errorf("dangling-code", diag.DidYouMean(t.Code, names), "dtype %s: no enumerator %q", t.Name, t.Code)
		}
	}
}
