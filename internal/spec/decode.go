package spec

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// declaration is a declaration with its history, whatever its kind.
type declaration struct {
	node  *yaml.Node
	parts []*yaml.Node // its enumerators or fields
	name  string       // in the spec: the newest one
	codes []entry[EnumValue]
	macro bool // the name is a macro, which is replaced everywhere
	// at returns the name in a release that has the declaration.
	at func(release int) (name string, ok bool)
	// resolve returns the declaration in the linker's release.
	resolve func(l *linker) Decl
}

type (
	dtypeDef struct {
		DType
		node *yaml.Node
	}
	pythonDef struct {
		capsule   entry[CapsuleNames]
		versioned entry[CapsuleNames]
		exchange  entry[exchangeNames]
	}
	exchangeNames struct{ attribute, capsule string }
)

type decoder struct{ spec *Spec }

// decode reads the structure of a spec; validate checks the meaning of the values.
func decode(root *yaml.Node) *Spec {
	d := &decoder{spec: &Spec{}}
	m := root.Map("a spec")
	if v := m.Require("spec"); v != nil {
		v.Int("spec", 1, 1)
	}
	if n := m.Require("releases"); n != nil {
		d.releases(n)
	}
	for _, n := range requireList(m, "declarations") {
		d.declaration(n)
	}
	if n := m.Get("elements"); n != nil {
		d.elements(n)
	}
	if n := m.Get("limits"); n != nil {
		d.limits(n.Map("limits"))
	}
	d.dtypes(m.List("dtypes"))
	d.streams(m.List("streams"))
	if n := m.Get("python"); n != nil {
		d.python(n.Map("python"))
	}
	m.Close()
	return d.spec
}

var versionForm = regexp.MustCompile(`^([0-9]{1,4})\.([0-9]{1,4})$`)

func (d *decoder) releases(n *yaml.Node) {
	for _, item := range requireItems(n, "releases") {
		m := item.Map("a release")
		r := ReleaseInfo{Version: m.RequireText("version"), Unreleased: m.Bool("unreleased")}
		if v := m.Get("date"); v != nil {
			r.Date = v.Source("date") // a date for other readers too
		}
		m.Close()
		if v := m.Get("version"); v != nil && v.Kind == yaml.Scalar {
			d.checkVersion(v, r)
		}
		if r.Date != "" && !isDate(r.Date) {
			m.Get("date").Errorf("invalid-date", "", "the date must be YYYY-MM-DD or YYYY-MM, not %q", r.Date)
		}
		d.spec.releases = append(d.spec.releases, r)
	}
}

// isDate accepts a day or, if the day is unknown, a month.
func isDate(s string) bool {
	_, day := time.Parse("2006-01-02", s)
	_, month := time.Parse("2006-01", s)
	return day == nil || month == nil
}

// checkVersion reports an invalid version, or one that is out of order.
func (d *decoder) checkVersion(n *yaml.Node, r ReleaseInfo) {
	last := len(d.spec.releases) - 1
	switch {
	case r.Unreleased != (r.Version == "main") || !r.Unreleased && !versionForm.MatchString(r.Version):
		n.Errorf("invalid-version", "a release is called MAJOR.MINOR, the unreleased state main", "the version %q",
			r.Version)
	case d.spec.index(r.Version) >= 0:
		n.Errorf("duplicate-name", "", "release %s is repeated", r.Version)
	case last >= 0 && !older(d.spec.releases[last].Version, r.Version):
		n.Errorf("release-order", "list releases oldest first, main last", "release %s is listed after %s", r.Version,
			d.spec.releases[last].Version)
	}
}

// older compares two versions by their numbers; main is newer than any.
func older(a, b string) bool {
	x, y := versionForm.FindStringSubmatch(a), versionForm.FindStringSubmatch(b)
	if x == nil || y == nil {
		return x != nil
	}
	for i := 1; i <= 2; i++ {
		if m, n := atoi(x[i]), atoi(y[i]); m != n {
			return m < n
		}
	}
	return false
}

