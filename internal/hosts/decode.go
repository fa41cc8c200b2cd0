package hosts

import (
	"math"
	"regexp"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// The forms of texts that become C code.
var (
	hostName    = regexp.MustCompile(`^[a-z][a-z0-9_]{0,30}$`)
	ownName     = regexp.MustCompile(`^[a-z][a-z0-9_]{0,60}$`)
	fieldName   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,60}$`)
	nativeName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_:.]{0,100}$`)
	symbolName  = spec.SymbolName
	versionText = regexp.MustCompile(`^[0-9A-Za-z.+-]{1,40}$`)
	pathText    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./@-]{0,100}$`)
	titleText   = regexp.MustCompile(`^[A-Za-z0-9 .-]{1,40}$`)
)

// Decode reads a description, and adds all findings to the list. The host is nil if one of them is
// an error.
func Decode(file string, src []byte, diags *diag.List) *Host {
	root := yaml.Parse(file, src, diags)
	if root == nil {
		return nil
	}
	m := root.Map("the host")
	if v := m.Require("host"); v != nil {
		v.Int("host", Version, Version)
	}
	h := &Host{Name: form(m.Require("name"), "name", hostName), Title: form(m.Require("title"), "title", titleText),
		Source: decodeSource(m.Require("source"))}
	rows(m.Get("constants"), "constants", func(e yaml.Entry) { h.Constants = append(h.Constants, decodeConstant(e)) })
	declared := map[string]Struct{}
	rows(m.Get("structs"), "structs", func(e yaml.Entry) {
		s := decodeStruct(e, declared)
		declared[s.Name] = s
		h.Structs = append(h.Structs, s)
	})
	h.Lookup = m.Bool("lookup")
	rows(m.Get("functions"), "functions", func(e yaml.Entry) {
		h.Functions = append(h.Functions, decodeFunction(e, declared))
	})
	m.Close()
	if diags.Failed() {
		return nil
	}
	return h
}

// form reads a text of a form; nil reads as "".
func form(n *yaml.Node, what string, want *regexp.Regexp) string {
	if n == nil {
		return ""
	}
	text := n.Text(what)
	if n.Kind == yaml.Scalar && !want.MatchString(text) {
		n.Errorf("invalid-name", "", "%s %q must match %s", what, text, want)
	}
	return text
}

// member reads the name of a field, which must not be a keyword of C.
func member(n *yaml.Node, what string, want *regexp.Regexp) string {
	name := form(n, what, want)
	if spec.IsKeyword(name) {
		n.Errorf("invalid-name", "", "%q is a keyword of C or C++", name)
	}
	return name
}

// rows reads a mapping whose keys are names.
func rows(n *yaml.Node, what string, read func(yaml.Entry)) {
	if n == nil || !n.Is(yaml.Mapping, what) {
		return
	}
	for _, e := range n.Entries {
		read(e)
	}
}

func number(n *yaml.Node, what string, low, high int64) int64 {
	if n == nil {
		return low
	}
	return n.Int(what, low, high)
}

func decodeSource(n *yaml.Node) Source {
	if n == nil {
		return Source{}
	}
	m := n.Map("source")
	s := Source{Package: form(m.Require("package"), "package", pathText),
		Version: form(m.Require("version"), "version", versionText),
		Include: form(m.Get("include"), "include", pathText)}
	if m.Require("headers") != nil {
		for _, header := range m.List("headers") {
			s.Headers = append(s.Headers, form(header, "a header", pathText))
		}
	}
	m.Close()
	return s
}

func decodeConstant(e yaml.Entry) Constant {
	c := Constant{Name: form(e.Key, "a constant", ownName)}
	m := e.Value.Map("constant " + c.Name)
	c.Value = number(m.Require("value"), "value", math.MinInt32, math.MaxInt32)
	c.Native = form(m.Require("native"), "native", nativeName)
	m.Close()
	return c
}

// maxSize limits the number of reserved bytes in a struct.
const maxSize = 1 << 16

func decodeStruct(e yaml.Entry, declared map[string]Struct) Struct {
	s := Struct{Name: form(e.Key, "a struct", ownName)}
	m := e.Value.Map("struct " + s.Name)
	s.Native = form(m.Require("native"), "native", nativeName)
	s.Size = number(m.Require("size"), "size", 1, maxSize)
	s.Align = number(m.Require("align"), "align", 1, 16)
	fields := m.Require("fields")
	if fields != nil {
		placed := placement{declared: declared, self: s.Name}
		for _, n := range fields.List("fields") {
			s.Fields = append(s.Fields, placed.add(n, decodeField(n)))
		}
		placed.close(m.Node(), s)
	}
	m.Close()
	return s
}

func decodeField(n *yaml.Node) Field {
	m := n.Map("a field")
	f := Field{Name: member(m.Require("name"), "name", fieldName),
		Offset: number(m.Require("offset"), "offset", 0, maxSize)}
	if v := m.Require("type"); v != nil {
		f.Type = v.Text("type")
	}
	f.Native = f.Name
	if v := m.Get("native"); v != nil {
		f.Native = form(v, "native", nativeName)
	}
	f.Since = form(m.Get("since"), "since", versionText)
	m.Close()
	return f
}

func decodeFunction(e yaml.Entry, declared map[string]Struct) Function {
	f := Function{Name: form(e.Key, "a function", ownName)}
	m := e.Value.Map("function " + f.Name)
	f.Symbol = form(m.Require("symbol"), "symbol", symbolName)
	f.MacOS = form(m.Get("macos"), "macos", symbolName)
	f.Native = form(m.Get("native"), "native", nativeName)
	if f.Native == "" && !strings.HasPrefix(f.Symbol, "_Z") {
		f.Native = f.Symbol
	}
	f.Optional = m.Bool("optional")
	f.Returns, f.Params = m.RequireText("returns"), m.RequireText("params")
	f.Since = form(m.Get("since"), "since", versionText)
	if _, _, ok := measure(f.Returns+" (*)("+f.Params+")", declared, ""); !ok && f.Returns != "" && f.Params != "" {
		m.Node().Errorf("unknown-type", "", "function %s has an unknown type: %s (%s)", f.Name, f.Returns,
			f.Params)
	}
	m.Close()
	return f
}
