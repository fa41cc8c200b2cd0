package emit_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/templates"
)

// literalsOf returns the words in quotes of a source in C, C++, Go or Python, without its comments.
func literalsOf(l language, source string) (all []string) {
	l.scan(source, func(text string) { all = append(all, words.FindAllString(text, -1)...) }, func(string) {})
	return all
}

// The names of the Python protocol are in the spec. Sources use the macros of codes.h.
func TestNoSourceRepeatsANameOfTheProtocol(t *testing.T) {
	r, err := spec.Embedded().Release("main")
	require.NoError(t, err)
	p := r.NewestPython
	names := []string{
		p.Capsule.Fresh, p.Capsule.Used, p.Versioned.Fresh, p.Versioned.Used, p.ExchangeAttr, p.ExchangeCapsule,
		p.OlderExchange,
	}
	assert.NotContains(t, names, "")
	checked := 0
	require.NoError(t, fs.WalkDir(templates.Files, ".", func(file string, d fs.DirEntry, err error) error {
		l, ok := languageOf(file)
		if err != nil || d.IsDir() || !ok {
			return err
		}
		text, err := fs.ReadFile(templates.Files, file)
		checked++
		for _, word := range literalsOf(l, string(text)) {
			assert.NotContains(t, names, word, "%s repeats a name of spec/dlpack.yaml: use its macro", file)
		}
		return err
	}))
	assert.Greater(t, checked, 200)
	assert.Equal(t, []string{"a", "dltensor", "b"},
		literalsOf(languageC, "x = \"a\"; /* \"used\" */ y(\"dltensor b\");"))
}

// Which type codes are integers, and which are truth values, is in the spec: see spec.DType.
func TestNoEmitterRepeatsTheKindOfATypeCode(t *testing.T) {
	code := regexp.MustCompile(`"kDL(Int|UInt|Bool)"`)
	// What the sources need of a user's spec, and NumPy's own dtypes.
	listed := []string{filepath.Join("emit", "needs.go"), filepath.Join("emit", "numpy.go")}
	checked := 0
	require.NoError(t, filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") ||
			slices.Contains(listed, strings.TrimPrefix(file, ".."+string(filepath.Separator))) {
			return err
		}
		text, err := os.ReadFile(file)
		checked++
		assert.Empty(t, code.FindAllString(string(text), -1), "%s: use IsInteger, IsSigned or IsBool", file)
		return err
	}))
	assert.Greater(t, checked, 100)
}
