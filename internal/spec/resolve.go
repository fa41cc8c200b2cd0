package spec

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// report adds a finding at a position in the spec.
type report func(n *yaml.Node, code, hint, format string, args ...any)

// linker resolves one release. It applies each history, replaces the names of the spec with those
// of the release, and checks that the declarations are consistent, in the order in which C reads
// them.
type linker struct {
	spec    *Spec
	release int
	report  report
	types   map[string]string // the release's types, by their name in the spec
	codes   map[string]string // likewise its enumerators
	macros  map[string]bool   // the names of macros, which are replaced everywhere
	globals map[string]Decl   // the owner of each name in C's global name space; nil: an enumerator
}

// resolve returns a release of a valid spec.
func (s *Spec) resolve(i int) *Release {
	r, _ := s.link(i, func(*yaml.Node, string, string, string, ...any) {})
	return r
}

// link resolves a release. It also returns the release's name of each enumerator in the spec.
func (s *Spec) link(i int, rep report) (*Release, map[string]string) {
	l := &linker{spec: s, release: i, report: rep, types: map[string]string{}, codes: map[string]string{},
		macros: map[string]bool{}, globals: map[string]Decl{}}
	info := s.releases[i]
	r := &Release{Version: info.Version, Unreleased: info.Unreleased, SpecSHA256: s.SHA256}
	r.Major, r.Minor = s.number(i)
	l.announce()
	for _, d := range s.decls {
		if name, ok := d.at(i); ok {
			decl := d.resolve(l)
			l.claim(d.node, name, decl)
			l.compareVersion(d.node, decl, r)
			r.Decls = append(r.Decls, decl)
		}
	}
	r.index = newIndex(r.Decls)
	r.Streams = s.streams
	r.DTypes = l.dtypes()
	r.Elements, r.Limits = l.elements(), s.limits
	r.Codes = l.spec.codes()
	l.refer(r.Decls)
	r.Python, r.NewestPython = s.pythonAt(i), s.pythonAt(len(s.releases)-1)
	return r, l.codes
}

// number returns the version of a release. main has the version of the preceding release, because
// upstream adds declarations before it increments the version.
func (s *Spec) number(i int) (major, minor int) {
	for ; i >= 0; i-- {
		if m := versionForm.FindStringSubmatch(s.releases[i].Version); m != nil {
			return atoi(m[1]), atoi(m[2])
		}
	}
	return 0, 0
}

// compareVersion reports a macro of the version whose value differs from the release's, for
// instance because a release was added without changing the macro.
func (l *linker) compareVersion(n *yaml.Node, d Decl, r *Release) {
	m, ok := d.(*Macro)
	if !ok {
		return
	}
	want, ok := map[string]int{"DLPACK_MAJOR_VERSION": r.Major, "DLPACK_MINOR_VERSION": r.Minor}[m.Name]
	if !ok || int64(want) == int64(m.Value) {
		return
	}
	l.report(n, "wrong-version", fmt.Sprintf("set `literal: \"%d\"`, and keep the earlier value under `was:`", want),
		"%s is %d in release %s, expected %d", m.Name, m.Value, r.Version, want)
}

func (l *linker) version() string { return l.spec.releases[l.release].Version }

// announce collects the names that this release declares.
func (l *linker) announce() {
	for _, d := range l.spec.decls {
		if name, ok := d.at(l.release); ok {
			l.types[d.name] = name
			l.macros[name] = l.macros[name] || d.macro
		}
	}
}

// claim reserves a name. C has one name space for types and enumerators.
func (l *linker) claim(n *yaml.Node, name string, d Decl) {
	if _, taken := l.globals[name]; taken {
		l.report(n, "duplicate-name", "", "the name %s is repeated in DLPack %s", name, l.version())
	}
	l.globals[name] = d
}

func (l *linker) alias(n *yaml.Node, v *Alias) {
	v.Target = l.link(Type{Kind: Named, Name: v.Target, node: n}, nil, false).Name
}

