// Package mutant builds sources of C, C++ and Go with all their mutants at once: a process has the
// one that its environment names, or none. It is for tests only, and neither runs nor judges
// mutants.
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

// Variable is what a process finds the number of its mutant in.
const Variable = "DLPACKGEN_MUTANT"

// Header is the file that sources with mutants must include first, which a compiler's flags can do.
const Header = "dlpackgen_mutant.h"

// Mutant is one mistake: a text that stands once in a file, and what stands there instead. The
// file may break its lines elsewhere than the text.
type Mutant struct{ File, Old, New string }

// Env names the mutant of a process; 0 means that it has no mutant.
func Env(number int) string { return Variable + "=" + strconv.Itoa(number) }

// chooser is what sources with mutants include. A constructor reads the environment, so that no
// thread writes what another reads. C includes no header here: a source may define first what it
// wants of it. A process with a mutant, which may never end, has two minutes of CPU time, unless it
// has a limit already.
const chooser = `#ifndef DLPACKGEN_MUTANT_H_
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

// Written are sources that were written with mutants.
type Written struct {
	Flags []string // of the compiler
	Apart []int    // the mutants that change no statements: each needs a separate build, by Alone
}

// Write puts mutants into the sources of a folder. Their numbers are 1 for the first, and so on.
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

// Alone makes one mistake in the sources of a folder.
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

// Require fails unless the text that a mutant changes stands once in a folder's file.
func (m Mutant) Require(t testing.TB, dir string) {
	t.Helper()
	m.require(t, open(t, filepath.Join(dir, m.File)).text)
}

func (m Mutant) require(t testing.TB, text string) {
	t.Helper()
	require.Len(t, m.places(text), 1, "%s must have once: %q", m.File, m.Old)
}

// Count tells how often a text of C or C++ stands in a source, however either breaks its lines.
func Count(source, old string) int { return len(Mutant{Old: old}.places(source)) }

// Standing returns the text of C or C++ that stands once in a source, as it is formatted there.
func Standing(t testing.TB, source, old string) string {
	t.Helper()
	at := Mutant{Old: old}.places(source)
	require.Len(t, at, 1, "must stand once: %q", old)
	return source[at[0][0]:at[0][1]]
}

// word is what a formatter keeps in one piece.
var word = regexp.MustCompile(`\w+|\S`)

// places finds where the text that a mutant changes stands; where a formatter breaks lines as it
// likes, with any white space between its words.
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

// letter is the end of a text whose next word must stand apart.
var letter = regexp.MustCompile(`\w$`)

// Once returns a text in which another stands instead of one that must stand there once, as it is:
// for Python and Go, in which line breaks and indentation mean something.
func Once(t testing.TB, text, old, fresh string) string {
	t.Helper()
	require.Equal(t, 1, strings.Count(text, old), "must stand once: %q", old)
	return strings.Replace(text, old, fresh, 1)
}

// OnceIn does that in a file; in one of C or C++, whose format a program decides, with any white
// space between the words.
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

// plain is a text without indentation.
func plain(text string) string {
	return strings.TrimLeft(indented.ReplaceAllString(text, "\n"), " \t")
}

// Programs builds a program that has all mutants of a folder's sources, and gives what starts it
// with the mutant of an index: the program, and the variable that it needs. A mutant that needs a
// separate build is built when it is asked for. build compiles the sources of a folder, with more
// flags.
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

// Rows lists the mutants of one source with their names, in the order of the names. A row is a text
// of the source and its replacement.
func Rows(file string, rows map[string][2]string) (names []string, all []Mutant) {
	names = slices.Sorted(maps.Keys(rows))
	for _, name := range names {
		all = append(all, Mutant{File: file, Old: rows[name][0], New: rows[name][1]})
	}
	return names, all
}
