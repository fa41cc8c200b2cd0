package source

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// declare records the names of one declaration, given without its semicolon.
func (p *parser) declare(tokens []Token) {
	if len(tokens) < 2 || slices.Contains([]string{"template", "friend"}, tokens[0].Text) {
		return
	}
	if tokens[0].Text == "using" {
		p.using(tokens)
		return
	}
	kind := Variable
	if tokens[0].Text == "typedef" {
		kind, tokens = Typedef, tokens[1:]
	}
	b, tail := p.define(tokens)
	if b != nil && len(tail) == 0 {
		p.nameless(b, tokens[0])
		return
	}
	for i, d := range split(tail, ",") {
		p.declarator(kind, d, b, i > 0 || b != nil)
	}
}

// nameless records an enum without tag and typedef name, because its enumerators are names too.
func (p *parser) nameless(b *Body, at Token) {
	if b.Tag == "" && b.Keyword == "enum" {
		p.decls = append(p.decls, Decl{Kind: Enum, Pos: at.Pos, Body: b})
	}
}

// using records `using Name = type`.
func (p *parser) using(tokens []Token) {
	if len(tokens) < 3 || tokens[2].Text != "=" {
		return
	}
	b, _ := p.define(tokens[3:])
	p.decls = append(p.decls, Decl{Kind: Typedef, Name: tokens[1].Text, Pos: tokens[1].Pos, Body: b,
		Parameters: Callbacks(tokens[3:])[""]})
}

// define records the tag of a body, if there is one, and returns the tokens after it.
func (p *parser) define(tokens []Token) (*Body, []Token) {
	open := slices.IndexFunc(tokens, func(t Token) bool { return t.Text == "{" })
	if open < 0 || body(tokens[:open]) == "" {
		return nil, tokens
	}
	b, name := readBody(tokens[:open], within(tokens[open:]))
	if b.Tag != "" {
		kind := Record
		if b.Keyword == "enum" {
			kind = Enum
		}
		p.decls = append(p.decls, Decl{Kind: kind, Name: b.Tag, Pos: name.Pos, Body: b})
	}
	return b, tokens[open+group(tokens[open:]):]
}

// readBody returns the body and the token of its tag.
func readBody(head, inside []Token) (*Body, Token) {
	b := &Body{Keyword: body(head), Members: map[string]diag.Pos{}, Callbacks: Callbacks(inside)}
	i := len(head) - 1
	for head[i].Text != "struct" && head[i].Text != "union" && head[i].Text != "class" && head[i].Text != "enum" {
		i--
	}
	var name Token
	if rest := head[i+1:]; len(rest) > 0 {
		if rest[0].ident() {
			name = rest[0]
			rest = rest[1:]
		}
		if b.Keyword == "enum" && len(rest) > 1 && rest[0].Text == ":" {
			b.Underlying = Join(rest[1:])
		}
	}
	b.Tag = name.Text
	if b.Keyword == "enum" {
		for _, e := range split(inside, ",") {
			b.Members[e[0].Text] = e[0].Pos
		}
	}
	return b, name
}

// declarator records one name. Without a type before it (a second declarator, or one after a body),
// a single name is the declared name.
func (p *parser) declarator(kind Kind, tokens []Token, b *Body, lone bool) {
	if name, ok := pointerName(tokens); ok {
		p.decls = append(p.decls,
			Decl{Kind: kind, Name: name.Text, Pos: name.Pos, Parameters: Callbacks(tokens)[name.Text]})
		return
	}
	tokens = until(tokens, "=")
	if open := until(tokens, "("); len(open) > 0 && len(open) < len(tokens) {
		if kind == Variable {
			kind = Function
		}
		tokens, lone = open, true
	}
	tokens = until(until(tokens, "["), ":")
	if len(tokens) == 0 || len(tokens) < 2 && !lone || forward(tokens) {
		return
	}
	if name := tokens[len(tokens)-1]; name.ident() {
		p.decls = append(p.decls, Decl{Kind: kind, Name: name.Text, Pos: name.Pos, Body: b})
	}
}

// until returns the tokens before the first token with that text.
func until(tokens []Token, text string) []Token {
	if i := slices.IndexFunc(tokens, func(t Token) bool { return t.Text == text }); i >= 0 {
		return tokens[:i]
	}
	return tokens
}

// forward reports whether the tokens are only a forward declaration: `struct Name`.
func forward(tokens []Token) bool {
	return len(tokens) == 2 && slices.Contains([]string{"struct", "union", "class", "enum"}, tokens[0].Text)
}

// Join joins tokens with single spaces.
func Join(tokens []Token) string {
	var out string
	for i, t := range tokens {
		if i > 0 {
			out += " "
		}
		out += t.Text
	}
	return out
}