func (l *linker) callback(n *yaml.Node, v *Callback) {
	for _, p := range v.Func.Params {
		l.replaced(n, p.Name)
	}
	v.Func = l.linkFunc(v.Func, nil)
}

// replaced reports a name that a macro of the release would replace.
func (l *linker) replaced(n *yaml.Node, name string) {
	if l.macros[name] {
		l.report(n, "duplicate-name", "", "the macro %s of DLPack %s would replace the name %s", name, l.version(),
			name)
	}
}

func (l *linker) enum(n *yaml.Node, e *Enum, values []entry[EnumValue]) {
	seen := map[int64]string{}
	for i := range values {
		v, ok := values[i].at(l.release)
		if !ok {
			continue
		}
		at := values[i].node
		if other, again := seen[v.Value]; again {
			l.report(at, "duplicate-value", "copy the value from the header of the release",
				"%s has the value %d of %s", v.Name, v.Value, other)
		}
		if e.Unsigned && v.Value < 0 {
			l.report(at, "out-of-range", "", "%s is negative in an unsigned enum", v.Name)
		}
		if low, high := wireRange(e.Wire); v.Value < low || v.Value > high {
			l.report(at, "out-of-range", "", "%s has the value %d, which %s cannot represent", v.Name, v.Value, e.Wire)
		}
		l.device(at, v)
		l.claim(at, v.Name, nil)
		seen[v.Value], l.codes[values[i].now.Name] = v.Name, v.Name
		e.Values = append(e.Values, v)
	}
	if len(e.Values) == 0 {
		l.report(n, "empty-enum", "", "%s has no enumerator in DLPack %s", e.Name, l.version())
	}
}

// wireRange returns the range of an integer type.
func wireRange(wire string) (low, high int64) {
	bits, err := strconv.Atoi(strings.TrimLeft(wire, "uint"))
	switch {
	case err != nil || bits == 64:
		return math.MinInt64, math.MaxInt64
	case strings.HasPrefix(wire, "u"):
		return 0, 1<<bits - 1
	default:
		return -1 << (bits - 1), 1<<(bits-1) - 1
	}
}

// device checks that a device type refers to a stream table that exists.
func (l *linker) device(n *yaml.Node, v EnumValue) {
	if v.Device == nil || v.Device.Streams == "" {
		return
	}
	var names []string
	for _, t := range l.spec.streams {
		names = append(names, t.Name)
	}
	if !slices.Contains(names, v.Device.Streams) {
		l.report(n, "undefined-streams", diag.DidYouMean(v.Device.Streams, names), "%s: no stream table %q", v.Name,
			v.Device.Streams)
	}
}

func (l *linker) structure(n *yaml.Node, s *Struct, fields []entry[Field]) {
	seen := map[string]bool{}
	for i := range fields {
		f, ok := fields[i].at(l.release)
		if !ok {
			continue
		}
		at := fields[i].node
		if seen[f.Name] {
			l.report(at, "duplicate-name", "", "%s has the field %s twice in DLPack %s", s.Name, f.Name, l.version())
		}
		seen[f.Name] = true
		l.replaced(at, f.Name)
		if !f.Type.pointerLike(l) && (f.Null != "" || f.Owner != "") {
			l.report(at, "invalid-field", "", "%s.%s is not a pointer, so nullable and owner do not apply", s.Name,
				f.Name)
		}
		f.Type = l.link(f.Type, s, false)
		f.NullBefore = l.nullBefore(&fields[i], f)
		s.Fields = append(s.Fields, f)
	}
	switch {
	case len(s.Fields) == 0:
		l.report(n, "empty-struct", "", "%s has no field in DLPack %s", s.Name, l.version())
	case !s.Tag && !s.Typedef:
		l.report(n, "nameless-struct", "", "%s has neither tag nor typedef in DLPack %s", s.Name, l.version())
	}
}

// nullBefore returns the minor version from which a pointer must not be NULL, or 0.
func (l *linker) nullBefore(e *entry[Field], now Field) int {
	for _, p := range e.past {
		if p.until < l.release && p.value.Null == NullAllowed && now.Null != NullAllowed {
			_, minor := l.spec.number(p.until + 1)
			return minor
		}
	}
	return 0
}

