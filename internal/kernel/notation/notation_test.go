package notation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each line of the design, and its normalized form.
func TestLines(t *testing.T) {
	for text, want := range map[string]string{
		"T[..., n]":                        "",
		"T[n]? = None":                     "",
		"float = 1e-6":                     "float = 1e-06",
		"float = .5":                       "float = 0.5",
		"float = -2.":                      "float = -2.0",
		"int = -9223372036854775808":       "",
		"uint64 = 9223372036854775808":     "",
		"uint64 = 18446744073709551615":    "",
		"float32[m, n] strided inout":      "",
		"float32[]":                        "",
		"float16|bfloat16[n,m]":            "float16|bfloat16[n, m]",
		"any[_, 3, ...batch, n]":           "",
		"list[int]":                        "",
		"list[float,2] = None":             "list[float, 2] = None",
		"str = 'it\\'s'":                   `str = "it's"`,
		`str = "a\tb\\\n"`:                 "",
		"bool = True":                      "",
		"T[m // 2]":                        "",
		"T[m//2+1, n*2-k%3]":               "T[m // 2 + 1, n * 2 - k % 3]",
		"T[min(n, 8), max(1, m, k)]":       "",
		"T[x.size, x.shape[0], sizes[1]]":  "",
		"T[x.shape[-1]]":                   "",
		"T[-(-n // 8)]":                    "T[-(-n // 8)]",
		"T[n] aligned 64 cpu":              "",
		"T[n] out aliases x":               "",
		"float32[...] saved":               "",
		"T[(n)]":                           "T[n]",
		"T[a - (b - c) - d, --n, (a+b)*c]": "T[a - (b - c) - d, --n, (a + b) * c]",
		"\tT[ n ]?  strided":               "T[n]? strided",
		"Mode = sum":                       "",
	} {
		line, err := ParseLine(text)
		require.Nil(t, err, text)
		if want == "" {
			want = text
		}
		assert.Equal(t, want, line.String())
	}
}

func TestParseLine(t *testing.T) {
	line, err := ParseLine("float16|T[..., n + 1]? aligned 16 = None")
	require.Nil(t, err)
	assert.Equal(t, Line{
		Typed: true, Optional: true, OptionalAt: 21,
		Modifiers: []Modifier{{Name: Name{"aligned", 23}, Number: 16}}, Default: &Value{At: 36},
		Type: Type{Kind: Tensor, Elements: []Name{{"float16", 0}, {"T", 8}}, Extents: []Extent{
			{Form: Ellipsis, At: 10},
			{At: 15, Size: &Expr{Op: Add, At: 17, Operands: []*Expr{
				{Op: Symbol, Name: "n", At: 15}, {Op: Literal, Number: 1, At: 19},
			}}},
		}},
	}, line)
}

func TestConditions(t *testing.T) {
	for text, want := range map[string]string{
		"n % 8 == 0":                          "",
		"n<=65536":                            "n <= 65536",
		"n in 64|128":                         "",
		"x.shape[0] == m and n > 0 or k != 1": "",
		"mode in sum|mean":                    "",
		"-n // 2 >= -4":                       "",
		"ornate < android":                    "",
	} {
		cond, err := ParseCond(text)
		require.Nil(t, err, text)
		if want == "" {
			want = text
		}
		assert.Equal(t, want, cond.String())
	}
	cond, err := ParseCond("a == 1 and b == 2 or c == 3")
	require.Nil(t, err)
	assert.Equal(t, "or", cond.Op)
	assert.Equal(t, "and", cond.Conds[0].Op)
	assert.Equal(t, "==", cond.Conds[1].Op)
}

// mistake is a text, the position of its error (the first ^ below it), and the message.
type mistake struct{ text, at, says, hint string }

func assertMistakes[T any](t *testing.T, read func(string) (T, *Error), all []mistake) {
	t.Helper()
	for _, m := range all {
		_, err := read(m.text)
		require.NotNil(t, err, m.text)
		assert.Equal(t, strings.Index(m.at, "^"), err.At, "%s: %s", m.text, err)
		assert.Contains(t, err.Text, m.says, m.text)
		assert.Contains(t, err.Hint, m.hint, m.text)
	}
}

