package observe

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/verify/object"
)

// compile returns the facts of a source, as a compiler reports them, and its path.
func compile(t *testing.T, program, debian, lang, text string) (*Header, string) {
	t.Helper()
	testtool.Require(t, program, debian)
	source := filepath.Join(t.TempDir(), "a.c")
	require.NoError(t, os.WriteFile(source, []byte(text), 0o600))
	out, err := exec.Command(program, "-x", lang, "-g", "-gdwarf-4", "-fno-eliminate-unused-debug-types", "-c",
		source, "-o", source+".o").CombinedOutput()
	require.NoError(t, err, "%s", out)
	data, err := os.ReadFile(source + ".o")
	require.NoError(t, err)
	info, err := object.DWARF(data)
	require.NoError(t, err)
	h, err := Read(info)
	require.NoError(t, err)
	return h, source
}

var each = []struct{ program, debian, lang string }{
	{"gcc", "gcc", "c"}, {"g++", "g++", "c++"}, {"clang-16", "clang-16", "c"}, {"clang++-16", "clang-16", "c++"},
}

// All compilers report types in C notation.
func TestTypesAreSpelledAsInC(t *testing.T) {
	t.Parallel()
	types := map[string]string{
		"unsigned long":             "unsigned long",
		"long long":                 "long long",
		"short":                     "short",
		"unsigned short":            "unsigned short",
		"unsigned":                  "unsigned int",
		"signed char":               "signed char",
		"double":                    "double",
		"const char *":              "const char *",
		"char *const":               "char *const",
		"const volatile char *":     "const volatile char *",
		"const char *const *":       "const char *const *",
		"void **":                   "void **",
		"struct S *":                "S *",
		"void (*)(void)":            "void (*)(void)",
		"int (*)(struct S *, ...)":  "int (*)(S *, ...)",
		"void (*(*)(int))(char)":    "void (*(*)(int))(char)",
		"int (*)[3]":                "int (*)[3]",
		"enum E *":                  "E *",
		"void (*)(void (*)(int *))": "void (*)(void (*)(int *))",
	}
	text := "struct S { int x; }; enum E { A };\n"
	want := map[string]string{}
	for spelled, expected := range types {
		name := string(rune('a' + len(want)))
		text += "typedef __typeof__(" + spelled + ") T" + name + ";\n"
		want["T"+name] = expected
	}
	for _, cc := range each {
		t.Run(cc.program, func(t *testing.T) {
			t.Parallel()
			h, _ := compile(t, cc.program, cc.debian, cc.lang, text)
			for name, expected := range want {
				require.Contains(t, h.Aliases, name, expected)
				assert.Equal(t, expected, h.Aliases[name].Type)
			}
		})
	}
}

func TestMembers(t *testing.T) {
	t.Parallel()
	const text = "typedef int Word;\n" +
		"typedef struct {\n  Word a; unsigned b : 3, c : 2;\n  char d[2][3];\n  struct { int e; };\n  union { " +
		"int f; char g; } h; void *i[2]; int j[];\n} T;\n"
	for _, cc := range each {
		t.Run(cc.program, func(t *testing.T) {
			t.Parallel()
			h, source := compile(t, cc.program, cc.debian, cc.lang, text)
			got := h.Records["T"]
			require.NotNil(t, got)
			assert.EqualValues(t, 40, got.Size)
			at := func(line int) diag.Pos { return diag.Pos{File: source, Line: line} }
			require.Len(t, got.Members, 8)
			assert.Equal(t, Member{Name: "a", Type: "Word", Offset: 0, Size: 4, Pos: at(3)}, got.Members[0])
			assert.Equal(t, "unsigned int : 3", got.Members[1].Type)
			assert.Equal(t, "unsigned int : 2", got.Members[2].Type)
			assert.Equal(t, Member{Name: "d", Type: "char [2][3]", Offset: 5, Size: 6, Pos: at(4)}, got.Members[3])
			assert.EqualValues(t, 12, got.Members[4].Offset)
			assert.Empty(t, got.Members[4].Name)
			assert.EqualValues(t, 4, got.Members[5].Size)
			assert.Equal(t, Member{Name: "i", Type: "void *[2]", Offset: 24, Size: 16, Pos: at(6)}, got.Members[6])
			assert.EqualValues(t, 40, got.Members[7].Offset)
			assert.Equal(t, "int []", got.Members[7].Type)
		})
	}
}

func TestCxxTypes(t *testing.T) {
	t.Parallel()
	const text = "struct B { int b; static int s; void m(); }; struct D : B { B &r; B &&rr; };\n" +
		"enum class E : unsigned char { A = 200 }; enum F : short { G = -3 }; namespace n { struct Hidden { int " +
		"x; }; }\n"
	for _, cc := range each[1:] {
		if cc.lang != "c++" {
			continue
		}
		t.Run(cc.program, func(t *testing.T) {
			t.Parallel()
			h, _ := compile(t, cc.program, cc.debian, cc.lang, text)
			require.Contains(t, h.Records, "D")
			var got []string
			for _, m := range append(h.Records["B"].Members, h.Records["D"].Members...) {
				got = append(got, m.Type+" "+m.Name)
			}
			assert.Equal(t, []string{"int b", "B (base)", "B & r", "B && rr"}, got)
			require.Contains(t, h.Enums, "E")
			assert.True(t, h.Enums["E"].Scoped)
			assert.Equal(t, []Value{{"A", 200}}, h.Enums["E"].Values)
			assert.EqualValues(t, 1, h.Enums["E"].Size)
			require.Contains(t, h.Enums, "F")
			assert.True(t, h.Enums["F"].Signed)
			assert.Equal(t, []Value{{"G", -3}}, h.Enums["F"].Values)
			assert.NotContains(t, h.Names(), "Hidden")
		})
	}
}
