package source

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

func TestPositionsAreThoseOfTheLineMarkers(t *testing.T) {
	t.Parallel()
	text := Read("# 7 \"dir/a \\\"b\\\".h\" 1\nint  x;\n#define N 1\n\ny z\n#line 3 \"./c.h\"\nq\n")
	got := map[string]diag.Pos{}
	for _, token := range text.Tokens {
		got[token.Text] = token.Pos
	}
	assert.Equal(t, diag.Pos{File: `dir/a "b".h`, Line: 7, Col: 6}, got["x"])
	assert.Equal(t, diag.Pos{File: `dir/a "b".h`, Line: 10, Col: 3}, got["z"])
	assert.Equal(t, diag.Pos{File: "c.h", Line: 3, Col: 1}, got["q"])
	n, ok := text.Macro("N")
	assert.True(t, ok)
	assert.Equal(t, diag.Pos{File: `dir/a "b".h`, Line: 8, Col: 1}, n.Pos)
}

func TestMacros(t *testing.T) {
	t.Parallel()
	text := Read("#define A\n#define B   (1UL  << 0UL) \n#define F(x) (x)\n#define C 1\n#undef C\n#define D " +
		"1\n#undef D\n#define D 2\n")
	for name, want := range map[string]string{"A": "", "B": "(1UL << 0UL)", "D": "2"} {
		m, ok := text.Macro(name)
		assert.True(t, ok, name)
		assert.False(t, m.Function, name)
		assert.Equal(t, want, m.Body)
	}
	f, ok := text.Macro("F")
	assert.True(t, ok)
	assert.True(t, f.Function)
	_, ok = text.Macro("C")
	assert.False(t, ok, "C is undefined at the end")
}

func TestGuard(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ header, want string }{
		{"#ifndef A_H\n#define A_H\nint x;\n#endif\n", "A_H"},
		{"/* #ifndef NO\n#define NO */\r\n#pragma once\r\n\r\n# ifndef A_H // why\r\n\r\n# define A_H\r\n", "A_H"},
		{"#if !defined(A_H)\n#define A_H\n", "A_H"},
		{"# if ! defined A_H\n#define A_H\n", "A_H"},
		{"#if !defined(A_H) && X\n#define A_H\n", ""},
		{"#if !definedA_H\n#define A_H\n", ""},
		{"#ifndef A_H\n#define A_H 1\n", ""},
		{"#ifndef A_H\n#define B_H\n", ""},
		{"#ifndef A_H\nint x;\n#define A_H\n", ""},
		{"#pragma once\n", ""},
		{"", ""},
	} {
		assert.Equal(t, c.want, Guard(c.header), c.header)
	}
}

