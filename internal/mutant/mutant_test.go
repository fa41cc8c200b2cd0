package mutant

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

const program = `#include <stdio.h>
#define TWICE(x) \
	do { printf("%d\n", 2 * (x)); } while (0)
enum { MOST = 3 };
static int sum(int n) {
	int made = 0;
	for (int i = 0; i < n; i++) {
		const int square = i * i; /* of { one */
		if (square > 100) return -1;
		made += square;
	}
	switch (n) {
	case 1: return 10;
	case 2: made++; break;
	default: made += 5;
	}
#ifdef NOWHERE
	made = 0;
#endif
	return made;
}
int main(void) {
	for (int n = 0; n < MOST; n ++)
		printf (
		    "%d ", sum(n));
	TWICE(sum(1));
	return 0;
}
`

var mutants = []Mutant{
	{"x.c", "i < n", "i + 1 < n"},                 // the head of a loop
	{"x.c", "square = i * i;", "square = 2 * i;"}, // a declaration that others need
	{"x.c", "made += square;", ""},                // a statement
	// the body of a condition: the next statement would become the body
	{"x.c", "return -1;", ""},
	{"x.c", "int made = 0;\n", "int made = 0;\nn++;\n"},                // another statement
	{"x.c", "return 10;", "return 11;"},                                // a case of a switch
	{"x.c", "break;\ndefault: made", "default: made"},                  // the end of a case, over a line break
	{"x.c", "int made = 0;", "int made = 100;"},                        // the first of all
	{"x.c", "return made;\n}", "return 7;\n}"},                         // the last
	{"x.c", `n++) printf("%d ", sum(n))`, `n++) printf("%d", sum(n))`}, // over other line breaks
	{"x.c", "2 * (x)", "3 * (x)"},                                      // a macro: no statement of a function
	{"x.c", "MOST = 3", "MOST = 2"},                                    // a constant
}

var printed = []string{"5 10 2 20\n", "5 10 1 20\n", "5 10 3 20\n", "5 10 1 20\n", "5 10 1 20\n", "10 2 10 4\n",
	"5 11 2 22\n", "5 10 7 20\n", "105 10 102 20\n", "7 10 7 20\n", "510220\n",
	"5 10 2 30\n", "5 10 20\n"}

// built returns a program of the source, with only that mutant if it is one, else with all.
func built(t *testing.T, alone int, compiler string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.c"), []byte(program), 0o600))
	args := []string{"-o", filepath.Join(dir, "x"), filepath.Join(dir, "x.c")}
	if alone > 0 {
		mutants[alone-1].Alone(t, dir)
	} else {
		written := Write(t, dir, mutants)
		assert.Equal(t, []int{11, 12}, written.Apart)
		args = append(args, written.Flags...)
	}
	out, err := exec.Command(compiler, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return filepath.Join(dir, "x")
}

func output(t *testing.T, program string, number int, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), Env(number))
	out, err := cmd.Output()
	require.NoError(t, err)
	return string(out)
}

func TestOneBuildHasAllMutants(t *testing.T) {
	for _, compiler := range []string{testtool.Require(t, "gcc", "gcc"), testtool.Require(t, "g++", "g++")} {
		all := built(t, 0, compiler)
		for i := range mutants {
			alone := output(t, built(t, i+1, compiler), 0)
			assert.Equal(t, printed[i+1], alone, "%v", mutants[i])
			if i < 9 {
				assert.Equal(t, alone, output(t, all, i+1), "%v", mutants[i])
			}
		}
		assert.Equal(t, printed[0], output(t, all, 0))
		assert.Equal(t, printed[0], output(t, all, 99), "a number that no mutant has")
	}
}

// failing is a test that records its failure, and ends there.
type failing struct{ testing.TB }

func (failing) Helper()               {}
func (failing) Errorf(string, ...any) {}
func (f failing) FailNow()            { panic(f) }

func TestATextMustStandOnce(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.c"), []byte(program), 0o600))
	for _, old := range []string{"made", "nowhere to be found"} {
		m := Mutant{"x.c", old, ""}
		assert.Panics(t, func() { m.Alone(failing{t}, dir) })
		assert.Panics(t, func() { m.Require(failing{t}, dir) })
		assert.Panics(t, func() { Write(failing{t}, dir, []Mutant{m}) })
	}
	text, err := os.ReadFile(filepath.Join(dir, "x.c"))
	require.NoError(t, err)
	assert.Equal(t, program, string(text), "and nothing is written")
}

func TestOnceKeepsLineBreaks(t *testing.T) {
	assert.Equal(t, "a:\n\tc\n", Once(t, "a:\n\tb\n", "\tb\n", "\tc\n"))
	for _, text := range []string{"", "b b"} {
		assert.Panics(t, func() { Once(failing{t}, text, "b", "c") })
	}
	path := filepath.Join(t.TempDir(), "x.py")
	require.NoError(t, os.WriteFile(path, []byte("if a:\n    b\n"), 0o600))
	OnceIn(t, path, "b", "c")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "if a:\n    c\n", string(text))
}

// limitSource prints the CPU time limit of the process.
const limitSource = `#include <stdio.h>
#include <sys/resource.h>

int main(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_CPU, &limit)) return 1;
  printf("%ld", limit.rlim_cur == RLIM_INFINITY ? 0 : (long)limit.rlim_cur);
  return 0;
}
`

// A mutant may run forever, which would block all tests. An existing limit of the process is kept.
func TestTheTimeOfMutantsIsLimited(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux: the limit is set there alone")
	}
	prlimit := testtool.Require(t, "prlimit", "util-linux")
	for _, compiler := range []string{testtool.Require(t, "gcc", "gcc"), testtool.Require(t, "g++", "g++")} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "x.c"), []byte(limitSource), 0o600))
		written := Write(t, dir, []Mutant{{"x.c", "return 1;", "return 2;"}})
		program := filepath.Join(dir, "x")
		args := append([]string{"-o", program, filepath.Join(dir, "x.c")}, written.Flags...)
		out, err := exec.Command(compiler, args...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Equal(t, "0", output(t, program, 0))
		assert.Equal(t, "120", output(t, program, 1))
		assert.Equal(t, "20", output(t, prlimit, 1, "--cpu=20", program))
	}
}
