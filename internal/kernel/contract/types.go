package contract

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

func lower(text string) string { return strings.ToLower(text) }

var (
	// builtinTypes are the element names of the grammar besides the dtypes.
	builtinTypes = []string{"any", "int", "float", "bool", "str", "list"}
	// reservedTypes are the element names that types: cannot redefine.
	reservedTypes = append(slices.Clone(builtinTypes), "pointer", "stream")
)

// dtype finds a dtype by its name.
func (r *reader) dtype(name string) (spec.DType, bool) {
	i := slices.IndexFunc(r.scope.DTypes, func(d spec.DType) bool { return d.Name == name })
	if i < 0 {
		return spec.DType{}, false
	}
	return r.scope.DTypes[i], true
}

// unknown returns a hint with the type that was probably meant.
func (r *reader) unknown(name string) string {
	switch spelled := foreign[lower(name)]; {
	case name == "":
		return "write a dtype, such as float32"
	case name == "any":
		return "write any[...] for a tensor of any dtype"
	case lower(name) == "null" || lower(name) == "none":
		return name + " is a value, not a type: write ? after the type of an argument that may be None"
	case lower(name) == "true" || lower(name) == "false":
		return name + " is a value, not a type: write bool"
	case spelled != "":
		return "write " + spelled
	case slices.Contains(modules, lower(name)):
		return "write the dtype without its module, such as float32[n]"
	case slices.Contains(tensorTypes, lower(name)):
		return "write the dtype, such as float32[n], or any[n] for any dtype"
	case lower(name) == "optional":
		return "write ? after the type, as in float32[n]?"
	}
	all := namesOf(r.scope.DTypes)
	for _, v := range r.Vars {
		all = append(all, v.Name)
	}
	if hint := diag.DidYouMean(name, append(all, builtinTypes...)); hint != "" {
		return hint
	}
	return "give it dtypes by types: {" + name + ": [float32, float64]}"
}

// unknownDType is unknown where only a dtype is valid: not a variable, nor a type without a width.
func (r *reader) unknownDType(name string) string {
	bare := name[strings.LastIndexByte(name, '.')+1:]
	if _, known := r.dtype(bare); known {
		return "write " + bare
	}
	switch {
	case exact[lower(bare)] != "":
		return "write " + exact[lower(bare)]
	case foreign[lower(bare)] != "":
		return "write " + foreign[lower(bare)]
	case bare == "":
		return "write a dtype, such as float32"
	}
	return cmp.Or(diag.DidYouMean(bare, namesOf(r.scope.DTypes)), "`dlpackgen list dtypes` lists the dtypes")
}

// tensorTypes are the types of tensors in other languages.
var tensorTypes = []string{"tensor", "array", "ndarray", "arraylike", "tensorview"}

// modules precede the names of dtypes in other libraries.
var modules = []string{"np", "numpy", "torch", "jnp", "jax", "tf", "cp", "cupy", "paddle", "ml_dtypes"}

// foreign are type names of C, Rust and other libraries, with their dtypes.
var foreign = map[string]string{
	"double": "float64", "single": "float32", "half": "float16", "fp64": "float64", "fp32": "float32",
	"fp16": "float16", "bf16": "bfloat16", "f64": "float64", "f32": "float32", "f16": "float16",
	"char": "int8", "short": "int16", "long": "int64", "integer": "int64", "size_t": "uint64", "byte": "uint8",
	"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32",
	"u64": "uint64", "int8_t": "int8", "int16_t": "int16", "int32_t": "int32", "int64_t": "int64",
	"uint8_t": "uint8", "uint16_t": "uint16", "uint32_t": "uint32", "uint64_t": "uint64", "boolean": "bool",
	"string": "str", "complex": "complex64", "cfloat": "complex64", "cdouble": "complex128",
}

// types reads the variables.
func (r *reader) types(section *yaml.Node) {
	if section == nil || isEmpty(section) {
		return
	}
	if !section.Is(yaml.Mapping, "types") {
		r.lost.all = true
		return
	}
	if n := len(section.Entries); n > MaxVars {
		section.Errorf("too-many", "describe a kernel for each dtype of one of them", "%d variables, more than %d", n,
			MaxVars)
	}
	for _, e := range section.Entries {
		if _, known := r.dtype(e.Key.Value); known || slices.Contains(reservedTypes, e.Key.Value) {
			r.lost.add(e.Key.Value)
			e.Key.Errorf("invalid-name", "as in T", "%s is already a type", e.Key.Value)
		}
		if !checkName(e.Key, e.Key.Value, "a variable") {
			r.lost.add(e.Key.Value)
		}
		r.Vars = append(r.Vars, r.variable(e))
	}
}