func TestTypesThatAreNone(t *testing.T) {
	assertMistakes(t, ParseLine, []mistake{
		{"", "^", "expected a type, got the end", "begin with a dtype"},
		{"[n]", "^", `expected a type, got "["`, "begin with a dtype"},
		{"3", "^", `expected a type, got "3"`, ""},
		{"float16|", "        ^", "expected a type", ""},
		{"float16|int8", "            ^", "a scalar has one type", "write []"},
		{"T[n] x", "     ^", `"x" is not a modifier`, ""},
		{"T[n]] ", "    ^", "expected the end of the line", ""},
		{"T n", "  ^", "not a modifier", ""},
		{"list", "    ^", "names the type of its items", "write list[int]"},
		{"list[]", "     ^", "expected a type", ""},
		{"list[int, 0]", "          ^", "0 items", ""},
		{"list[int, n]", "          ^", "expected a whole number", ""},
		{"list[int", "        ^", `expected "]"`, ""},
		{"list[int, 99999999999999999999]", "          ^", "63 bits", ""},
	})
}

func TestExtentsThatAreNone(t *testing.T) {
	assertMistakes(t, ParseLine, []mistake{
		{"T[n", " ^", "this [ is not closed", "write ]"},
		{"T[n m]", "    ^", `expected "," between two extents, got "m"`, ""},
		{"T[n,]", "    ^", "expected a number or a name", ""},
		{"T[..., ...]", "       ^", "at most one ...", ""},
		{"T[1.5]", "  ^", "whole numbers", ""},
		{"T[n/2]", "   ^", "divides without rounding", "write //"},
		{"T[n +]", "     ^", "expected a number or a name", ""},
		{"T[(n]", "    ^", `expected ")"`, ""},
		{"T[min(n)]", "  ^", "two operands", ""},
		{"T[min n]", "      ^", `expected "("`, ""},
		{"T[x.dtype]", "    ^", ".size and .shape[i]", ""},
		{"T[x.shap[0]]", "    ^", ".size and .shape[i]", `did you mean "shape"?`},
		{"T[x.shape]", "         ^", `expected "[" after shape`, ""},
		{"T[sizes[0]", " ^", "is not closed", ""},
		{"T[9223372036854775808]", "  ^", "63 bits", ""},
		{"T[" + strings.Repeat("(", 99) + "n]", strings.Repeat(" ", 66) + "^", "64 deep", ""},
	})
}

// Each extent and each condition has its own limit.
func TestTooManyOperators(t *testing.T) {
	ones, limit := strings.Repeat(" + 1", MaxOperators), "more than 32 operators"
	for _, text := range []string{"T[n" + ones + ", n" + ones + "]", "T[" + strings.Repeat("-", 31) + "n + 1]"} {
		_, err := ParseLine(text)
		assert.Nil(t, err, text)
	}
	_, err := ParseCond("n" + ones[len(" + 1 + 1"):] + " > 0 and n > 1 or n > 2")
	assert.Nil(t, err)
	for text, at := range map[string]int{
		"T[n" + ones + " + n]":                                   132,
		"T[n" + ones + " * n]":                                   132,
		"T[n" + ones + ", n" + ones + " - n]":                    263,
		"T[max(n" + strings.Repeat(", 1", 33) + ")]":             105,
		"T[n" + ones[4:] + " + -n]":                              130,
		"T[sizes[n" + ones + "] + n]":                            139,
		"T[n" + ones + " + n + " + strings.Repeat("(", 99) + "]": 132,
	} {
		_, err := ParseLine(text)
		require.NotNil(t, err, text)
		assert.Equal(t, Error{At: at, Text: limit + " in an extent or a condition", TooMany: true,
			Hint: "compute a part before the call, and pass it as an argument, such as size: int"}, *err, text)
	}
	for text, hint := range map[string]string{" > -n": "compute", " > 0 or n > 1": "compute",
		" > 0 and n > 1": "several conditions"} {
		_, err := ParseCond("n" + ones + text)
		require.NotNil(t, err, text)
		assert.True(t, err.TooMany, text)
		assert.Contains(t, err.Hint, hint, text)
	}
}