// declared formats declarations as "kind name tag underlying".
func declared(text string) []string {
	words := map[Kind]string{Typedef: "typedef", Record: "record", Enum: "enum", Function: "function",
		Variable: "variable", Namespace: "namespace"}
	var out []string
	for _, d := range Read(text).Decls() {
		line := words[d.Kind] + " " + d.Name
		if d.Body != nil {
			line += " =" + d.Body.Keyword + " " + d.Body.Tag + ":" + d.Body.Underlying
		}
		out = append(out, strings.TrimSpace(line))
	}
	return out
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"typedef struct { int a; } T;":        {"typedef T =struct :"},
		"typedef struct S { int a; } S, *P;":  {"record S =struct S:", "typedef S =struct S:", "typedef P =struct S:"},
		"struct S { int a; };":                {"record S =struct S:"},
		"struct S;":                           nil,
		"typedef struct S S;":                 {"typedef S"},
		"struct S { int a; } v;":              {"record S =struct S:", "variable v =struct S:"},
		"union U { int a; };":                 {"record U =union U:"},
		"typedef enum : int32_t { A, B } E;":  {"typedef E =enum :int32_t"},
		"enum class E : unsigned char { A };": {"enum E =enum E:unsigned char"},
		"enum { A = 1, B };":                  {"enum  =enum :"},
		"typedef int (*F)(int a);":            {"typedef F"},
		"typedef int (__stdcall *F)(int a);":  {"typedef F"},
		"typedef int F(int a);":               {"typedef F"},
		"typedef int A[4], B;":                {"typedef A", "typedef B"},
		"using T = struct { int a; };":        {"typedef T =struct :"},
		"using std::x;":                       nil,
		"int f(void); static inline int g(int a) { if (a) { return 1; } return 2; }": {"function f", "function g"},
		"struct S f(struct S s) { return s; } int after;":                            {"function f", "variable after"},
		"struct S *f(void);": {"function f"},
		"extern int v; static const int w = 3, x = f(1, 2);": {"variable v", "variable w", "variable x"},
		"int (*p)(int);":                                                              {"variable p"},
		"struct S s = { 1, { 2 } }; int after;":                                       {"variable s", "variable after"},
		`extern "C" { typedef int A; } extern "C" int f();`:                           {"typedef A", "function f"},
		"namespace a { typedef int A; } inline namespace b { int f() { return 1; } }": {"namespace a", "namespace b"},
		"struct __attribute__((packed)) S { int a; } __attribute__((aligned(8)));":    {"record S =struct S:"},
		"struct __declspec(align(8)) S { [[maybe_unused]] int a; };":                  {"record S =struct S:"},
		"struct alignas(8) S : B { int a; };":                                         {"record S =struct S:"},
		"static_assert(sizeof(int) == 4, \"{\"); int after;":                          {"variable after"},
		"template <typename T> struct X { T t; }; int after;":                         {"variable after"},
		"typedef char c = '{'; int after;":                                            {"typedef c", "variable after"},
	} {
		assert.Equal(t, want, declared(text), text)
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	for params, want := range map[string][]Param{
		"":                             {},
		"void":                         {},
		"int":                          {{}},
		"int a":                        {{Name: "a"}},
		"unsigned int":                 {{}},
		"const T *":                    {{}},
		"const T":                      {{}},
		"const T *a, struct S s":       {{Name: "a"}, {Name: "s"}},
		"struct S, enum E e":           {{}, {Name: "e"}},
		"T **out, int a[3]":            {{Name: "out"}, {Name: "a"}},
		"T *const a, int b = 1":        {{Name: "a"}, {Name: "b"}},
		"std::size_t, ns::T t":         {{}, {Name: "t"}},
		"void (*f)(int x, char), ...":  {{Name: "f", Params: []Param{{Name: "x"}, {}}}, {}},
		"void (*)(int x)":              {{}},
		"T *(*f)(void), void (g)(int)": {{Name: "f", Params: []Param{}}, {}},
	} {
		got := Callbacks(Read("typedef int (*F)(" + params + ");").Tokens)
		assert.Equal(t, map[string][]Param{"F": want}, got, params)
	}
}

func TestEnumeratorsHavePositions(t *testing.T) {
	t.Parallel()
	decls := Read("# 1 \"e.h\"\nenum E {\n  A = f(1, 2),\n  B [[deprecated]] = 3\n};\n").Decls()
	assert.Equal(t, map[string]diag.Pos{
		"A": {File: "e.h", Line: 2, Col: 3},
		"B": {File: "e.h", Line: 3, Col: 3},
	}, decls[0].Body.Members)
}

// Reading a text that is cut off anywhere does not panic.
func TestTruncatedTextIsRead(t *testing.T) {
	t.Parallel()
	const text = `# 1 "a.h"
extern "C" { typedef struct __attribute__((packed)) S { void (*f)(int (*g)(int a), char *b); enum : int { A = 1 } e; } S;
using X = enum class E : int { B }; namespace n { int v[2] = { 1, 2 }; } template <int N> int f() { return N; }
#define M(x) x
int (*p)(void (*)(int)) = 0; static_assert(1, "a\"b"); [[a(1)]] int y; }`
	for i := range text {
		assert.NotPanics(t, func() { Read(text[:i]).Decls() }, text[:i])
		assert.NotPanics(t, func() { Read(text[i:]).Decls() }, text[i:])
	}
}