func (r *reader) variable(e yaml.Entry) Var {
	v := Var{Name: e.Key.Value, Arg: None}
	switch {
	case e.Value.Kind == yaml.List:
		for _, item := range e.Value.Items {
			r.choice(&v, item, item.Value)
		}
	case e.Value.Kind == yaml.Mapping:
		for _, entry := range e.Value.Entries {
			if spelling := entry.Value.Text("the spelling of " + entry.Key.Value); entry.Value.Kind == yaml.Scalar {
				r.choice(&v, entry.Key, spelling)
			}
		}
	default:
		hint := "write [" + strings.ReplaceAll(e.Value.Value, "|", ", ") + "]"
		if e.Value.Value == "" {
			hint = "as in " + v.Name + ": [float32, float64]"
		}
		e.Value.Errorf("type-mismatch", hint,
			"the dtypes of %s must be a list, or a mapping to their spelling in symbols", v.Name)
		return v
	}
	if len(e.Value.Items)+len(e.Value.Entries) == 0 {
		e.Value.Errorf("missing-key", "as in [float32, float64]", "%s has no dtype", v.Name)
	}
	return v
}

// choice adds a dtype to a variable.
func (r *reader) choice(v *Var, n *yaml.Node, spelling string) {
	d, known := r.dtype(n.Value)
	switch {
	case n.Kind != yaml.Scalar:
		n.Is(yaml.Scalar, "a dtype of "+v.Name)
	case !known:
		n.Errorf("unknown-dtype", r.unknownDType(n.Value), "there is no dtype %q", n.Value)
	case slices.ContainsFunc(v.Types, func(t spec.DType) bool { return t.Name == d.Name }):
		n.Errorf("duplicate-key", "keep one of them", "%s again", d.Name)
	case spelling == "" || strings.Trim(spelling, wordSigns) != "":
		n.Errorf("invalid-symbol", "use letters, digits and _", "%q cannot be part of a symbol of C", spelling)
	default:
		v.Types, v.Spell = append(v.Types, d), append(v.Spell, spelling)
	}
}

const wordSigns = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// scalars are the types outside of brackets that are not dtypes.
var scalars = map[string]Kind{"int": Int, "float": Float, "bool": Bool, "str": Str}

// param resolves the type of a line and its modifiers.
func (r *reader) param(l line) Param {
	p := Param{Name: l.key.Value, Line: l.Line.String(), Var: None, Optional: l.Optional, Default: l.Default}
	switch l.Type.Kind {
	case notation.Tensor:
		r.elements(l, &p)
	case notation.List:
		p.Count = l.Type.Count
		r.list(l, &p)
	default:
		r.scalar(l, &p)
	}
	r.modifiers(l, &p)
	return p
}

// elements resolves the element types of a tensor.
func (r *reader) elements(l line, p *Param) {
	all := l.Type.Elements
	for _, e := range all {
		d, known := r.dtype(e.Text)
		switch variable := r.Var(e.Text); {
		case known && slices.ContainsFunc(p.Types, func(t spec.DType) bool { return t.Name == d.Name }):
			l.at.ErrorfAt(e.At, "duplicate-name", "keep one of them", "%s again", e.Text)
		case known:
			p.Types = append(p.Types, d)
		case len(all) == 1 && variable != None:
			p.Var, p.Types = variable, r.Vars[variable].Types
		case len(all) == 1 && e.Text == "any":
		case len(all) > 1 && (variable != None || e.Text == "any"):
			r.lost.add(e.Text)
			l.at.ErrorfAt(e.At, "invalid-type", "list only dtypes", "%s is not an alternative", e.Text)
		case scalars[e.Text] != 0:
			l.at.ErrorfAt(e.At, "unknown-dtype", "write "+exact[e.Text], "%s has no width, which a tensor needs",
				e.Text)
		case !r.lost.all:
			if lower(e.Text) == "optional" { // whose extents are a type
				r.lost.addText(l.at)
			}
			l.at.ErrorfAt(e.At, "unknown-dtype", r.unknown(e.Text), "there is no dtype and no variable %q", e.Text)
		}
	}
}

