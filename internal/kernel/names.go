package kernel

import (
	"regexp"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

var word = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*`)

// taken are the words that generated code, or Python, keeps for itself.
var taken = []string{
	"False", "None", "True", "as", "assert", "async", "await", "def", "del", "elif", "except", "finally", "from",
	"global", "import", "in",
	"is", "lambda", "nonlocal", "pass", "raise", "with", "yield", "errno", "stdin", "stdout", "stderr", "stream",
	"co_await", "co_return", "co_yield", "concept", "consteval", "constinit", "decltype", "delete", "requires",
	"char8_t", "char16_t", "char32_t",
	"dynamic_cast", "static_cast", "const_cast", "reinterpret_cast", "static_assert", "thread_local", "typeid",
	"wchar_t",
	"and_eq", "bitand", "bitor", "compl", "not_eq", "or_eq", "xor_eq", "mutable", "int64_t", "uint8_t", "DLTensor",
}

// CheckName tells why a word cannot name a kernel, an argument or a C function,
// or gives "".
func CheckName(name string) string {
	switch {
	case len(name) > 100 || word.FindString(name) != name || name == "":
		return "is not a name in C"
	case strings.HasPrefix(name, "_") || strings.Contains(name, "__") || strings.HasSuffix(name, "_"):
		return "is reserved: a name has no underscore at its ends, and no two in a row"
	case strings.HasPrefix(name, "dlpackgen_"):
		return "is reserved: generated code has the names that begin with dlpackgen_"
	case spec.IsKeyword(name) || slices.Contains(taken, name):
		return "means something else in C, C++ or Python"
	}
	return ""
}

// global are the names outside of any namespace that the generated code, or every
// program, has.
var global = []string{"at", "c10", "caffe2", "dlpackgen", "main", "std", "torch"}

// CheckSymbol tells why a word that CheckName lets pass cannot name a C function, or
// gives "". Functions of the C library are not known here.
func CheckSymbol(name string) string {
	switch {
	case LooksLikeMacro(name):
		return "may be a macro: a C function has a small letter in its name"
	case slices.Contains(global, name):
		return "is taken in every program, or by PyTorch"
	}
	return ""
}

// LooksLikeMacro tells whether a word is written as macros are. Those of one letter
// are none.
func LooksLikeMacro(name string) bool { return len(name) > 1 && strings.ToUpper(name) == name }
