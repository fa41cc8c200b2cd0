package kernel

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

var word = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*`)

// reserved are words with another meaning. Each row lists the uses in which they are invalid. It is
// the only table for the names of kernels, arguments, results and C functions.
var reserved = []struct {
	words []string
	uses  use
	why   string
}{
	{strings.Fields(pythonKeywords), anywhere, "is a keyword of Python"},
	{strings.Fields(cppKeywords), anywhere, keywordOfC},
	{strings.Fields(standardTypes), anywhere, "is a type of C"},
	{strings.Fields("errno stdin stdout stderr"), anywhere, "is a macro of the C library"},
	{[]string{"stream"}, anywhere, "is reserved: functions in C have a parameter of this name"},
	{strings.Fields(objectMacros), ofKernel | ofArgument | ofFunction, "may be a macro in C"},
	{strings.Fields(functionMacros), ofKernel | ofFunction, "may be a macro in C"},
	{strings.Fields(pythonNames), ofKernel, "is a name that the generated Python uses itself"},
	{strings.Fields("at c10 caffe2 torch"), ofFunction, "is a namespace of PyTorch"},
	{strings.Fields("dlpackgen main std"), ofFunction, "is already used in every program"},
	{strings.Fields(cTypes), ofFunction, "is a type of the C library or of POSIX"},
	{strings.Fields(library), ofFunction, "is a function of the C library or of POSIX"},
}

// use is a set of the things that a word can name.
type use int

const (
	ofKernel use = 1 << iota
	ofArgument
	ofFunction
	ofOther
	anywhere = ofKernel | ofArgument | ofFunction | ofOther
)

// library lists the functions that the headers of C11 and POSIX declare, with those of the GNU
// library, which a compiler of C++ sees by default, and those that the GNU library exports. If a
// library that Python loads defines one of these functions, its calls reach the GNU library's
// function instead. Tests compare the list with the headers and with the library.
//
//go:embed library.txt
var library string

// pythonKeywords and cppKeywords are keywords besides those of spec.IsKeyword. standardTypes are in
// the signatures of functions.
const (
	pythonKeywords = `False None True as assert async await def del elif except finally from global import in is lambda
	nonlocal pass raise with yield`
	cppKeywords = `co_await co_return co_yield concept consteval constinit decltype delete requires
	char8_t char16_t char32_t dynamic_cast static_cast const_cast reinterpret_cast static_assert thread_local
	typeid wchar_t and_eq bitand bitor compl not_eq or_eq xor_eq mutable`
	standardTypes = "DLTensor int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t"
)

const keywordOfC = "is a keyword of C or C++"

// objectMacros are lower-case macros of a compiler or of windows.h. They break every use of the
// word.
const objectMacros = `complex far hyper i386 interface linux near noreturn small unix`

// functionMacros break functions of that name, but not variables.
const functionMacros = `check free max min
	alignas alignof assert fpclassify isfinite isgreater isgreaterequal isinf isless islessequal islessgreater
	isnan isnormal isunordered offsetof setjmp signbit sigsetjmp va_arg va_copy va_end va_start`

// pythonNames are names in the module's stub, or builtins that a module with a function for each
// kernel uses.
const pythonNames = `Any Literal Protocol Sequence SupportsDLPack Tensor TypeVar overload
	abs all any bytes dict enumerate frozenset getattr hasattr hash isinstance iter len list map next object range
	reversed sorted str sum tuple type zip`

const cTypes = `blkcnt_t blksize_t clock_t clockid_t cnd_t constraint_handler_t dev_t div_t double_t fenv_t fexcept_t
	float_t fpos_t gid_t id_t imaxdiv_t ino_t intmax_t intptr_t jmp_buf key_t ldiv_t lldiv_t locale_t max_align_t
	mbstate_t memory_order mode_t mtx_t nlink_t off_t once_flag pid_t pthread_t ptrdiff_t sig_atomic_t sigset_t
	socklen_t ssize_t suseconds_t thrd_t time_t timer_t tss_t u_char u_int u_long u_short uid_t uint uintmax_t
	uintptr_t ulong ushort va_list wctrans_t wctype_t wint_t`

// meaning returns why a word cannot be used in this way, or "".
func meaning(name string, of use) string {
	for _, row := range reserved {
		if row.uses&of != 0 && slices.Contains(row.words, name) {
			return row.why
		}
	}
	return ""
}

// MaxName is the length of the longest name.
const MaxName = 100

// CheckName returns why a word cannot be a name in a kernel, or "".
func CheckName(name string) string {
	switch {
	case len(name) > MaxName:
		return fmt.Sprintf("has %d characters, more than %d", len(name), MaxName)
	case word.FindString(name) != name || name == "":
		return "is not a name in C"
	case strings.HasPrefix(name, "_") || strings.Contains(name, "__") || strings.HasSuffix(name, "_"):
		return "is reserved: a name must not begin or end with an underscore, or contain two in a row"
	case strings.HasPrefix(name, "dlpackgen_"):
		return "is reserved: names that begin with dlpackgen_ belong to generated code"
	case spec.IsKeyword(name):
		return keywordOfC
	}
	return meaning(name, ofOther)
}

// CheckKernel returns why a word that CheckName accepts cannot name a kernel, or "".
func CheckKernel(name string) string { return cmp.Or(meaning(name, ofKernel), macro(name)) }

// CheckArgument is CheckKernel for arguments and results.
func CheckArgument(name string) string { return cmp.Or(meaning(name, ofArgument), macro(name)) }

func macro(name string) string {
	if LooksLikeMacro(name) {
		return "may be a macro in C"
	}
	return ""
}

// width matches the suffixes of GNU's functions for _Float32, _Float64x and other types.
var width = regexp.MustCompile(`f(16|32|64|128)x?$`)

// CheckSymbol returns why a word that CheckName accepts cannot name a C function, or "".
func CheckSymbol(name string) string {
	switch {
	case LooksLikeMacro(name):
		return "may be a macro: the name of a C function needs a lower-case letter"
	case strings.HasPrefix(name, "DL") || strings.HasPrefix(name, "kDL"):
		return "is reserved: names that begin with DL and kDL belong to DLPack"
	}
	return cmp.Or(meaning(name, ofFunction), meaning(width.ReplaceAllString(name, "f"), ofFunction))
}

// LooksLikeMacro reports whether a word looks like a macro: in capitals, with two letters or more.
func LooksLikeMacro(name string) bool { return len(name) > 1 && strings.ToUpper(name) == name }