func TestWordsThatAreNone(t *testing.T) {
	assertMistakes(t, ParseLine, []mistake{
		{"T[n] stridden", "     ^", "not a modifier", `did you mean "strided"?`},
		{"T[n] aligned", "            ^", "expected a whole number", ""},
		{"T[n] aligned 24", "             ^", "power of two", "write 16"},
		{"T[n] aligned 0", "             ^", "power of two", ""},
		{"T[n] aliases", "            ^", "expected the argument", "write the name"},
		{"T[n] aliases 3", "             ^", "expected the argument", ""},
		{"T[n] strided?", "            ^", "before all modifiers", "T[...]?"},
		{"T[n] ?", "     ^", "a space", "T[n]?"},
		{"T [n]", "  ^", "a space", "T[...]"},
		{"T[n] mutable", "     ^", "not a modifier", "write inout"},
		{"T[n] Mutable", "     ^", "not a modifier", "write inout"},
		{"T[n] transposed", "     ^", "not a modifier", "write strided"},
		{"T[n] fortran", "     ^", "not a modifier", "write column_major"},
		{"T[n] optional", "     ^", "not a modifier", "write ? directly after the type"},
		{"T[n] nullable", "     ^", "not a modifier", "write ? directly after the type"},
		{"T[n] const", "     ^", "not a modifier", "read-only by default"},
		{"T[n] contiguous", "     ^", "not a modifier", "C-contiguous by default"},
		{"T[n] strided, inout", "            ^", "expected the end of the line", "separate modifiers with spaces"},
		{"T[n], mutable", "    ^", "expected the end of the line", "separate modifiers with spaces"},
		{"T[n] strided, x", "            ^", "expected the end of the line", "remove , x"},
		{"T[n] strided,", "            ^", "expected the end of the line", "remove ,"},
		{"T[n] strided, §", "              ^", "", ""},
		{"T[n]??", "     ^", "at most one ?", ""},
	})
}

func TestDefaultsThatAreNone(t *testing.T) {
	assertMistakes(t, ParseLine, []mistake{
		{"int =", "     ^", "expected a value", ""},
		{"int = (3)", "      ^", "expected a value", ""},
		{"list[int] = [1, 2]", "            ^", "no default except None", "write = None"},
		{"bool = true", "       ^", "spelled as in Python", "write True"},
		{"T[n]? = null", "        ^", "spelled as in Python", "write None"},
		{"int = 010", "      ^", "begins with a zero", "write 10"},
		{"int = -x", "       ^", "expected a number after -", ""},
		{"int = 18446744073709551616", "      ^", "64 bits", "18446744073709551615, or a float"},
		{"int = -9223372036854775809", "       ^", "64 bits", "from -9223372036854775808"},
		{"float = 1e999", "        ^", "too large", ""},
		{"str = 'a", "      ^", "is not closed", "quotation mark"},
		{`str = 'a\q'`, "        ^", "is not an escape sequence", "write"},
		{"str = 'a\x00'", "        ^", "NUL", ""},
		{"str = 'a\rb'", "        ^", "non-printable", ""},
		{"str = '\u202eb'", "       ^", "non-printable", ""},
		{"str = red # comment", "          ^", "begins a comment", "in quotes"},
		{"int = 3 4", "        ^", "expected the end of the line", ""},
	})
}

func TestConditionsThatAreNone(t *testing.T) {
	assertMistakes(t, ParseCond, []mistake{
		{"n", " ^", "expected a comparison", ""},
		{"n = 3", "  ^", "is not a comparison", "write =="},
		{"0 < n < 3", "      ^", "not chained", "with and"},
		{"n in (64, 128)", "     ^", "without brackets", "write 64|128"},
		{"((n > 0))", "    ^", "after this expression", "without brackets"},
		{"n == 1 or (m in 1|2)", "             ^", "after this expression", "without brackets"},
		{"(n n) == 1", "   ^", "after this expression", "(m + n) // 2"},
		{"n in", "    ^", "expected a value", ""},
		{"n == 1 and", "          ^", "expected a number or a name", ""},
		{"n == 1 or or", "          ^", "expected a number or a name", ""},
		{"n == 1.5", "     ^", "whole numbers", ""},
		{"n == 1, m == 2", "      ^", "expected the end of the line", ""},
		{"§ == 1", "^", "unexpected", ""},
	})
}

// Any text results in an error in it, or in a line whose formatted text parses to the same line.
func FuzzParseLine(f *testing.F) {
	f.Add("T[..., n // 2 + x.shape[0]]? aligned 64 = None")
	f.Add(`list[float, 2] = "a\n"`)
	f.Add("float = -1e-5")
	f.Fuzz(func(t *testing.T, text string) {
		line, err := ParseLine(text)
		if err != nil {
			assert.True(t, 0 <= err.At && err.At <= len(text), "%q: %v", text, err)
			return
		}
		again, err := ParseLine(line.String())
		require.Nil(t, err, line.String())
		assert.Equal(t, line.String(), again.String())
	})
}

// The same for conditions.
func FuzzParseCond(f *testing.F) {
	f.Add("n % 8 == 0 and m in 64|128 or -x.size < min(3, k[0])")
	f.Fuzz(func(t *testing.T, text string) {
		cond, err := ParseCond(text)
		if err != nil {
			assert.True(t, 0 <= err.At && err.At <= len(text), "%q: %v", text, err)
			return
		}
		again, err := ParseCond(cond.String())
		require.Nil(t, err, cond.String())
		assert.Equal(t, cond.String(), again.String())
	})
}
