package emit_test

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/templates"
)

// sharedTexts lists pairs of folders whose sources have equal texts, with the maximum number of
// texts and the reason. A new text that several sources need belongs in texts.h, or in another
// shared header.
var sharedTexts = []struct {
	folders [2]string
	most    int
	reason  string
}{
	{[2]string{"c", "kernels"}, 1, "the start of two longer texts"},
	{[2]string{"c", "python"}, 1, "the end of two longer texts"},
	{[2]string{"cpp", "cpp"}, 1, "the text of std::bad_alloc, in headers that stand alone"},
	{[2]string{"cpp", "torch"}, 2, "texts of exceptions of C++, in headers that stand alone"},
	{[2]string{"device", "device"}, 23, "each backend has one implementation, and their parts share device_error.h alone, " +
		"which fills in formats"},
	{[2]string{"device", "shm"}, 3, "the same, for memory that processes share"},
	{[2]string{"jax", "tvmffi"}, 1, "the packed arguments of two hosts"},
	{[2]string{"onnxruntime", "ufunc"}, 1, "the operands of two hosts"},
	{[2]string{"python", "python"}, 2, "readers of objects, of which a module has some"},
	{[2]string{"torch", "torch"}, 6, "torch's C++ and its stable ABI, whose headers cannot be included together"},
}

var (
	literal = regexp.MustCompile(`"((?:[^"\\\n]|\\.)*)"`)
	words   = regexp.MustCompile(`[A-Za-z_]+`)
)

// textsOf returns the literals of three or more words in a C or C++ source, without comments.
func textsOf(source string) (all []string) {
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "*") || strings.HasPrefix(line, "/") || strings.HasPrefix(line, "#include") {
			continue
		}
		for _, found := range literal.FindAllStringSubmatch(line, -1) {
			if len(words.FindAllString(found[1], -1)) >= 3 && strings.Contains(strings.TrimSpace(found[1]), " ") {
				all = append(all, found[1])
			}
		}
	}
	return all
}

// twice returns the texts that several sources contain, by pairs of folders.
func twice(sources map[string]string) map[[2]string][]string {
	places := map[string][]string{} // files, by text
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		for _, text := range textsOf(sources[name]) {
			if !slices.Contains(places[text], name) {
				places[text] = append(places[text], name)
			}
		}
	}
	found := map[[2]string][]string{}
	for _, text := range slices.Sorted(maps.Keys(places)) {
		pairs := map[[2]string]bool{}
		for i, a := range places[text] {
			for _, b := range places[text][i+1:] {
				pairs[[2]string{folder(a), folder(b)}] = true
			}
		}
		for pair := range pairs {
			found[pair] = append(found[pair], fmt.Sprintf("%q: %s", text, strings.Join(places[text], ", ")))
		}
	}
	return found
}

func folder(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return first
}

// No two C or C++ sources contain an equal text of three or more words, except for those listed.
func TestTextsOfTwoSourcesHaveAReason(t *testing.T) {
	sources := map[string]string{}
	require.NoError(t, fs.WalkDir(templates.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".h", ".c", ".hpp", ".cpp", ".cu"}, path.Ext(name)) {
			return err
		}
		text, err := fs.ReadFile(templates.Files, name)
		sources[name] = string(text)
		return err
	}))
	require.Greater(t, len(sources), 100)
	found := twice(sources)
	for _, row := range sharedTexts {
		assert.LessOrEqual(t, len(found[row.folders]), row.most, "%v: %s", row.folders,
			strings.Join(found[row.folders], "\n"))
		delete(found, row.folders)
	}
	assert.Empty(t, found, "move the text to a header that both include, or give the reason in sharedTexts")
}

func TestATextOfTwoSourcesIsFound(t *testing.T) {
	found := twice(map[string]string{
		"a/x.c": "/* \"one two three\" */\nf(\"one two three\");\n#define A \"one two\"\n",
		"b/y.c": "f(\"one two\", \"one two three\", \"four five six\");\n",
		"b/z.h": "g(\"four five six\")\n * \"one two three\"\n",
	})
	assert.Equal(t, map[[2]string][]string{
		{"a", "b"}: {`"one two three": a/x.c, b/y.c`}, {"b", "b"}: {`"four five six": b/y.c, b/z.h`},
	}, found)
}
