package emit_test

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/templates"
)

// sentence is the definition of one in message.h.
var sentence = regexp.MustCompile(`#define (DLPACKGEN_SAYS_[A-Z_]+) "(.+)"`)

// spelled lists the sources of C and C++ that spell a sentence instead of naming it.
func spelled(home string, files map[string]string) (found []string) {
	for _, s := range sentence.FindAllStringSubmatch(files[home], -1) {
		literal := regexp.MustCompile(`"[^"\n]*` + regexp.QuoteMeta(s[2]) + `[^"\n]*"`)
		for name, text := range files {
			isC := slices.Contains([]string{".h", ".c", ".hpp", ".cpp", ".tmpl"}, path.Ext(name))
			if isC && name != home && literal.MatchString(text) {
				found = append(found, name+": "+s[1])
			}
		}
	}
	return found
}

// A sentence that several callers say stands in message.h alone. Python and Go, which read no macro
// there, are compared with it by the tests of each caller.
func TestSentencesStandOnce(t *testing.T) {
	const home = "c/message.h"
	files := map[string]string{}
	require.NoError(t, fs.WalkDir(templates.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(templates.Files, name)
		files[name] = string(text)
		return err
	}))
	require.GreaterOrEqual(t, len(sentence.FindAllString(files[home], -1)), 3)
	assert.Empty(t, spelled(home, files))
	files["c/other.h"] = "\"expected a text without NUL\""
	assert.Equal(t, []string{"c/other.h: DLPACKGEN_SAYS_NUL"}, spelled(home, files))
}