// pointerLike reports whether a value of the type may be NULL.
func (t Type) pointerLike(l *linker) bool {
	_, callback := l.globals[l.types[t.Name]].(*Callback)
	return t.Kind == Pointer || t.Kind == Function || callback
}

// link returns a type with the names of the release. within is the struct that contains it. behind
// is set for the target of a pointer, whose size C does not need.
func (l *linker) link(t Type, within *Struct, behind bool) Type {
	out := Type{Kind: t.Kind, Name: t.Name, Const: t.Const}
	switch t.Kind {
	case Named:
		out.Name = l.named(t, within, behind)
	case Pointer:
		elem := l.link(*t.Elem, within, true)
		out.Elem = &elem
	case Function:
		f := l.linkFunc(*t.Func, within)
		out.Func = &f
	}
	return out
}

func (l *linker) linkFunc(f Func, within *Struct) Func {
	out := Func{Returns: l.link(f.Returns, within, true)}
	for _, p := range f.Params {
		out.Params = append(out.Params, Param{Name: p.Name, Type: l.link(p.Type, within, true)})
	}
	return out
}

// named returns a type's name in the release, if it is declared at this point in C.
func (l *linker) named(t Type, within *Struct, behind bool) string {
	name, exists := l.types[t.Name]
	_, declared := l.globals[name]
	switch {
	case !exists:
		l.report(t.node, "undefined-type", diag.DidYouMean(t.Name, l.typeNames()), "no type %q in DLPack %s", t.Name,
			l.version())
	case within != nil && name == within.Name && behind && within.Tag:
	case within != nil && name == within.Name && behind:
		l.report(t.node, "type-order", "give it a tag", "%s refers to itself, which C allows only through a tag", name)
	case within != nil && name == within.Name:
		l.report(t.node, "endless-type", "use a pointer", "%s contains itself", name)
	case !declared:
		l.report(t.node, "type-order", "move that declaration up", "%s is used before its declaration", name)
	case !isType(l.globals[name]):
		l.report(t.node, "undefined-type", "", "%s is not a type", name)
	}
	return name
}

// typeNames returns the names of types that the spec may use in this release.
func (l *linker) typeNames() []string {
	names := []string{"void", "char", "int"}
	names = append(names, integers...)
	for canonical := range l.types {
		names = append(names, canonical)
	}
	slices.Sort(names)
	return names
}

func isType(d Decl) bool {
	switch d.(type) {
	case *Enum, *Struct, *Alias, *Callback:
		return true
	}
	return false
}

// dtypes returns the element types whose code the release has.
func (l *linker) dtypes() []DType {
	var out []DType
	seen := map[string]bool{}
	for _, t := range l.spec.dtypes {
		if seen[t.Name] {
			l.report(t.node, "duplicate-name", "", "dtype %s is repeated", t.Name)
		}
		seen[t.Name] = true
		if code, ok := l.codes[t.Code]; ok {
			v := t.DType
			v.Code, v.Native = code, l.spec.native(t.Code)
			out = append(out, v)
		}
	}
	return out
}

// pythonAt returns the names of a release, with the version that added versioned tensors.
func (s *Spec) pythonAt(release int) Python {
	p := s.python.at(release)
	if p.Versioned.Fresh != "" {
		p.VersionedMajor, p.VersionedMinor = s.number(s.python.versioned.since)
	}
	return p
}

func (p *pythonDef) at(release int) Python {
	out := Python{}
	out.Capsule, _ = p.capsule.at(release)
	if v, ok := p.versioned.at(release); ok {
		out.Versioned = v
	}
	if v, ok := p.exchange.at(release); ok {
		out.ExchangeAttr, out.ExchangeCapsule = v.attribute, v.capsule
	}
	for older := range release {
		if v, ok := p.exchange.at(older); ok && v.capsule == "" && v.attribute != out.ExchangeAttr {
			out.OlderExchange = v.attribute
		}
	}
	return out
}
