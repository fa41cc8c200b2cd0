package spec

import (
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// integers are the builtin integer types of fixed width.
var integers = []string{"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}

var builtins = func() map[string]bool {
	set := map[string]bool{"void": true, "char": true, "int": true}
	for _, name := range integers {
		set[name] = true
	}
	return set
}()

// IsBuiltin reports whether a name is a builtin type.
func IsBuiltin(name string) bool { return builtins[name] }

// maxTypeDepth is more than the nesting of any ABI, and limits the cost of a hostile spec.
const maxTypeDepth = 16

// readType reads the type of a field.
func readType(n *yaml.Node) Type {
	t := readNested(n, 0)
	rejectVoid(n, t, "a field cannot be void; a pointer to void can")
	return t
}

// readNested reads a type: a name, or a mapping with one of pointer, const and
// callback.
func readNested(n *yaml.Node, depth int) Type {
	switch {
	case depth > maxTypeDepth:
		n.Errorf("deep-type", "", "a type nested more than %d deep", maxTypeDepth)
		return Type{}
	case n.Kind == yaml.Scalar && builtins[n.Value]:
		return Type{Kind: Builtin, Name: n.Value, node: n}
	case n.Kind == yaml.Scalar:
		return Type{Kind: Named, Name: n.Value, node: n}
	case n.Kind != yaml.Mapping || len(n.Entries) != 1:
		n.Errorf("invalid-type", "", "a type must be a name, or have one of the keys pointer, const and callback")
		return Type{}
	}
	return readWrapped(n.Map("a type"), depth)
}

func readWrapped(m *yaml.Map, depth int) Type {
	defer m.Close()
	if elem := m.Get("pointer"); elem != nil {
		t := readNested(elem, depth+1)
		return Type{Kind: Pointer, Elem: &t}
	}
	if inner := m.Get("const"); inner != nil {
		t := readNested(inner, depth+1)
		t.Const = true
		return t
	}
	if n := m.Get("callback"); n != nil {
		cm := n.Map("a callback")
		f := readFunc(cm, depth+1)
		cm.Close()
		return Type{Kind: Function, Func: &f}
	}
	return Type{}
}

// readFunc reads the keys returns and params of a function.
func readFunc(m *yaml.Map, depth int) Func {
	f := Func{}
	if n := m.Require("returns"); n != nil {
		f.Returns = readNested(n, depth+1)
	}
	for _, n := range m.List("params") {
		pm := n.Map("a parameter")
		p := Param{}
		if n := pm.Require("name"); n != nil {
			p.Name = identifierOf(n)
		}
		if t := pm.Require("type"); t != nil {
			p.Type = readNested(t, depth+1)
			rejectVoid(t, p.Type, "a parameter cannot be void; a pointer to void can")
		}
		pm.Close()
		f.Params = append(f.Params, p)
	}
	return f
}

func rejectVoid(n *yaml.Node, t Type, text string) {
	if t.Kind == Builtin && t.Name == "void" {
		n.Errorf("invalid-type", "", "%s", text)
	}
}

// IsKeyword reports whether a word is a keyword of C or C++.
func IsKeyword(word string) bool { return keywords[word] }

// keywords are the keywords of C and C++.
var keywords = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range []string{
		"alignas", "alignof", "and", "asm", "auto", "bool", "break", "case", "catch", "char", "class", "const",
		"constexpr",
		"continue", "decltype", "default", "delete", "do", "double", "else", "enum", "explicit", "export", "extern",
		"false",
		"float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept",
		"not",
		"nullptr", "operator", "or", "private", "protected", "public", "register", "restrict", "return", "short",
		"signed",
		"sizeof", "static", "struct", "switch", "template", "this", "throw", "true", "try", "typedef", "typename",
		"union",
		"unsigned", "using", "virtual", "void", "volatile", "while", "xor",
	} {
		set[w] = true
	}
	return set
}()
