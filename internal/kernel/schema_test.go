package kernel

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseReadsEveryForm(t *testing.T) {
	s, fault := Parse(" ( Tensor x,Tensor(a!) out, Tensor? w, Tensor(b!) more, int n, float f, bool on " +
		")->(Tensor, Tensor y) ")
	require.Nil(t, fault)
	want := Schema{
		Arguments: []Argument{
			{Name: "x"}, {Name: "out", Alias: "a"}, {Name: "w", Optional: true}, {Name: "more", Alias: "b"},
			{Name: "n", Kind: Int}, {Name: "f", Kind: Float}, {Name: "on", Kind: Bool},
		},
		Results: []Result{{}, {Name: "y"}},
	}
	assert.Equal(t, want, s)
	assert.Equal(t,
		"(Tensor x, Tensor(a!) out, Tensor? w, Tensor(b!) more, int n, float f, bool on) -> (Tensor, Tensor y)",
		s.String())
	assert.True(t, s.Mutates())
	assert.Len(t, s.Tensors(), 4)
	assert.True(t, s.Argument("w").Optional)
	assert.Nil(t, s.Argument("y"))
}

// What String gives, Parse reads as the same.
func TestParseTakesWhatStringGives(t *testing.T) {
	for _, text := range []string{"() -> ()", "() -> Tensor", "(int n) -> Tensor y", "(Tensor(a!) x) -> ()",
		"(Tensor? x, bool b) -> (Tensor, Tensor)"} {
		s, fault := Parse(text)
		require.Nil(t, fault, text)
		assert.Equal(t, text, s.String())
	}
	assert.False(t, Schema{}.Mutates())
}

func TestFaultsSayWhereAndWhat(t *testing.T) {
	many := strings.Repeat("int a, ", MaxArguments)
	for text, want := range map[string]Fault{
		"":         {0, `expected "(", not ""`, form},
		"Tensor x": {0, `expected "(", not "Tensor x"`, form},
		"(Tensro x) -> ()": {1,
			`expected a type, not "Tensro x) -> ()": there are Tensor, Tensor(a!), Tensor?, int, float and bool`,
			`did you mean "Tensor"?`},
		"(Scalar x) -> ()": {1,
			`expected a type, not "Scalar x) -> ()": there are Tensor, Tensor(a!), Tensor?, int, float and bool`,
			""},
		"(Tensor) -> ()": {7, `expected the name of an argument, not ") -> ()"`, form},
		"(Tensor x":      {9, `expected ",", not ""`, form},
		"(Tensor x, ) -> ()": {11,
			`expected a type, not ") -> ()": there are Tensor, Tensor(a!), Tensor?, int, float and bool`, ""},
		"(Tensor x, int x) -> ()": {15, `the name "x" again`, ""},
		"(int(a!) x) -> ()":       {1, "only a tensor has an alias annotation", ""},
		"(int? x) -> ()":          {1, "only a tensor that is not written to can be optional", ""},
		"(Tensor(a!)? x) -> ()":   {1, "only a tensor that is not written to can be optional", ""},
		"(Tensor(ab!) x) -> ()":   {8, `expected a letter from a to z, not "ab"`, "as in Tensor(a!)"},
		"(Tensor(a) x) -> ()":     {9, `expected "!", not ") x) -> ()"`, form},
		"(Tensor(a!) x, Tensor(a!) y)->()": {22, "the letter a again",
			"give each tensor that is written to a letter of its own"},
		"(int for) -> ()":    {5, `"for" means something else in C, C++ or Python`, ""},
		"(int lambda) -> ()": {5, `"lambda" means something else in C, C++ or Python`, ""},
		"(int _x) -> ()": {5,
			`"_x" is reserved: a name has no underscore at its ends, and no two in a row`, ""},
		"(int dlpackgen_x) -> ()": {5,
			`"dlpackgen_x" is reserved: generated code has the names that begin with dlpackgen_`, ""},
		"(int x)":               {7, `expected "->", not ""`, form},
		"(int x) -> int":        {11, `expected Tensor as a result, not "int"`, form},
		"(int x) -> Tensor(a!)": {17, `expected the end, not "(a!)"`, ""},
		"(int x) -> (Tensor x)": {19, `the name "x" again`, ""},
		"(int x) -> () x":       {14, `expected the end, not "x"`, ""},
		"() -> (" + strings.Repeat("Tensor, ", MaxResults) + "Tensor)": {7 + 8*MaxResults + 6, "more than 8 results",
			""},
		strings.Repeat(" ", MaxSchema+1): {0,
			"the schema has 4097 bytes, more than 4096", ""},
		"(Tensor x) -> ()\n": {16, "expected the end, not \"\\n\"", ""},
	} {
		_, fault := Parse(text)
		require.NotNil(t, fault, text)
		assert.Equal(t, want, *fault, text)
	}
	_, fault := Parse("(" + strings.ReplaceAll(many, "a, ", "") + "x) -> ()")
	assert.NotNil(t, fault)
}

func TestArgumentsAreLimited(t *testing.T) {
	var names []string
	for i := range MaxArguments + 1 {
		names = append(names, "int a"+string(rune('a'+i/26))+string(rune('a'+i%26)))
	}
	_, fault := Parse("(" + strings.Join(names[:MaxArguments], ", ") + ") -> ()")
	assert.Nil(t, fault)
	_, fault = Parse("(" + strings.Join(names, ", ") + ") -> ()")
	require.NotNil(t, fault)
	assert.Equal(t, "more than 32 arguments", fault.Text)
}

func TestNames(t *testing.T) {
	for _, good := range []string{"x", "scale_add", "X1", "a0_b"} {
		assert.Empty(t, CheckName(good), good)
	}
	for _, bad := range []string{"", "1x", "a-b", "a.b", "é", "x_", "a__b", "class", "import",
		strings.Repeat("a", 101)} {
		assert.NotEmpty(t, CheckName(bad), bad)
	}
}

func TestSymbols(t *testing.T) {
	for _, good := range []string{"square", "N", "aten_square", "dlpack_main"} {
		assert.Empty(t, CheckSymbol(good), good)
	}
	for _, bad := range []string{"NULL", "INT64_MAX", "TORCH_CHECK", "std", "main", "at"} {
		assert.NotEmpty(t, CheckSymbol(bad), bad)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("(Tensor x, Tensor(a!) out, Tensor? w, int n, float f, bool on) -> (Tensor, Tensor y)")
	f.Add("(Tensor(a!)? x) -> Tensor z")
	f.Fuzz(func(t *testing.T, text string) {
		s, fault := Parse(text)
		if fault != nil {
			assert.LessOrEqual(t, fault.Offset, len(text))
			return
		}
		again, fault := Parse(s.String())
		require.Nil(t, fault)
		assert.Equal(t, s, again)
	})
}
