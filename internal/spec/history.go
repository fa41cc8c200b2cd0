package spec

import (
	"math"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// span is the range of releases with an entity, by index, including both ends.
type span struct{ since, until int }

// forever is the end of an open span.
const forever = math.MaxInt

// entry is an entity with its history.
type entry[T any] struct {
	span
	node *yaml.Node
	now  T
	past []past[T] // oldest first
}

// past is the form of an entity up to and including a release.
type past[T any] struct {
	until int
	value T
}

// at returns the entity in its form of a release, if the release has it.
func (e *entry[T]) at(release int) (T, bool) {
	for _, p := range e.past {
		if release <= p.until {
			return p.value, release >= e.since
		}
	}
	return e.now, release >= e.since && release <= e.until
}

// readEntry reads an entity and its history. read sets the fields of a value from a mapping. It is
// called again for each past form, with a copy of the present one. The present form must have the
// keys of need.
func readEntry[T any](d *decoder, m *yaml.Map, read func(m *yaml.Map, v *T), require ...string) entry[T] {
	e := entry[T]{node: m.Node(), span: d.span(m)}
	for _, key := range require {
		m.Require(key)
	}
	read(m, &e.now)
	last := e.since - 1
	for _, n := range m.List("was") {
		w := n.Map("an entry of \"was\"")
		until := d.release(w.Require("until"))
		if until <= last || until >= e.until {
			n.Errorf("history-order", "list past forms oldest first, each ending before the present one begins",
				"this form ends at a release that the history has passed, or never begins")
		}
		last = until
		value := e.now
		read(w, &value)
		w.Close()
		e.past = append(e.past, past[T]{until, value})
	}
	return e
}

// span reads since and until.
func (d *decoder) span(m *yaml.Map) span {
	s := span{0, forever}
	if n := m.Get("since"); n != nil {
		s.since = d.release(n)
	}
	if n := m.Get("until"); n != nil {
		s.until = d.release(n)
		if s.until < s.since {
			n.Errorf("history-order", "swap them", "until %s is before since", n.Value)
		}
	}
	return s
}

// release reads the version of a listed release.
func (d *decoder) release(n *yaml.Node) int {
	if n == nil {
		return 0
	}
	version := n.Text("a release")
	i := d.spec.index(version)
	if i < 0 && n.Kind == yaml.Scalar {
		n.Errorf("unknown-release", diag.DidYouMean(version, d.spec.versions()), "no release %q in this spec", version)
	}
	return max(i, 0)
}
