package python

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/templates"
)

func TestGenHoldsTheNewestRelease(t *testing.T) {
	for name, text := range emittest.OfRelease(t, Target, emittest.Release(t, "latest")) {
		got, err := os.ReadFile(filepath.Join(golden.Root(t), "gen/c", name))
		require.NoError(t, err, "run: make generate")
		assert.Equal(t, text, string(got), "gen/c/%s is out of date; run: make generate", name)
	}
}

func TestEveryFileCarriesTheBannerAndNoLooseEnds(t *testing.T) {
	for name, text := range emittest.OfRelease(t, Target, emittest.Release(t, "main")) {
		assert.True(t, strings.HasPrefix(text, emit.Banner(name, "main")), name)
		assert.NotRegexp(t, `(?m)[ \t]+$|\n\n\n|<no value>|\{\{[.]|\{\{(range|end|if|else)`, text, name)
		for line := range strings.SplitSeq(text, "\n") {
			assert.LessOrEqual(t, len([]rune(strings.ReplaceAll(line, "\t", "    "))), 120, "%s: %s", name, line)
		}
	}
}

// Additions of a release get names without changes here.
func TestNamesFollowTheRelease(t *testing.T) {
	before := emittest.OfRelease(t, Target, emittest.Release(t, "1.3"))[interfaceName]
	for _, line := range []string{
		`dlpackgen_table_attribute[] = DLPACKGEN_ATTRIBUTE_EXCHANGE_API;`,
		`dlpackgen_older_table_attribute[] = DLPACKGEN_ATTRIBUTE_OLDER_EXCHANGE_API;`,
		`case DLPACKGEN_STREAMS_CUDA: return 1;`, `case DLPACKGEN_STREAMS_ROCM: return 0;`,
		`case DLPACKGEN_STREAMS_CUDA: return number < -1 || number == 0;`,
		`case DLPACKGEN_STREAMS_ROCM: return number < -1 || number == 1 || number == 2;`,
	} {
		assert.Contains(t, before, line)
	}
}

// A user's spec may lack names that the copied files use. A function whose comment specifies 1 or 0
// returns these numbers, not an enumerator.
func TestTruthValuesAreDocumentedAsSuch(t *testing.T) {
	promise := regexp.MustCompile(`/\*\* Returns 1 if [^*]*\*/\nstatic inline ([\w ]+?) \*?\w+\(`)
	texts := emittest.OfRelease(t, Target, emittest.Release(t, "latest"))
	found := promise.FindAllStringSubmatch(texts[interfaceName], -1)
	require.NotEmpty(t, found)
	for _, m := range found {
		assert.Equal(t, "int", m[1], m[0])
	}
	assert.Contains(t, texts[interfaceName], "/** The stream rules of a device type;")
}

func TestSpecsWithoutTheUsualNames(t *testing.T) {
	for _, missing := range needed {
		changed := *emittest.Release(t, "1.3")
		changed.Decls = slices.DeleteFunc(slices.Clone(changed.Decls),
			func(d spec.Decl) bool { return d.DeclName() == missing })
		_, err := Target.Emit(&emit.Model{Release: &changed})
		assert.ErrorContains(t, err, "modules for Python build on "+missing+", which DLPack 1.3 of this spec lacks")
	}
	changed := *emittest.Release(t, "1.3")
	changed.NewestPython.OlderExchange = ""
	_, err := Target.Emit(&emit.Model{Release: &changed})
	assert.ErrorContains(t, err, "the two attributes with an exchange table")
}

// The output consists of the files that a user includes and compiles: there are no separate parts,
// and no file includes one.
func TestAUserSeesAnInterfaceAndASource(t *testing.T) {
	texts := emittest.OfRelease(t, Target, emittest.Release(t, "1.3"))
	assert.ElementsMatch(t, []string{interfaceName, sourceName, "dlpackgen_backend.h"},
		slices.Collect(maps.Keys(texts)))
	included := regexp.MustCompile(`(?m)^#include "([^"]+)"`)
	for name, text := range texts {
		for _, m := range included.FindAllStringSubmatch(text, -1) {
			assert.Contains(t, texts, m[1], name)
		}
	}
	assert.Equal(t, 1, strings.Count(texts[sourceName], `#include "`+interfaceName+`"`))
}

// With each part as a file, mutants find the file to change.
func TestPartsAreTheSameSources(t *testing.T) {
	manifest, err := Parts(&emit.Model{Release: emittest.Release(t, "1.3")})
	require.NoError(t, err)
	files, err := emit.Render("1.3", manifest)
	texts := emittest.Texts(t, files, err)
	whole := emittest.OfRelease(t, Target, emittest.Release(t, "1.3"))
	const line = "\nstatic void dlpackgen_free_access("
	assert.Equal(t, 1, strings.Count(whole[sourceName], line))
	assert.Equal(t, 1, strings.Count(texts["dlpackgen_python/state.h"], line))
	assert.Contains(t, texts[interfaceName], `#include "dlpackgen_python/api.h"`)
	entries, err := templates.Files.ReadDir("python")
	require.NoError(t, err)
	assert.Len(t, texts, len(entries)+4, "an output, the header of backends, and parts that other targets have too")
}

func TestSameModelSameBytes(t *testing.T) {
	rendered := func() map[string]string { return emittest.OfRelease(t, Target, emittest.Release(t, "1.3")) }
	assert.Equal(t, rendered(), rendered())
}
