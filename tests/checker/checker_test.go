// Package checker calls the checker of arguments from plain C: no host is linked, and every message
// is written to buffers of all sizes.
package checker

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

var (
	strict    = []string{"-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror"}
	sanitized = []string{"-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}
)

func generated(t *testing.T) string { return filepath.Join(golden.Root(t), "gen", "c") }

// plain builds testdata/plain.c with the given headers, without libraries except the C library.
func plain(t *testing.T, c testkit.Compiler, headers string, flags ...string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "plain")
	c.Build(t, program, append([]string{"-I", headers, "testdata/plain.c"}, flags...)...)
	return program
}

// Every compiler reports no warnings, no sanitizer errors, and the same messages; the program
// itself compares messages in buffers of 0 to 300 bytes.
func TestSentences(t *testing.T) {
	for _, c := range testkit.Compilers {
		t.Run(c.Name, func(t *testing.T) {
			if testing.Short() && c.Name != "gcc" {
				t.Skip("compiles for some seconds, and -short was given")
			}
			out, err := testkit.Says(plain(t, c, generated(t), append(strict, sanitized...)...), 0)
			require.NoError(t, err, out)
			assert.Equal(t, testkit.Sentences(t), out)
		})
	}
}

// entry makes all of the checker part of an object, so that the object needs all its dependencies.
const entry = `#include <dlpackgen/checker.h>
int check(const struct dlpackgen_function *f, const DLTensor *const *t, const uint64_t *flags, int64_t *n, char *text);
int check(const struct dlpackgen_function *f, const DLTensor *const *t, const uint64_t *flags, int64_t *n, char *text) {
  struct dlpackgen_message m = dlpackgen_message_in(text, 300);
  const int status = dlpackgen_check_description(f, &m);
  return status ? status : dlpackgen_check_arguments(f, t, flags, n, &m);
}
`

// The checker neither allocates nor prints, and needs no host. It has no static variables, so
// threads may call it concurrently.
func TestTheCheckerHasNoDependenciesAndNoState(t *testing.T) {
	for _, level := range []string{"-O0", "-O2"} {
		all := symbols(t, entry, level)
		require.Contains(t, all["U"], "strcmp", "nm lists the dependencies")
		for _, name := range all["U"] {
			assert.Contains(t, []string{"memset", "memcpy", "strcmp", "_GLOBAL_OFFSET_TABLE_"}, name, level)
		}
		assert.Empty(t, writable(all), level)
	}
}

// state matches each kind of variable that makes a function not reentrant.
const state = `int zero;
int one = 1;
_Thread_local int of_thread;
int count(void);
int count(void) { static int counted; return ++counted; }
char *text(void);
char *text(void) { static char buffer[300] = "none"; return buffer; }
`

func TestStateOfACheckerIsSeen(t *testing.T) {
	found := strings.Join(writable(symbols(t, entry+state, "-O2")), " ")
	for _, name := range []string{"zero", "one", "of_thread", "counted", "buffer"} {
		assert.Contains(t, found, name)
	}
}

// writable lists the writable variables of an object.
func writable(symbols map[string][]string) (names []string) {
	for kind, all := range symbols {
		if !strings.Contains("tTUrR", kind) { // code, undefined, read-only data
			names = append(names, all...)
		}
	}
	return names
}

// symbols compiles a source, and returns the symbols of the object by nm's letters for their kinds.
// Tables of addresses are read-only data only if the code is not position-independent.
func symbols(t *testing.T, text, level string) map[string][]string {
	t.Helper()
	source, object := filepath.Join(t.TempDir(), "entry.c"), filepath.Join(t.TempDir(), "entry.o")
	require.NoError(t, os.WriteFile(source, []byte(text), 0o600))
	args := append([]string{"-std=c11", level, "-fno-stack-protector", "-fno-pic", "-fno-pie", "-I", generated(t), "-c",
		"-o", object, source}, strict...)
	out, err := exec.Command(testtool.RequireCompiler(t, "gcc", "gcc"), args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command(testtool.Require(t, "nm", "binutils"), "--format=posix", object).Output()
	require.NoError(t, err)
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		require.GreaterOrEqual(t, len(fields), 2, line)
		all[fields[1]] = append(all[fields[1]], fields[0])
	}
	return all
}

// mistake breaks the checker in one place.
type mistake struct{ file, old, replacement string }