// exact are suggested dtypes for type names without a width.
var exact = map[string]string{"int": "int64 or int32", "float": "float64 or float32", "str": "uint8", "bool": "bool"}

// unknownScalar reports a type. Unless it is like that of a scalar, it may lack its brackets, and
// with them symbols.
func (r *reader) unknownScalar(l line, e notation.Name) {
	if r.lost.all {
		return
	}
	r.lost.add(l.key.Value)
	r.lost.shapes = r.lost.shapes || diag.Nearest(e.Text, builtinTypes) == ""
	l.at.ErrorfAt(e.At, "unknown-dtype", r.unknown(e.Text), "there is no type and no variable %q", e.Text)
}

func (r *reader) list(l line, p *Param) {
	e := l.Type.Elements[0]
	switch e.Text {
	case "int":
		p.Kind = Ints
	case "float":
		p.Kind = Floats
	default:
		l.at.ErrorfAt(e.At, "invalid-type", "write list[int] or list[float]", "there are no lists of %s", e.Text)
	}
}

func (r *reader) scalar(l line, p *Param) {
	e := l.Type.Elements[0]
	if kind, known := scalars[e.Text]; known {
		p.Kind = kind
		return
	}
	p.Kind = Number
	if i := r.Var(e.Text); i != None {
		p.Var, p.Types = i, r.Vars[i].Types
		if l.Optional {
			l.at.ErrorfAt(e.At, "invalid-type", "give it a default",
				"a scalar whose dtype the call determines cannot be None")
		}
	} else if d, known := r.dtype(e.Text); known {
		p.Types = []spec.DType{d}
	} else {
		r.unknownScalar(l, e)
	}
	for _, d := range p.Types {
		if _, known := CTypes[d.Name]; !known {
			l.at.ErrorfAt(e.At, "invalid-type", "write "+e.Text+"[] for a tensor of rank 0",
				"C has no type for a scalar of %s", d.Name)
			return
		}
	}
}

// CTypes are the C types for scalars of dtypes. 16-bit floats are passed as float, because C has no
// name for them that every compiler supports.
var CTypes = map[string]string{
	"bool": "bool", "int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "int64": "int64_t",
	"uint8": "uint8_t", "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t",
	"float16": "float", "bfloat16": "float", "float32": "float", "float64": "double",
}

// IsNarrowed reports whether a scalar of a dtype is passed as a wider float, so that its value may
// not fit the dtype.
func IsNarrowed(dtype string) bool { return CTypes[dtype] == "float" && dtype != "float32" }

// layouts are the modifiers for layouts.
var layouts = map[string]Layout{"strided": Strided, "inner": Inner, "any_order": AnyOrder, "column_major": ColumnMajor}

// modifiers resolves the modifiers after a type.
func (r *reader) modifiers(l line, p *Param) {
	seen := map[string]string{} // by what they say
	for _, w := range l.Modifiers {
		if p.Kind != Tensor {
			l.at.ErrorfAt(w.At, "invalid-modifier", "remove the modifier, or write a tensor, such as float32[n]",
				"`%s` needs a tensor, and %s is %s", w.Text, p.Name, p.Kind)
			return
		}
		about := w.Text + w.Of
		if _, is := layouts[w.Text]; is || w.Text == "copied" {
			about = "layout"
		} else if w.Text == "inout" || w.Text == "out" {
			about = "access"
		}
		if before, again := seen[about]; again {
			l.at.ErrorfAt(w.At, "invalid-modifier", "keep one of them", "%s", clash(before, w.Text))
		}
		seen[about] = w.Text
		modifier(w, p)
	}
	if p.Copied && p.Writes() {
		l.at.Errorf("invalid-modifier", "write strided, or remove copied", "%s is written, which a copy would lose",
			p.Name)
	}
}

// clash returns why two modifiers exclude each other.
func clash(before, after string) string {
	if before == after {
		return "modifier " + after + " is repeated"
	}
	return "modifiers " + before + " and " + after + " contradict each other"
}

func modifier(w notation.Modifier, p *Param) {
	switch w.Text {
	case "aligned":
		p.Align = w.Number
	case "inout":
		p.Access = InOut
	case "out":
		p.Access = Out
	case "cpu":
		p.CPU = true
	case "copied":
		p.Copied = true
	case "zeroed":
		p.Zeroed = true
	case "saved":
		p.Saved = true
	case "aliases":
	default:
		p.Layout = layouts[w.Text]
	}
}
