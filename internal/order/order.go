// Package order sorts values by a string.
package order

import (
	"cmp"
	"slices"
)

// place is a value's text and its previous index.
type place struct {
	text string
	was  int
}

// By sorts a list by the text of each value. The sort is stable. The compiler generates a copy of
// slices.SortFunc for each type, which takes 15 KB of a program; here all types share one copy.
func By[T any](list []T, text func(T) string) {
	places := make([]place, len(list))
	for i, v := range list {
		places[i] = place{text(v), i}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.text, b.text), a.was-b.was) })
	before := slices.Clone(list)
	for i, p := range places {
		list[i] = before[p.was]
	}
}
