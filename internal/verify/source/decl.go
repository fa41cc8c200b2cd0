package source

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// Kind is the kind of a declaration.
type Kind int

// The kinds of declaration.
const (
	Typedef  Kind = iota // a typedef name or an alias of C++
	Record               // the tag of a struct, union or class with a body
	Enum                 // the tag of an enum with a body
	Function             // a function, declared or defined
	Variable
	Namespace
)

// Decl is one name that a declaration at file scope introduces. A typedef with a body and a tag
// introduces two.
type Decl struct {
	Kind       Kind
	Name       string
	Pos        diag.Pos
	Body       *Body   // what it defines, shared by the tag and the typedef names
	Parameters []Param // of a function-pointer typedef
}

// Body is the body of a struct, union, class or enum.
type Body struct {
	Keyword    string              // struct, union, class or enum
	Tag        string              // "" when it has none
	Underlying string              // fixed underlying type of an enum as written, or ""
	Members    map[string]diag.Pos // enumerators
	Callbacks  map[string][]Param  // parameters of function-pointer members, by member
}

// Param is a parameter of a function pointer.
type Param struct {
	Name   string  // "" when it has none
	Params []Param // names of its own parameters, if it is a function pointer
}

// Decls returns the declarations of the text at file scope.
func (t *Text) Decls() []Decl {
	p := &parser{tokens: strip(t.Tokens)}
	for p.at < len(p.tokens) {
		p.declaration()
	}
	return p.decls
}

type parser struct {
	tokens []Token
	at     int
	decls  []Decl
}

// declaration reads up to the next semicolon or the end of a function's body. It skips the braces
// of linkage specifications, whose contents are at file scope. The contents of namespaces are not.
func (p *parser) declaration() {
	start := p.at
	for ; p.at < len(p.tokens); p.at++ {
		switch text := p.tokens[p.at].Text; {
		case text == "}" || text == "{" && linkage(p.tokens[start:p.at]):
			p.at++
			return
		case text == ";":
			p.declare(p.tokens[start:p.at])
			p.at++
			return
		case text == "{":
			head := p.tokens[start:p.at]
			p.at += group(p.tokens[p.at:])
			if p.scope(head) {
				return
			}
			p.at--
		}
	}
}

// linkage reports whether the tokens before a brace are `extern "C"`.
func linkage(before []Token) bool { return len(before) == 2 && before[0].Text == "extern" }

// scope records what the brace after those tokens ends by itself, without a
// semicolon: a namespace or a function.
func (p *parser) scope(head []Token) bool {
	if i := slices.IndexFunc(head, func(t Token) bool { return t.Text == "namespace" }); i >= 0 {
		name := head[len(head)-1]
		p.decls = append(p.decls, Decl{Kind: Namespace, Name: name.Text, Pos: name.Pos})
		return true
	}
	if len(head) > 0 && isFunction(head) {
		p.declare(head)
		return true
	}
	return false
}

// isFunction reports whether a brace after those tokens is the body of a function.
func isFunction(before []Token) bool {
	if before[0].Text == "typedef" || body(before) != "" {
		return false
	}
	return slices.ContainsFunc(before, func(t Token) bool { return t.Text == "(" }) &&
		!slices.ContainsFunc(before, func(t Token) bool { return t.Text == "=" })
}

// body returns the keyword of the type whose body a brace after those tokens begins, or "".
func body(before []Token) string {
	for i, t := range slices.Backward(before) {
		switch t.Text {
		case "struct", "union", "class", "enum":
			if i > 0 && before[i-1].Text == "enum" {
				return "enum"
			}
			return t.Text
		case "(", ")", "=", "*":
			return ""
		}
	}
	return ""
}

// group returns the number of tokens of the bracketed group that begins there.
func group(tokens []Token) int {
	depth := 0
	for i, t := range tokens {
		switch t.Text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(tokens)
}

// within returns the tokens inside the bracketed group that begins there.
func within(tokens []Token) []Token { return tokens[1:max(1, group(tokens)-1)] }

// strip removes attributes, which may occur anywhere and declare nothing.
func strip(tokens []Token) []Token {
	var out []Token
	for i := 0; i < len(tokens); i++ {
		switch t := tokens[i]; {
		case t.Text == "__extension__" || t.Text == "__restrict":
		case takesGroup[t.Text] && i+1 < len(tokens) && tokens[i+1].Text == "(":
			i += group(tokens[i+1:])
		case t.Text == "[" && i+1 < len(tokens) && tokens[i+1].Text == "[":
			i += group(tokens[i:]) - 1
		default:
			out = append(out, t)
		}
	}
	return out
}

var takesGroup = map[string]bool{
	"__attribute__": true, "__attribute": true, "__declspec": true, "alignas": true, "_Alignas": true,
	"_Static_assert": true, "static_assert": true, "__asm__": true, "asm": true, "__asm": true, "noexcept": true,
	"__pragma": true, "_Pragma": true,
}
