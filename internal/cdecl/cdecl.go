// Package cdecl formats the types of a release as C declarations. The generated headers, the golden
// tables and verify use the same form. The package computes no sizes.
package cdecl

import (
	"fmt"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// Speller formats the types of one release, for one scope of a header.
type Speller struct {
	release *spec.Release
	within  string
}

// Of returns the speller for the file scope of a release's header.
func Of(r *spec.Release) Speller { return Speller{release: r} }

// In returns the speller for the body of a struct, where only the tag of that struct is declared.
func (s Speller) In(structName string) Speller {
	s.within = structName
	return s
}

// Name formats a declared type: "DLTensor", or "struct DLManagedTensorVersioned" where C has only
// the tag (DLPack 1.0 and 1.1).
func (s Speller) Name(name string) string {
	decl := spec.Find[*spec.Struct](s.release, name)
	if decl != nil && (name == s.within || !decl.Typedef) {
		return "struct " + name
	}
	return name
}

// Type formats a type without a name: "int64_t *", "void (*)(struct DLManagedTensor *)".
func (s Speller) Type(t spec.Type) string { return s.declare(t, "", false) }

// Declare formats the declaration of a field, variable or parameter, without a semicolon: "void
// (*deleter)(struct DLManagedTensor *self)".
func (s Speller) Declare(t spec.Type, name string) string { return s.declare(t, name, true) }

// Alias formats the target of an alias: a builtin or a declared type.
func (s Speller) Alias(d *spec.Alias) string {
	if spec.IsBuiltin(d.Target) {
		return Builtin(d.Target)
	}
	return s.Name(d.Target)
}

// Typedef formats the complete typedef of a callback.
func (s Speller) Typedef(c *spec.Callback) string {
	return "typedef " + s.Declare(spec.Type{Kind: spec.Function, Func: &c.Func}, c.Name) + ";"
}

// declare builds a declaration from the name outwards, in the order in which C is read.
func (s Speller) declare(t spec.Type, declarator string, named bool) string {
	switch t.Kind {
	case spec.Pointer:
		return s.declare(*t.Elem, "*"+constant(t, declarator), named)
	case spec.Function:
		return s.declare(t.Func.Returns, "(*"+constant(t, declarator)+")("+s.params(t.Func, named)+")", named)
	}
	base := Builtin(t.Name)
	if t.Kind == spec.Named {
		base = s.Name(t.Name)
	}
	if t.Const {
		base = "const " + base
	}
	if declarator == "" {
		return base
	}
	return base + " " + declarator
}

func constant(t spec.Type, declarator string) string {
	if !t.Const {
		return declarator
	}
	return strings.TrimSpace(" const " + declarator)
}

func (s Speller) params(f *spec.Func, named bool) string {
	if len(f.Params) == 0 {
		return "void"
	}
	var out []string
	for _, p := range f.Params {
		name := ""
		if named {
			name = p.Name
		}
		out = append(out, s.declare(p.Type, name, named))
	}
	return strings.Join(out, ", ")
}

// Builtin formats a builtin type: "int64" is int64_t, "int" is int.
func Builtin(name string) string {
	switch name {
	case "void", "char", "int":
		return name
	}
	return name + "_t"
}

// Flag formats the body of a flag's macro, in the form that upstream uses since 1.0.
func Flag(f *spec.Flag) string { return fmt.Sprintf("(1UL << %dUL)", f.Bit) }
