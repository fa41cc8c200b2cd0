// Package mutant builds C, C++ and Go sources with all their mutants at once. An environment
// variable selects the active mutant of a process. Only tests use the package. It neither runs
// mutants nor evaluates the results.
package mutant

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Variable is the environment variable with the number of the active mutant.
const Variable = "DLPACKGEN_MUTANT"

// Header is the file that sources with mutants must include first, for example through a compiler
// flag.
const Header = "dlpackgen_mutant.h"

// Mutant is one change: a text that occurs once in a file, and its replacement. Line breaks in the
// file may differ from those of the text.
type Mutant struct{ File, Old, New string }

// Env returns the environment variable that selects a mutant; 0 selects none.
func Env(number int) string { return Variable + "=" + strconv.Itoa(number) }

// chooser is the header that sources with mutants include. A constructor reads the environment, so
// that threads do not race. In C, it includes no system header, because the source may define
// feature macros first. A process with a mutant may never end. It is limited to two minutes of CPU
// time, unless it already has a limit.
const chooser = `#if !defined(DLPACKGEN_MUTANT_H_) && !defined(__ASSEMBLER__)
#define DLPACKGEN_MUTANT_H_
#ifdef __cplusplus
#include <cstdlib>
#else
char *getenv(const char *);
int atoi(const char *);
#endif
static int dlpackgen_chosen;
#if defined(__linux__) && defined(__LP64__)
#ifdef __cplusplus
extern "C" {
#endif
int dlpackgen_get_limit(int, unsigned long *) __asm__("getrlimit");
int dlpackgen_set_limit(int, const unsigned long *) __asm__("setrlimit");
#ifdef __cplusplus
}
#endif
static void dlpackgen_limit_time(void) {
	const int time = 0; /* RLIMIT_CPU */
	unsigned long limits[2];
	if (dlpackgen_get_limit(time, limits) || limits[0] != -1UL) return;
	limits[0] = limits[1] = 120;
	dlpackgen_set_limit(time, limits);
}
#else
static void dlpackgen_limit_time(void) {}
#endif
__attribute__((constructor)) static void dlpackgen_choose(void) {
	const char *const name = getenv("` + Variable + `");
	dlpackgen_chosen = name ? atoi(name) : 0;
	if (dlpackgen_chosen > 0) dlpackgen_limit_time();
}
#ifdef __cplusplus
constexpr bool dlpackgen_mutant(int number) noexcept {
	return __builtin_is_constant_evaluated() ? false : dlpackgen_chosen == number;
}
#else
static inline int dlpackgen_mutant(int number) { return dlpackgen_chosen == number; }
#endif
#endif
`

// Written describes sources that were written with mutants.
type Written struct {
	Flags []string // of the compiler
	Apart []int    // the mutants that change no statements: each needs a separate build, by Alone
}

// Write inserts mutants into the sources of a folder. Their numbers begin with 1.
func Write(t testing.TB, dir string, all []Mutant) Written {
	t.Helper()
	var written Written
	choices, sources := map[string][]choice{}, map[string]*source{}
	for i, m := range all {
		path := filepath.Join(dir, m.File)
		if sources[path] == nil {
			sources[path] = open(t, path)
		}
		m.require(t, sources[path].text)
		if c, ok := sources[path].choose(m, i+1); ok {
			choices[path] = append(choices[path], c)
		} else {
			written.Apart = append(written.Apart, i+1)
		}
	}
	for path, s := range sources {
		text := s.switched(nested(choices[path], s.text), 0, len(s.text))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		if isGo(path) {
			text := []byte("package " + s.goPackage + "\n" + goChooser)
			require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(path), GoFile), text, 0o600))
		}
	}
	path := filepath.Join(dir, Header)
	require.NoError(t, os.WriteFile(path, []byte(chooser), 0o600))
	written.Flags = []string{"-w", "-include", path}
	return written
}

// open reads a source.
func open(t testing.TB, path string) *source {
	t.Helper()
	if isGo(path) {
		return parseGo(t, read(t, path))
	}
	return parse(plain(read(t, path)))
}

