package source

import "slices"

// Callbacks finds the function pointers among tokens, at any depth except in parameters, and
// returns the parameters of each by its name.
func Callbacks(tokens []Token) map[string][]Param {
	out := map[string][]Param{}
	for i := 0; i < len(tokens); i++ {
		name, n := pointerAt(tokens[i:])
		if n == 0 || i+n >= len(tokens) || tokens[i+n].Text != "(" {
			continue
		}
		out[name.Text] = params(within(tokens[i+n:]))
		i += n + group(tokens[i+n:]) - 1
	}
	return out
}

// pointerName returns the name inside the first `(*name)`.
func pointerName(tokens []Token) (Token, bool) {
	for i := range tokens {
		if name, n := pointerAt(tokens[i:]); n > 0 && name.Text != "" {
			return name, true
		}
	}
	return Token{}, false
}

// pointerAt reads `(*name)`, with qualifiers and calling conventions before the name, and returns
// its length. An abstract `(*)` has no name. For other tokens, the length is 0.
func pointerAt(tokens []Token) (name Token, n int) {
	if len(tokens) < 3 || tokens[0].Text != "(" {
		return name, 0
	}
	inside := within(tokens)
	star := slices.IndexFunc(inside, func(t Token) bool { return t.Text == "*" })
	if star < 0 || star > 1 || star == 1 && !inside[0].ident() {
		return name, 0
	}
	for _, t := range inside[star+1:] {
		if !t.ident() {
			return Token{}, 0
		}
		if !qualifier[t.Text] {
			name = t
		}
	}
	return name, group(tokens)
}

func params(tokens []Token) []Param {
	out := []Param{}
	for _, p := range split(tokens, ",") {
		if len(p) == 1 && p[0].Text == "void" {
			continue
		}
		out = append(out, param(p))
	}
	return out
}

func param(tokens []Token) Param {
	if name, ok := pointerName(tokens); ok {
		return Param{Name: name.Text, Params: Callbacks(tokens)[name.Text]}
	}
	tokens = until(until(tokens, "="), "[")
	if len(tokens) < 2 {
		return Param{}
	}
	last, before := tokens[len(tokens)-1], tokens[len(tokens)-2]
	if !last.ident() || typeWord[last.Text] || qualifier[last.Text] || needsName[before.Text] {
		return Param{}
	}
	if allQualifiers(tokens[:len(tokens)-1]) {
		return Param{}
	}
	return Param{Name: last.Text}
}

func allQualifiers(tokens []Token) bool {
	return !slices.ContainsFunc(tokens, func(t Token) bool { return !qualifier[t.Text] })
}

// split splits at a separator outside of brackets, and omits empty parts.
func split(tokens []Token, separator string) [][]Token {
	var out [][]Token
	start := 0
	for i := 0; i <= len(tokens); i++ {
		if i < len(tokens) && (tokens[i].Text == "(" || tokens[i].Text == "[" || tokens[i].Text == "{") {
			i += group(tokens[i:]) - 1
			continue
		}
		if i == len(tokens) || tokens[i].Text == separator {
			if i > start {
				out = append(out, tokens[start:i])
			}
			start = i + 1
		}
	}
	return out
}

var (
	qualifier = set("const", "volatile", "restrict", "__restrict", "__restrict__", "_Atomic",
		"__cdecl", "__stdcall", "__fastcall", "__vectorcall", "__ptr32", "__ptr64")
	typeWord  = set("void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "bool", "_Bool")
	needsName = set("struct", "union", "enum", "class", "::")
)

func set(words ...string) map[string]bool {
	out := map[string]bool{}
	for _, w := range words {
		out[w] = true
	}
	return out
}