// atoi converts the digits that versionForm has matched.
func atoi(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// kinds are the first keys of declarations.
var kinds = []string{"linkage", "macro", "flag", "enum", "struct", "alias", "callback"}

func (d *decoder) declaration(n *yaml.Node) {
	m := n.Map("a declaration")
	i := slices.IndexFunc(kinds, func(k string) bool { return m.Get(k) != nil })
	if i < 0 {
		if n.Kind == yaml.Mapping {
			n.Errorf("missing-key", "", "a declaration needs one of the keys %s", strings.Join(kinds, ", "))
		}
		return
	}
	m = n.Map(article(kinds[i]))
	d.spec.decls = append(d.spec.decls, d.read(kinds[i], m))
	m.Close()
}

func article(kind string) string {
	if strings.ContainsAny(kind[:1], "ae") {
		return "an " + kind
	}
	return "a " + kind
}

// read reads a declaration of a kind.
func (d *decoder) read(kind string, m *yaml.Map) declaration {
	switch kind {
	case "linkage":
		return macro(declare(readEntry(d, m, readLinkage, "kind"), keep))
	case "macro":
		return macro(declare(readEntry(d, m, readMacro, "literal"), keep))
	case "flag":
		return macro(declare(readEntry(d, m, readFlag, "bit"), keep))
	case "alias":
		return declare(readEntry(d, m, readAlias, "target"), (*linker).alias)
	case "callback":
		return declare(readEntry(d, m, readCallback, "returns"), (*linker).callback)
	case "enum":
		e := readEntry(d, m, readEnum, "wire")
		values := readEntries(d, m, "values", "an enumerator", readEnumValue, "name", "value")
		def := declare(e, func(l *linker, n *yaml.Node, e *Enum) { l.enum(n, e, values) })
		def.parts, def.codes = nodes(values), values
		return def
	default:
		e := readEntry(d, m, readStruct)
		fields := readEntries(d, m, "fields", "a field", readField, "name", "type")
		def := declare(e, func(l *linker, n *yaml.Node, s *Struct) { l.structure(n, s, fields) })
		def.parts = nodes(fields)
		return def
	}
}

func nodes[T any](entries []entry[T]) []*yaml.Node {
	var out []*yaml.Node
	for _, e := range entries {
		out = append(out, e.node)
	}
	return out
}

// declare wraps an entry of any kind; link completes it in a release.
func declare[T any, P interface {
	*T
	Decl
}](e entry[T], link func(l *linker, n *yaml.Node, v P)) declaration {
	return declaration{
		node: e.node,
		name: P(&e.now).DeclName(),
		at: func(release int) (string, bool) {
			v, ok := e.at(release)
			return P(&v).DeclName(), ok
		},
		resolve: func(l *linker) Decl {
			v, _ := e.at(l.release)
			link(l, e.node, &v)
			return P(&v)
		},
	}
}

func macro(d declaration) declaration {
	d.macro = true
	return d
}

// keep is the link function of a declaration without references to others.
func keep[P any](*linker, *yaml.Node, P) {}

// readEntries reads a list of entities with their histories.
func readEntries[T any](d *decoder, m *yaml.Map, key, what string, read func(*yaml.Map, *T),
	require ...string) []entry[T] {
	var out []entry[T]
	for _, n := range requireList(m, key) {
		em := n.Map(what)
		out = append(out, readEntry(d, em, read, require...))
		em.Close()
	}
	return out
}

// requireList reads a required list, which must not be empty.
func requireList(m *yaml.Map, key string) []*yaml.Node {
	n := m.Require(key)
	if n == nil {
		return nil
	}
	return requireItems(n, key)
}

// requireItems reads the items of a list, which must not be empty.
func requireItems(n *yaml.Node, what string) []*yaml.Node {
	items := n.List(what)
	if n.Kind == yaml.List && len(items) == 0 {
		n.Errorf("empty-list", "", "%s must not be empty", what)
	}
	return items
}

func (d *decoder) dtypes(items []*yaml.Node) {
	for _, n := range items {
		m := n.Map("a dtype")
		t := dtypeDef{DType: DType{Name: m.RequireText("name"), Code: m.RequireText("code"), Lanes: 1, Doc: m.Doc()},
			node: n}
		if b := m.Require("bits"); b != nil {
			t.Bits = int(b.Int("bits", 1, 255))
		}
		if l := m.Get("lanes"); l != nil {
			t.Lanes = int(l.Int("lanes", 1, 65535))
		}
		if at := m.Get("torch"); at != nil {
			t.Torch = readTorch(at.Map("torch"))
		}
		m.Close()
		d.spec.dtypes = append(d.spec.dtypes, t)
	}
}

var meanings = []string{"no_sync", "legacy_default", MeaningPerThread, "default", MeaningRejected}

func (d *decoder) streams(items []*yaml.Node) {
	for _, n := range items {
		m := n.Map("a stream table")
		t := StreamTable{Name: m.RequireText("name"), Doc: m.Doc(), Handle: m.Bool("handle")}
		for _, v := range requireList(m, "values") {
			vm := v.Map("a stream value")
			value := StreamValue{}
			if i := vm.Require("value"); i != nil {
				value.Value = i.Int("value", -1<<31, 1<<31-1)
			}
			if w := vm.Require("meaning"); w != nil {
				value.Meaning = w.OneOf("meaning", meanings)
			}
			vm.Close()
			t.Values = append(t.Values, value)
		}
		m.Close()
		if slices.ContainsFunc(d.spec.streams, func(o StreamTable) bool { return o.Name == t.Name }) {
			n.Errorf("duplicate-name", "", "stream table %q is repeated", t.Name)
		}
		d.spec.streams = append(d.spec.streams, t)
	}
}

func (d *decoder) python(m *yaml.Map) {
	d.spec.python.capsule = readPython(d, m, "capsule", readCapsule, "fresh", "used")
	d.spec.python.versioned = readPython(d, m, "versioned", readCapsule, "fresh", "used")
	d.spec.python.exchange = readPython(d, m, "exchange", readExchange, "attribute", "capsule")
	m.Close()
}

func readPython[T any](d *decoder, m *yaml.Map, key string, read func(*yaml.Map, *T), require ...string) entry[T] {
	n := m.Require(key)
	if n == nil {
		return entry[T]{}
	}
	em := n.Map(key)
	e := readEntry(d, em, read, require...)
	em.Close()
	return e
}
