package header

import (
	"fmt"

	"github.com/dlpackgen/dlpackgen/internal/cdecl"
	"github.com/dlpackgen/dlpackgen/internal/cformat"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// header is the data of templates/c/dlpack.h.tmpl.
type header struct {
	Version string
	Macros  []declaration // what stands before the includes
	Types   []declaration // the rest
}

// declaration is one entry of the header; exactly one of the pointers is set.
type declaration struct {
	Comment  string
	ExternC  *name
	DLL      *dll
	Macro    *macro
	Enum     *enum
	Struct   *structure
	Alias    *alias
	Callback string
}

type name struct{ Name string }

type dll struct{ Name, Exports string }

type macro struct{ Name, Body string }

type alias struct{ Name, Target string }

type enum struct {
	Name       string
	Underlying string // the fixed type in C++, or ""
	Values     []enumerator
}

type enumerator struct {
	Comment string
	Name    string
	Literal string
	Comma   string // C89 has none after the last one
}

type structure struct {
	Open   string // "typedef struct DLManagedTensor {"
	Close  string // "} DLManagedTensor;"
	Fields []field
}

type field struct {
	Comment     string
	Declaration string
}

// viewHeader divides the declarations at the position where upstream includes the standard headers:
// before the first type.
func viewHeader(r *spec.Release) header {
	h := header{Version: r.Version}
	for _, d := range r.Decls {
		entry, isType := declare(r, d)
		if isType || len(h.Types) > 0 {
			h.Types = append(h.Types, entry)
		} else {
			h.Macros = append(h.Macros, entry)
		}
	}
	return h
}

func declare(r *spec.Release, d spec.Decl) (entry declaration, isType bool) {
	switch d := d.(type) {
	case *spec.Linkage:
		return linkage(d), false
	case *spec.Macro:
		return declaration{Comment: comment("", d.Doc), Macro: &macro{d.Name, d.Literal}}, false
	case *spec.Flag:
		return declaration{Comment: comment("", d.Doc), Macro: &macro{d.Name, cdecl.Flag(d)}}, false
	case *spec.Enum:
		return declaration{Comment: comment("", d.Doc), Enum: enumeration(d)}, true
	case *spec.Alias:
		return declaration{Comment: comment("", d.Doc), Alias: &alias{d.Name, cdecl.Of(r).Alias(d)}}, true
	case *spec.Callback:
		return declaration{Comment: comment("", d.Doc), Callback: cformat.Pointers(cdecl.Of(r).Typedef(d))}, true
	case *spec.Struct:
		return declaration{Comment: comment("", d.Doc, pythonRule(r, d.Name)), Struct: record(r, d)}, true
	}
	panic(fmt.Sprintf("unreachable: a declaration of kind %T", d))
}

func linkage(d *spec.Linkage) declaration {
	entry := declaration{Comment: comment("", d.Doc)}
	if d.Kind == spec.LinkageDLL {
		entry.DLL = &dll{d.Name, d.Exports}
	} else {
		entry.ExternC = &name{d.Name}
	}
	return entry
}

func enumeration(d *spec.Enum) *enum {
	e := &enum{Name: d.Name}
	if d.CxxUnderlying != "" {
		e.Underlying = cdecl.Builtin(d.CxxUnderlying)
	}
	suffix := ""
	if d.Unsigned {
		suffix = "U"
	}
	for _, v := range d.Values {
		literal := fmt.Sprintf("%d%s", v.Value, suffix)
		e.Values = append(e.Values, enumerator{comment("  ", v.Doc), v.Name, literal, ","})
	}
	if n := len(e.Values); n > 0 {
		e.Values[n-1].Comma = ""
	}
	return e
}

func record(r *spec.Release, d *spec.Struct) *structure {
	s := &structure{Open: "struct", Close: "};"}
	if d.Tag {
		s.Open += " " + d.Name
	}
	if d.Typedef {
		s.Open, s.Close = "typedef "+s.Open, "} "+d.Name+";"
	}
	s.Open += " {"
	speller := cdecl.Of(r).In(d.Name)
	for _, f := range d.Fields {
		text := comment("  ", f.Doc, nullRules[f.Null], ownerRules[f.Owner])
		s.Fields = append(s.Fields, field{text, cformat.Pointers(speller.Declare(f.Type, f.Name)) + ";"})
	}
	return s
}

// pythonRule describes how Python passes the struct, or returns "" if it does not.
func pythonRule(r *spec.Release, structName string) string {
	switch structName {
	case "DLManagedTensor":
		return capsuleRule(r.Python.Capsule)
	case "DLManagedTensorVersioned":
		return capsuleRule(r.Python.Versioned)
	case "DLPackExchangeAPI":
		return exchangeRule(r.Python)
	}
	return ""
}

func capsuleRule(c spec.CapsuleNames) string {
	return fmt.Sprintf("In Python it is a capsule named %q; its consumer renames that to %q.", c.Fresh, c.Used)
}

func exchangeRule(p spec.Python) string {
	form := "an int that holds its address"
	if p.ExchangeCapsule != "" {
		form = fmt.Sprintf("a capsule named %q", p.ExchangeCapsule)
	}
	return fmt.Sprintf("Python finds it on the type as %s, %s.", p.ExchangeAttr, form)
}

// nullRules and ownerRules are the header's comments for the rules that bindings read from the
// model.
var nullRules = map[spec.Null]string{
	spec.NullNever:   "Never NULL.",
	spec.NullAllowed: "May be NULL.",
	spec.NullEmpty:   "NULL when the tensor has no elements.",
	spec.NullScalar:  "May be NULL only when ndim is 0.",
}

var ownerRules = map[string]string{
	"producer": "The producer owns what it points to.",
	"managed":  "The deleter of the managed tensor frees it.",
	"static":   "Lives as long as the process.",
}
