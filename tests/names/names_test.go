// Package names tests the public names of every language against testdata/names.txt: each is
// declared, and the names that they replaced are not.
package names

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// languages are the files of each language, and the function that finds their declarations.
var languages = map[string]struct {
	folders, kinds []string
	declared       func(file, text string) (set, error)
}{
	"c":   {[]string{"gen/c", "backends"}, []string{".h"}, declaredInHeader},
	"cpp": {[]string{"gen/cpp", "backends"}, []string{".hpp"}, declaredInHeader},
	"go":  {[]string{"gen/go", "backends"}, []string{".go"}, declaredInGo},
	"python": {[]string{"templates/torch", "templates/shm/python", "gen/cpp/dlpackgen_torch"},
		[]string{".py", ".c", ".cpp"},
		declaredInPython},
	"config": {[]string{"docs/schema"}, []string{"config.json"}, declaredInSchema},
	"tool":   {[]string{"internal/codes/text"}, []string{".md"}, declaredCodes},
}

func declaredInHeader(_, text string) (set, error) { return declarationsOf(text), nil }

// tree returns the texts of a language's files.
func tree(t *testing.T, language string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, folder := range languages[language].folders {
		for name, text := range sources(t, folder) {
			for _, kind := range languages[language].kinds {
				if strings.HasSuffix(name, kind) {
					texts[name] = text
				}
			}
		}
	}
	require.NotEmpty(t, texts, language)
	return texts
}

// declared returns all names of a language.
func declared(t *testing.T, language string, texts map[string]string) set {
	t.Helper()
	all := set{}
	for file, text := range texts {
		found, err := languages[language].declared(file, text)
		require.NoError(t, err, file)
		for name := range found {
			all[name] = true
		}
	}
	return all
}

// row is a line of the table: a name, and the names that it replaced.
type row struct {
	language, name string
	replaced       []string
}

// rows reads testdata/names.txt.
func rows(t *testing.T) (all []row) {
	t.Helper()
	text, err := os.ReadFile("testdata/names.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		require.GreaterOrEqual(t, len(words), 2, line)
		require.Contains(t, languages, words[0], line)
		all = append(all, row{words[0], words[1], words[2:]})
	}
	return all
}

// wrong returns the names of a table that are not declared, and the replaced ones that are. In C, a
// replaced name with a prefix must not occur in a comment either.
func wrong(all []row, language string, names set, texts map[string]string) (found []string) {
	for _, r := range all {
		if r.language != language {
			continue
		}
		if !names[r.name] {
			found = append(found, fmt.Sprintf("%s %s is not declared", language, r.name))
		}
		for _, old := range r.replaced {
			if names[old] {
				found = append(found, fmt.Sprintf("%s %s is declared, and %s replaced it", language, old, r.name))
			} else if language == "c" && strings.Contains(old, "_") && !strings.Contains(old, ".") {
				word := regexp.MustCompile(`\b` + old + `\b`)
				for file, text := range texts {
					if strings.Contains(text, old) && word.MatchString(text) {
						found = append(found, fmt.Sprintf("%s contains %s, and %s replaced it", file, old, r.name))
					}
				}
			}
		}
	}
	return found
}

func TestPublicNamesAreDeclared(t *testing.T) {
	all := rows(t)
	for language := range languages {
		t.Run(language, func(t *testing.T) {
			texts := tree(t, language)
			assert.Empty(t, wrong(all, language, declared(t, language, texts), texts))
		})
	}
}

// Without the declaration of a name, and with that of a replaced name, the comparison fails.
func TestALostNameIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("compares each language again for each name, and -short was given")
	}
	all := rows(t)
	for language := range languages {
		texts := tree(t, language)
		names := declared(t, language, texts)
		places := map[string]string{} // a text with each name
		for _, text := range texts {
			for name := range declared(t, language, map[string]string{"": text}) {
				places[name] = text
			}
		}
		for _, r := range all {
			if r.language != language {
				continue
			}
			last := r.name[strings.LastIndex(r.name, ".")+1:]
			altered := regexp.MustCompile(`\b`+last+`\b`).ReplaceAllString(places[r.name], "renamed")
			left := declared(t, language, map[string]string{"": altered})
			assert.NotEmpty(t, wrong([]row{r}, language, left, nil), "%s %s", language, r.name)
			for _, old := range r.replaced {
				names[old] = true
				assert.NotEmpty(t, wrong([]row{r}, language, names, nil), "%s %s", language, old)
				delete(names, old)
			}
		}
	}
}