// Mistakes that Python modules cannot show, because their buffers are large and their tensors are
// read differently; for the other rules, see tests/python.
var mistakes = map[string]mistake{
	"texts have no end": {"message.h",
		"if (length < size) buffer[length] = *text;",
		"buffer[length] = *text;"},
	"texts are not ended": {"message.h",
		"if (length < size) buffer[length] = 0;",
		"if (length < size) ;"},
	"full buffers have no end": {"message.h",
		"else if (before < size) dlpackgen_message_cut(message);", ""},
	"characters are divided": {"message.h",
		"while (end > 0 && ((unsigned char)message->text[end] & 0xc0) == 0x80) end--;", ""},
	"nothing is written to":     {"message.h", "if (size) text[0] = 0;", "text[0] = 0;"},
	"empty texts are not ended": {"message.h", "if (size) text[0] = 0;", ""},
	"negative numbers are huge": {"message.h", "number < 0 ? 0 - (uint64_t)number : (uint64_t)number",
		"(uint64_t)number"},
	"one dimension is a number": {"message.h", `count == 1 ? ",)" : ")"`, `")"`},
	"all scalars are numbers": {"check.h", "dlpackgen_bad_type(at, kinds[kind], got, message);",
		"dlpackgen_bad_type(at, kinds[DLPACKGEN_KIND_INT], got, message);"},
	"what is missing is read": {"arguments.h",
		"if (!of.tensor) return p->optional ? (int)DLPACKGEN_STATUS_OK : dlpackgen_missing(&at, message);",
		"if (!of.tensor) return (int)DLPACKGEN_STATUS_OK;"},
	"what may be missing is missing": {"arguments.h",
		"p->optional ? (int)DLPACKGEN_STATUS_OK : dlpackgen_missing(&at, message);",
		"dlpackgen_missing(&at, message);"},
	"tensors are not validated": {"arguments.h",
		"return status ? status : dlpackgen_check_tensor(function, i, of, to, message);",
		"return dlpackgen_check_tensor(function, i, of, to, message);"},
	"devices are not compared": {"arguments.h",
		"return status ? status : dlpackgen_check_devices(function, tensors, function->nparameters, &first, message);",
		"return status;"},
	"the first tensor decides": {"arguments.h",
		"if (tensors[i] && !dlpackgen_is_on_host(tensors[i]->device)) return i;", "if (tensors[i]) return i;"},
	"the dtype of none is demanded": {"arguments.h", "of.typed = dlpackgen_peer(tensors, p->same_dtype_as);",
		"of.typed = DLPACKGEN_CODES_NULL;"},
	"the shape of none is demanded": {"arguments.h", "of.shaped = dlpackgen_peer(tensors, p->same_shape_as);",
		"of.shaped = DLPACKGEN_CODES_NULL;"},
	"memory is always there": {"check.h",
		"if (DLPACKGEN_RARE(!tensor->data) && !dlpackgen_is_empty(tensor))", "if (0)"},
	"symbols are not compared": {"check.h",
		"if (DLPACKGEN_RARE(tensor->shape[dimension] != expected)) return dlpackgen_other_extent",
		"if (0) return dlpackgen_other_extent"},
	"bool has 8 bits":       {"scalar.h", "dtype.code == kDLBool ? 1 : ", ""},
	"integers have no sign": {"scalar.h", "dtype.bits - (is_signed ? 1 : 0)", "dtype.bits"},
	"negatives always fit":  {"scalar.h", "return is_signed && ~digits >> bits == 0;", "return true;"},
	"positives always fit":  {"scalar.h", "return bits == 64 || digits >> bits == 0;", "return true;"},
	"no integer has 64 bits": {"scalar.h", "return bits == 64 || digits >> bits == 0;",
		"return digits >> (bits - 1) == 0;"},
	"bfloat16 is float32":    {"scalar.h", "if (dtype.code == kDLBfloat) return", "if (0) return"},
	"float16 is float32":     {"scalar.h", "dtype.bits == 16 ? 65504 : ", ""},
	"infinity is not held":   {"scalar.h", " || !(number - number == 0);", ";"},
	"negative floats fit":    {"scalar.h", "number >= -most && ", ""},
	"floats have all digits": {"scalar.h", "int digits = 1;", "int digits = 17;"},
	"exponents are not used": {"scalar.h", "exponent < 16", "exponent < 400"},
	"validity is assumed": {"check.h",
		"if (DLPACKGEN_RARE(error != DLPACKGEN_OK)) return dlpackgen_invalid(at, tensor, error, message);", ""},
}

// Each mistake changes a message, or the contents of a buffer.
func TestMistakesAreSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program with all mistakes, and -short was given")
	}
	headers := testkit.Parts(t)
	var names []string
	var all []mutation.Mutant
	for name, m := range mistakes {
		names = append(names, name)
		all = append(all, m.mutation())
	}
	written := mutation.Write(t, headers, all)
	program := plain(t, testkit.RunCompiler(), headers, append(written.Flags, sanitized...)...)
	out, err := testkit.Says(program, 0)
	require.NoError(t, err, out)
	require.Equal(t, testkit.Sentences(t), out, "without a mistake")
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			require.NotContains(t, written.Apart, i+1, "it is not a statement or an expression")
			out, err := testkit.Says(program, i+1)
			assert.True(t, err != nil || out != testkit.Sentences(t), "the mistake was not detected")
		})
	}
}

func TestEveryMistakeHasItsText(t *testing.T) {
	headers := testkit.Parts(t)
	for name, m := range mistakes {
		t.Run(name, func(t *testing.T) { m.mutation().Require(t, headers) })
	}
}

func (m mistake) mutation() mutation.Mutant {
	return mutation.Mutant{File: filepath.Join("dlpackgen", m.file), Old: m.old, New: m.replacement}
}
