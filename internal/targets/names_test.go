package targets

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/golden"
)

// foreignFiles are the files of other projects that comments and messages name, with the reason.
var foreignFiles = map[string]string{
	"%s_impl.c":                    "the file of the user's backend, whose name is inserted",
	"Python.h":                     "of CPython",
	"c10/core/TensorImpl.h":        "of PyTorch",
	"folder/include/sycl/sycl.hpp": "of a SYCL compiler",
	"hooks.h":                      "an example of a file that the user writes",
	"linux/magic.h":                "of the Linux kernel",
	"test_NAME_contract.py":        "NAME stands for the kernel",
	"tvm/runtime/c_runtime_api.h":  "of TVM",
}

var (
	// prose matches comments and strings of C, C++, Go and Python.
	prose = map[bool]*regexp.Regexp{
		false: regexp.MustCompile(
			"(?s)/\\*.*?\\*/|//[^\\n]*|\"(?:[^\"\\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\\n]|\\\\.)'|`[^`]*`"),
		true: regexp.MustCompile(`(?s)"""(?:.*?)"""|#[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`),
	}
	sourceName = regexp.MustCompile(`[\w./+%-]*\w\.(?:h|hpp|c|cc|cu|cpp|py|go)\b(?:[^\w(.]|\.\W|$)`)
	fileOf     = regexp.MustCompile(`\\file (\S+)`)
)

// named returns the names of source files in the comments and strings of a file.
func named(name, text string) (all []string) {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "#include") {
			kept.WriteString(line)
		}
	}
	for _, part := range prose[path.Ext(name) == ".py"].FindAllString(kept.String(), -1) {
		for _, found := range sourceName.FindAllString(part, -1) {
			all = append(all, plain(found))
		}
	}
	return all
}

// plain removes the characters that the expression needs to find the end of a name.
func plain(found string) string { return strings.TrimRight(found, "\"'`)>,;: .\n\\]}") }

// strangers returns the names in a file that are neither emitted nor foreign.
func strangers(name, text string, emitted map[string]bool) (all []string) {
	target, _, _ := strings.Cut(name, "/")
	for _, found := range named(name, text) {
		if !emitted[target+"/"+path.Base(found)] && !emitted[found] && foreignFiles[found] == "" {
			all = append(all, fmt.Sprintf("%s: %s", name, found))
		}
	}
	return all
}

// emittedOnce is the result of everything, which takes a second.
var emittedOnce map[string]string

// everything returns the files of all targets, by target and path.
func everything(t *testing.T) map[string]string {
	t.Helper()
	if emittedOnce != nil {
		return emittedOnce
	}
	kernels, all := described(t), map[string]string{}
	for _, row := range append(All(), vendors(t)) {
		for _, single := range []bool{false, true} {
			m := modelOf(t, row, "1.3", kernels)
			if single {
				m.Options[row.Single] = "true"
			}
			files, err := row.Emit(m)
			for name, text := range emittest.Texts(t, files, err) {
				all[row.Name+"/"+name] = text
			}
		}
	}
	emittedOnce = all
	return all
}

// Users do not have the parts of emitted files.
func TestOutputsNameOnlyFilesThatUsersHave(t *testing.T) {
	files := everything(t)
	emitted := map[string]bool{}
	for name := range files {
		target, below, _ := strings.Cut(name, "/")
		emitted[target+"/"+path.Base(name)], emitted[below] = true, true
	}
	var found []string
	unneeded := maps.Clone(foreignFiles)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for _, known := range named(name, files[name]) {
			delete(unneeded, known)
		}
		found = append(found, strangers(name, files[name], emitted)...)
		for _, own := range fileOf.FindAllStringSubmatch(files[name], -1) {
			if own[1] != path.Base(name) {
				found = append(found, name+": its \\file is "+own[1])
			}
		}
	}
	assert.Empty(t, slices.Compact(found), "users do not have these files")
	assert.Empty(t, unneeded, "no output names these files")
}

// pagesOfDevelopers describe the sources of dlpackgen.
var pagesOfDevelopers = regexp.MustCompile(`^(architecture|benchmarks|safety|testing)\.md$|^records/`)

// The other pages name no part, because users do not have its file.
func TestPagesNameNoParts(t *testing.T) {
	emitted, parts := map[string]bool{}, map[string]bool{}
	for name := range everything(t) {
		emitted[path.Base(name)] = true
	}
	for _, row := range All() {
		manifest, err := emittest.Unfolded(row).Manifest(modelOf(t, row, "1.3", described(t)))
		require.NoError(t, err)
		for _, a := range manifest.Assets {
			parts[path.Base(a.To)] = true
		}
	}
	pages := os.DirFS(filepath.Join(golden.Root(t), "docs"))
	require.NoError(t, fs.WalkDir(pages, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".md" || pagesOfDevelopers.MatchString(name) {
			return err
		}
		text, err := fs.ReadFile(pages, name)
		for _, found := range sourceName.FindAllString(string(text), -1) {
			base := path.Base(plain(found))
			assert.False(t, parts[base] && !emitted[base] && !strings.HasPrefix(found, "templates/"), "%s: %s", name,
				found)
		}
		return err
	}))
	assert.True(t, parts["bits.hpp"] && !emitted["bits.hpp"])
}

func TestANameOfAPartIsSeen(t *testing.T) {
	emitted := map[string]bool{"c/rules.h": true, "dlpackgen/rules.h": true}
	for name, found := range map[string]int{
		"c/x.h:#include \"part.h\"\n/* As in\n * part.h. */":    1,
		"c/x.hpp:// see part.hpp\n":                             1,
		"c/x.c:f(\"implement it in part.c\");":                  1,
		"c/x.go:// part.go has it\nvar a = `part.h`\n":          2,
		"c/x.py:# as in part.py\na = 'part.c'\n":                2,
		"c/x.cpp:/* rules.h */":                                 0,
		"d/x.h:/* rules.h, but <dlpackgen/rules.h> is known */": 1,
		"d/y.h:x.h = part.c; /* call.h(), e.g. \"a.high\" */":   0,
	} {
		file, text, _ := strings.Cut(name, ":")
		assert.Len(t, strangers(file, text, emitted), found, name)
	}
}