// private are headers that users do not include, and those with upstream's names or assertions.
var private = []string{"dlpack.h", "abi_check.h", "device_answer.h", "conformance_hooks.h"}

// Only dlpack.h declares names of dmlc/dlpack. In C, all others have the prefix, and enumerators
// are upper case.
func TestNamesOfCHaveThePrefix(t *testing.T) {
	for file, text := range tree(t, "c") {
		assert.True(t, path.Dir(file) != "gen/c/dlpack" || path.Base(file) == "dlpack.h",
			"%s is in dmlc/dlpack's folder", file)
		if slices.Contains(private, path.Base(file)) {
			continue
		}
		for name := range declarationsOf(text) {
			owned := strings.Contains(name, ".")
			assert.True(t, owned || strings.HasPrefix(strings.ToLower(name), "dlpackgen_"), "%s declares %s", file,
				name)
		}
		code := (&scanner{found: set{}}).withoutDirectives(noise.ReplaceAllString(text, ""))
		for _, enum := range enumeration.FindAllStringSubmatch(code, -1) {
			assert.Regexp(t, `^[A-Z0-9_\W]*$`, enum[1], "%s: enumerators are upper case", file)
		}
	}
}

// enumeration matches the enumerators of an enum.
var enumeration = regexp.MustCompile(`(?s)\benum\s*\w*\s*\{(.*?)\}`)

func TestDeclarationsAreRead(t *testing.T) {
	const header = `
#define DLPACKGEN_A(x) f(x)
#ifdef __cplusplus
extern "C" {
#endif
/* int comment(void); */
typedef struct dlpackgen_s { size_t size, other[4]; int (*slot)(void* p); struct { int inner; } private_; } dlpackgen_s;
enum dlpackgen_e { DLPACKGEN_ONE = 1, DLPACKGEN_TWO = (1 << 2) };
static const char dlpackgen_text[] = "int quoted(void);";
static inline int dlpackgen_f(struct dlpackgen_s* s) { int local = call(s); return local; }
API struct dlpackgen_s* dlpackgen_g(void);
#ifdef __cplusplus
}
namespace dlpackgen {
inline namespace v1_3 {
namespace pytorch HIDDEN { class BufferError : public E { using E::E; }; }
template <class T, std::enable_if_t<(sizeof(T) < 8), int> = 0>
constexpr Result<Foo<T>> made(T t) noexcept { return t; }
enum class ErrorCode : int { ok = 0 };
struct View {
 public:
  int a = 1, b{2};
  explicit View(int x) : a(x) {}
  static View from_raw(int) { return {}; }
};
inline constexpr int version{1};
using Legacy = Basic<int>;
}
}
#else
int dlpackgen_never(void);
#endif
`
	assert.Equal(t, set{"DLPACKGEN_A": true, "dlpackgen_s": true, "dlpackgen_s.size": true, "dlpackgen_s.other": true,
		"dlpackgen_s.slot": true, "dlpackgen_s.private_": true, "dlpackgen_e": true, "DLPACKGEN_ONE": true,
		"DLPACKGEN_TWO": true, "dlpackgen_text": true, "dlpackgen_f": true, "dlpackgen_g": true,
		"pytorch.BufferError": true, "made": true, "ErrorCode": true, "ErrorCode.ok": true, "View": true,
		"View.a": true,
		"View.b": true, "View.View": true, "View.from_raw": true, "version": true, "Legacy": true,
		"anonymous.inner": true,
		"BufferError.E":   true}, declarationsOf(header))
}