// Alone applies one mutant to the sources of a folder.
func (m Mutant) Alone(t testing.TB, dir string) {
	t.Helper()
	path := filepath.Join(dir, m.File)
	text, fresh := read(t, path), m.New
	if !isGo(path) {
		text, fresh = plain(text), plain(fresh)
	}
	m.require(t, text)
	at := m.places(text)[0]
	text = text[:at[0]] + fresh + text[at[1]:]
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// Require fails the test unless the text of a mutant occurs exactly once in a folder's file.
func (m Mutant) Require(t testing.TB, dir string) {
	t.Helper()
	m.require(t, open(t, filepath.Join(dir, m.File)).text)
}

func (m Mutant) require(t testing.TB, text string) {
	t.Helper()
	require.Len(t, m.places(text), 1, "%s must contain exactly once: %q", m.File, m.Old)
}

// Count returns how often a C or C++ text occurs in a source, ignoring line breaks.
func Count(source, old string) int { return len(Mutant{Old: old}.places(source)) }

// Standing returns a C or C++ text that occurs once in a source, in the source's formatting.
func Standing(t testing.TB, source, old string) string {
	t.Helper()
	at := Mutant{Old: old}.places(source)
	require.Len(t, at, 1, "must occur once: %q", old)
	return source[at[0][0]:at[0][1]]
}

// word matches text that a formatter does not break.
var word = regexp.MustCompile(`\w+|\S`)

// places finds the occurrences of a mutant's text. In formatted languages, any white space may
// separate its words.
func (m Mutant) places(text string) [][]int {
	if isGo(m.File) {
		return regexp.MustCompile(regexp.QuoteMeta(m.Old)).FindAllStringIndex(text, -1)
	}
	var pattern strings.Builder
	old, end := m.Old, 0
	for i, at := range word.FindAllStringIndex(old, -1) {
		apart := at[0] > end && letter.MatchString(old[:end]) && letter.MatchString(old[at[0]:at[0]+1])
		switch {
		case i == 0 && at[0] > 0, apart:
			pattern.WriteString(`[\s\\]+`)
		case i > 0 && old[end-1] != '\\':
			pattern.WriteString(`[\s\\]*`)
		}
		pattern.WriteString(regexp.QuoteMeta(old[at[0]:at[1]]))
		end = at[1]
	}
	if end < len(old) {
		pattern.WriteString(`[\s\\]+`)
	}
	return regexp.MustCompile(pattern.String()).FindAllStringIndex(text, -1)
}

// letter matches the end of a text after which the next word must be separated.
var letter = regexp.MustCompile(`\w$`)

// Once replaces a text that must occur exactly once, including its white space. It is for Python
// and Go, in which line breaks and indentation are significant.
func Once(t testing.TB, text, old, fresh string) string {
	t.Helper()
	require.Equal(t, 1, strings.Count(text, old), "must occur once: %q", old)
	return strings.Replace(text, old, fresh, 1)
}

// OnceIn replaces a text in a file. In C and C++, which are formatted automatically, any white
// space may separate the words.
func OnceIn(t testing.TB, path, old, fresh string) {
	t.Helper()
	text := read(t, path)
	if slices.Contains([]string{".c", ".h", ".cpp", ".hpp"}, filepath.Ext(path)) {
		old = Standing(t, text, old)
	}
	text = Once(t, text, old, fresh)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

var indented = regexp.MustCompile(`\n[ \t]+`)

// plain removes the indentation of a text.
func plain(text string) string {
	return strings.TrimLeft(indented.ReplaceAllString(text, "\n"), " \t")
}

// Programs builds a program with all mutants of a folder's sources. The returned function gives the
// program and the environment variable for the mutant of an index. A mutant that needs a separate
// build is built on demand. build compiles the sources of a folder with additional flags.
func Programs(t testing.TB, folder string, all []Mutant,
	build func(dir string, flags ...string) string) func(t testing.TB, i int) (program, env string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(folder)))
	written := Write(t, dir, all)
	program := build(dir, written.Flags...)
	return func(t testing.TB, i int) (string, string) {
		t.Helper()
		if !slices.Contains(written.Apart, i+1) {
			return program, Env(i + 1)
		}
		apart := t.TempDir()
		require.NoError(t, os.CopyFS(apart, os.DirFS(folder)))
		all[i].Alone(t, apart)
		return build(apart), Env(0)
	}
}

// Rows returns the mutants of one source with their names, sorted by name. A row is a text of the
// source and its replacement.
func Rows(file string, rows map[string][2]string) (names []string, all []Mutant) {
	names = slices.Sorted(maps.Keys(rows))
	for _, name := range names {
		all = append(all, Mutant{File: file, Old: rows[name][0], New: rows[name][1]})
	}
	return names, all
}
