package abi

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/cdecl"
	"github.com/dlpackgen/dlpackgen/internal/layout"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

type object = map[string]any

// printed is the content of the spec, of the C notation and of the layouts for a release, in the
// form of a facts file.
func printed(t *testing.T, r *spec.Release) object {
	t.Helper()
	order, enums, structs, functions, aliases := []string{}, object{}, object{}, object{}, object{}
	for _, d := range r.Decls {
		name := d.DeclName()
		switch d := d.(type) {
		case *spec.Enum:
			enums[name] = recordedEnum(r, d)
		case *spec.Struct:
			structs[name] = recordedStruct(r, d)
		case *spec.Callback:
			functions[name] = recordedCallback(r, d)
		case *spec.Alias:
			aliases[name] = d.Target
		default:
			continue
		}
		order = append(order, name)
	}
	return normal(t, object{
		"declaration_order": order, "enums": enums, "structs": structs,
		"function_pointer_typedefs": functions, "other_typedefs": aliases,
		"macros": recordedMacros(r), "version_macros": recordedVersions(r), "layouts": recordedLayouts(r),
	})
}

// normal converts a tree to the types of decoded JSON.
func normal(t *testing.T, v object) object {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	var out object
	require.NoError(t, json.Unmarshal(data, &out))
	return out
}

func recordedMacros(r *spec.Release) object {
	out := object{}
	for _, d := range r.Decls {
		switch d := d.(type) {
		case *spec.Linkage:
			out[d.Name] = object{"bodies": map[spec.LinkageKind][]string{
				spec.LinkageExternC: {`extern "C"`, ""},
				spec.LinkageDLL:     {"__declspec(dllexport)", "__declspec(dllimport)", ""},
			}[d.Kind]}
		case *spec.Macro:
			out[d.Name] = recordedMacro(d.Literal, uint64(d.Value), 4, true)
		case *spec.Flag:
			out[d.Name] = recordedMacro(cdecl.Flag(d), d.Value(), layout.LP64.Long, false)
		}
	}
	return out
}

func recordedMacro(body string, value uint64, bytes int, signed bool) object {
	return object{"bodies": []string{body}, "value": value, "c_type_bytes_x86_64_lp64": bytes, "c_type_signed": signed}
}

func recordedVersions(r *spec.Release) object {
	out := object{}
	for _, m := range spec.Of[*spec.Macro](r) {
		if strings.HasSuffix(m.Name, "_VERSION") {
			out[m.Name] = object{"body": m.Literal, "value": m.Value}
		}
	}
	return out
}

func recordedEnum(r *spec.Release, e *spec.Enum) object {
	members, values := []object{}, []int64{}
	for _, v := range e.Values {
		literal := strconv.FormatInt(v.Value, 10)
		if e.Unsigned {
			literal += "U"
		}
		members = append(members, object{"name": v.Name, "value": v.Value, "literal": literal})
		values = append(values, v.Value)
	}
	short := layout.LP64
	short.ShortEnums = true
	size, kind := enumType(r, e, layout.LP64, layout.C)
	_, shortKind := enumType(r, e, short, layout.C)
	_, cxxKind := enumType(r, e, layout.LP64, layout.CXX)
	return object{
		"members": members, "unassigned_values": unassigned(values), "typedef": e.Name, "tag": nil,
		"size": size, "align": size,
		"cxx_fixed_underlying": optional(e.CxxUnderlying != "", cdecl.Builtin(e.CxxUnderlying)),
		"underlying": object{"c_gcc_x86_64": kind, "c_gcc_x86_64_fshort_enums": shortKind,
			"cxx_gcc_x86_64": cxxKind},
	}
}

// enumType returns the size of an enum, and the C type with its size and sign.
func enumType(r *spec.Release, e *spec.Enum, m layout.Model, lang layout.Lang) (size int, kind string) {
	l, _ := layout.Of(r, m, lang).Enum(e.Name)
	kind = map[int]string{1: "char", 2: "short", 4: "int", 8: "long"}[l.Size]
	switch {
	case !l.Signed:
		return l.Size, "unsigned " + kind
	case l.Size == 1:
		return l.Size, "signed char"
	}
	return l.Size, kind
}

func unassigned(values []int64) []int64 {
	out := []int64{}
	for v := slices.Min(values); v < slices.Max(values); v++ {
		if !slices.Contains(values, v) {
			out = append(out, v)
		}
	}
	return out
}

func optional(present bool, s string) any {
	if !present {
		return nil
	}
	return s
}

func recordedStruct(r *spec.Release, s *spec.Struct) object {
	l, _ := layout.Of(r, layout.LP64, layout.C).Struct(s.Name)
	spell := cdecl.Of(r).In(s.Name)
	fields := []object{}
	for _, f := range l.Fields {
		o := object{"name": f.Name, "type": spell.Type(f.Type), "offset": f.Offset, "size": f.Size}
		if f.Type.Kind == spec.Function {
			o["function"] = object{"params": recordedParams(spell, f.Type.Func),
				"returns": spell.Type(f.Type.Func.Returns)}
		}
		fields = append(fields, o)
	}
	return object{
		"size": l.Size, "align": l.Align, "fields": fields, "padding": append([]layout.Hole{}, l.Holes...),
		"tag": optional(s.Tag, s.Name), "typedef": optional(s.Typedef, s.Name), "c_spelling": cdecl.Of(r).Name(s.Name),
	}
}

func recordedCallback(r *spec.Release, c *spec.Callback) object {
	spell := cdecl.Of(r)
	return object{
		"declaration": spell.Typedef(c), "type": spell.Type(spec.Type{Kind: spec.Function, Func: &c.Func}),
		"params": recordedParams(spell, &c.Func), "returns": spell.Type(c.Func.Returns), "size": layout.LP64.Pointer,
	}
}

func recordedParams(spell cdecl.Speller, f *spec.Func) []object {
	out := []object{}
	for _, p := range f.Params {
		o := object{"name": p.Name, "type": spell.Type(p.Type)}
		if p.Type.Kind == spec.Function {
			o["params"], o["returns"] = recordedParams(spell, p.Type.Func), spell.Type(p.Type.Func.Returns)
		}
		out = append(out, o)
	}
	return out
}

func recordedLayouts(r *spec.Release) object {
	out := object{}
	for _, x := range targets {
		out[x.name] = object{"triple": x.triple, "flags": append([]string{}, x.flags...),
			"c": recordedLayout(r, x.model, layout.C), "cxx": recordedLayout(r, x.model, layout.CXX)}
	}
	return out
}

func recordedLayout(r *spec.Release, m layout.Model, lang layout.Lang) object {
	enums, structs, macros := object{}, object{}, object{}
	table := layout.Of(r, m, lang)
	for _, e := range table.Enums {
		enums[e.Name] = object{"size": e.Size, "signed": e.Signed}
	}
	for _, s := range table.Structs {
		fields := object{}
		for _, f := range s.Fields {
			fields[f.Name] = object{"offset": f.Offset, "size": f.Size}
		}
		structs[s.Name] = object{"size": s.Size, "align": s.Align, "fields": fields}
	}
	for _, d := range spec.Of[*spec.Macro](r) {
		macros[d.Name] = 4
	}
	for _, d := range spec.Of[*spec.Flag](r) {
		macros[d.Name] = m.Long
	}
	return object{"enums": enums, "structs": structs, "macro_bytes": macros}
}
