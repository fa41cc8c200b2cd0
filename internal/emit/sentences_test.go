package emit_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/templates"
)

// sentence is the definition of one in texts.h, of one or several literals.
var sentence = regexp.MustCompile(`#define (DLPACKGEN_TEXT_[A-Z_]+)((?:[ \\\n]|"(?:[^"\\\n]|\\.)*")+)`)

// spelled lists the sources of C and C++, and of their emitters, that repeat a message instead of
// naming it. Sources of emitters contain the literals of C in literals of Go.
func spelled(home string, files map[string]string) (found []string) {
	texts := map[string]string{} // the literals of each source, one a line
	for name, source := range files {
		l, ok := languageOf(name)
		isEmitter := strings.HasPrefix(name, emitters) && !strings.HasSuffix(name, "_test.go")
		if ok && (isEmitter || l == languageC && name != home) {
			texts[name] = strings.Join(l.textsOf(source), "\n")
		}
	}
	for _, s := range sentence.FindAllStringSubmatch(files[home], -1) {
		for _, message := range languageC.textsOf(s[2]) {
			whole := regexp.MustCompile(regexp.QuoteMeta(message) + `(\W|$)`)
			for name, text := range texts {
				if strings.Contains(text, message) && whole.MatchString(text) {
					found = append(found, name+": "+s[1])
				}
			}
		}
	}
	return found
}

// emitters is this package's folder, in the form of the keys.
const emitters = "internal/emit/"

// A message of several callers is defined only in texts.h. Python and Go cannot use the macro;
// the tests of each caller compare their texts.
func TestSentencesStandOnce(t *testing.T) {
	const home = "c/texts.h"
	files := map[string]string{}
	read := func(tree fs.FS, prefix string) {
		require.NoError(t, fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := fs.ReadFile(tree, name)
			files[prefix+name] = string(text)
			return err
		}))
	}
	read(templates.Files, "")
	read(os.DirFS("."), emitters)
	require.GreaterOrEqual(t, len(sentence.FindAllString(files[home], -1)), 30)
	assert.Empty(t, spelled(home, files))
	for source, want := range map[[2]string]string{
		{"c/other.h", "\"expected a string without NUL\""}: "DLPACKGEN_TEXT_NUL",
		{"c/other.hpp.tmpl", "\"{{.Name}}: it has elements but no memory: its storage \"\n\"" +
			"was freed, or it is a functionalized, fake or zero tensor\""}: "DLPACKGEN_TEXT_NO_STORAGE",
		{emitters + "a.go", `w("f(\"it is missing\");")`}: "DLPACKGEN_TEXT_MISSING",
	} {
		repeated := map[string]string{home: files[home], source[0]: source[1]}
		assert.Equal(t, []string{source[0] + ": " + want}, spelled(home, repeated))
	}
}
