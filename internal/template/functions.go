package template

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/order"
)

// Functions are the functions of a template, by name. Each returns a value, or a value and an
// error.
type Functions map[string]any

// builtins are the functions of every template. The parser needs all names. `and` and `or` are
// evaluated without a call, because they may not evaluate every argument.
var builtins = func() Functions {
	f := Comparisons(Compare)
	f["and"], f["or"] = true, true // named, and not called
	f["not"] = func(v any) bool { return !truth(v) }
	f["len"] = length
	f["slice"] = part
	return f
}()

// Comparisons returns eq, ne, lt, le, gt and ge, given a function that orders two values or fails.
func Comparisons(compare func(x, y any) (int, error)) Functions {
	f := Functions{}
	for name, holds := range map[string]func(order int) bool{
		"ne": func(order int) bool { return order != 0 },
		"lt": func(order int) bool { return order < 0 },
		"le": func(order int) bool { return order <= 0 },
		"gt": func(order int) bool { return order > 0 },
		"ge": func(order int) bool { return order >= 0 },
	} {
		f[name] = func(x, y any) (bool, error) {
			order, err := compare(x, y)
			return err == nil && holds(order), err
		}
	}
	f["eq"] = func(x any, others ...any) (bool, error) {
		if len(others) == 0 {
			return false, errors.New("eq takes two or more values")
		}
		for _, y := range others {
			if order, err := compare(x, y); err != nil || order == 0 {
				return err == nil, err
			}
		}
		return false, nil
	}
	return f
}

// Compare orders two values of one kind: texts, integers or truth values.
func Compare(x, y any) (int, error) {
	v, w := reflect.ValueOf(x), reflect.ValueOf(y)
	switch {
	case v.Kind() == reflect.String && w.Kind() == reflect.String:
		return strings.Compare(v.String(), w.String()), nil
	case v.Kind() == reflect.Bool && w.Kind() == reflect.Bool:
		return cmp.Compare(ordinal(v.Bool()), ordinal(w.Bool())), nil
	case v.CanInt() && w.CanInt():
		return cmp.Compare(v.Int(), w.Int()), nil
	}
	return 0, fmt.Errorf("expected two strings, two integers or two booleans, got %T and %T", x, y)
}

func ordinal(truth bool) int {
	if truth {
		return 1
	}
	return 0
}

// truth reports whether a value is not the zero of its type, and not empty.
func truth(v any) bool {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Invalid:
		return false
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return r.Len() > 0
	case reflect.Struct:
		return true
	}
	return !r.IsZero()
}

func length(v any) (int, error) {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return r.Len(), nil
	}
	return 0, fmt.Errorf("expected a string, a list or a map, got %T", v)
}

// part returns the text or the list between two positions; the second one is optional.
func part(v any, bounds ...int) (any, error) {
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.String && r.Kind() != reflect.Slice {
		return nil, fmt.Errorf("expected a string or a list, got %T", v)
	}
	all := append(slices.Clone(bounds), r.Len())
	if len(bounds) == 0 {
		all = []int{0, r.Len()}
	}
	if first, last := all[0], all[1]; len(bounds) <= 2 && 0 <= first && first <= last && last <= r.Len() {
		return r.Slice(first, last).Interface(), nil
	}
	return nil, fmt.Errorf("expected up to two positions from 0 to %d in order, got %v", r.Len(), bounds)
}

func isInteger(v any) bool { return reflect.ValueOf(v).CanInt() }

// items returns the pairs that a loop visits: positions and values of a list, keys and values of a
// map in the order of the keys, or the numbers below a number. It returns nil for other values.
func items(v any) iter.Seq2[any, any] {
	switch r := reflect.ValueOf(v); {
	case !r.IsValid():
		return func(func(any, any) bool) {}
	case r.CanInt():
		return func(yield func(any, any) bool) {
			for i := range r.Int() {
				if !yield(nil, reflect.ValueOf(i).Convert(r.Type()).Interface()) {
					return
				}
			}
		}
	case r.Kind() == reflect.Slice || r.Kind() == reflect.Array:
		return func(yield func(any, any) bool) {
			for i := range r.Len() {
				if !yield(i, r.Index(i).Interface()) {
					return
				}
			}
		}
	case r.Kind() == reflect.Map && r.Type().Key().Kind() == reflect.String:
		return func(yield func(any, any) bool) {
			keys := r.MapKeys()
			order.By(keys, reflect.Value.String)
			for _, key := range keys {
				if !yield(key.Interface(), r.MapIndex(key).Interface()) {
					return
				}
			}
		}
	}
	return nil
}
