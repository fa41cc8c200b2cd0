package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

func TestLinksOutOfTheSite(t *testing.T) {
	tree := fstest.MapFS{"spec/dlpack.yaml": {}, "docs/a.md": {}}
	for text, want := range map[string]string{
		"[spec](../spec/dlpack.yaml)": "[spec](" + repository + "spec/dlpack.yaml)",
		"[a](a.md#b)":                 "[a](a.md#b)",
		"[web](https://example.com)":  "[web](https://example.com)",
	} {
		out, err := outside(tree, "b.md", []byte(text))
		require.NoError(t, err)
		assert.Equal(t, want, string(out))
	}
	_, err := outside(tree, "b.md", []byte("[gone](../spec/gone.yaml)"))
	assert.EqualError(t, err, "docs/b.md: links to files that do not exist: spec/gone.yaml")
}

func TestLabelsOfBlocksAreRemoved(t *testing.T) {
	assert.Equal(t, "```sh\nrun\n```\n```yaml title=\"a b\"\n```\n```\n",
		string(unlabelled([]byte("```sh run twice\nrun\n```\n```yaml title=\"a b\"\n```\n```\n"))))
}

func TestHeadingsHaveTheAnchorsOfGitHub(t *testing.T) {
	const page = "## x [FILE ...]\n\n## A `b`\n\n```sh\n# x --y\n```\n"
	assert.Equal(t, "<a id=\"x-file-\"></a>\n\n"+page, string(anchored([]byte(page))))
}

func TestNavigationListsFolders(t *testing.T) {
	p := &pages{files: map[string][]byte{
		"how-to/b.md": []byte("# Alpha\n"), "how-to/a.md": []byte("# Beta\n"), "how-to/c.md": []byte("# C\n"),
	}}
	tree := fstest.MapFS{
		siteConfig:            {Data: []byte("nav:\n  - Home: how-to/c.md\n  - how-to/*\n")},
		"tools/site/site.css": {}, "tools/site/site.js": {}, "tools/site/iframe-worker.js": {},
	}
	require.NoError(t, p.addConfig(tree))
	assert.Equal(t, "nav:\n  - Home: how-to/c.md\n  - how-to/b.md\n  - how-to/a.md\n", string(p.config))
}

func TestBarsInCodeOfTablesHaveNoBackslash(t *testing.T) {
	p := &pages{files: map[string][]byte{"a.md": []byte("`a\\|b`\n\n| `a\\|b` | c \\| `d` |\n"),
		"b.json": []byte("| `\\|` |\n")}}
	require.NoError(t, p.unescapeBars(nil))
	assert.Equal(t, "`a\\|b`\n\n| `a|b` | c \\| `d` |\n", string(p.files["a.md"]))
	assert.Equal(t, "| `\\|` |\n", string(p.files["b.json"]))
}

func TestSearchesNameWrittenPagesFirst(t *testing.T) {
	p := &pages{files: map[string][]byte{"cli.md": []byte("# A\n"), "reference/go/b.md": []byte("# B\n"),
		"kernels.md": []byte("# C\n"), "records/d.md": []byte("# D\n"), "schema/kernels.json": []byte("{}\n")}}
	require.NoError(t, p.rank(nil))
	assert.Equal(t, "# A\n", string(p.files["cli.md"]))
	assert.Equal(t, "---\nsearch: {boost: 0.2}\n---\n\n# B\n", string(p.files["reference/go/b.md"]))
	assert.Equal(t, "---\nsearch: {boost: 4}\n---\n\n# C\n", string(p.files["kernels.md"]))
	assert.Equal(t, "---\nsearch: {boost: 0.3}\n---\n\n# D\n", string(p.files["records/d.md"]))
	assert.Equal(t, "{}\n", string(p.files["schema/kernels.json"]))
}

// keysBelow lists the allowed keys of a part of the schema, each with its section.
func keysBelow(defs map[string]any, section string, part any) (keys [][2]string) {
	n, found := part.(map[string]any)
	if !found {
		return nil
	}
	if ref, ok := n["$ref"].(string); ok {
		return keysBelow(defs, section, defs[strings.TrimPrefix(ref, "#/$defs/")])
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf"} {
		choices, _ := n[word].([]any)
		for _, choice := range choices {
			keys = append(keys, keysBelow(defs, section, choice)...)
		}
	}
	properties, _ := n["properties"].(map[string]any)
	for key, value := range properties {
		keys = append(keys, [2]string{section, key})
		keys = append(keys, keysBelow(defs, join(section, key), value)...)
	}
	patterns, _ := n["patternProperties"].(map[string]any)
	for _, value := range patterns {
		keys = append(keys, keysBelow(defs, join(section, "NUMBER"), value)...)
	}
	keys = append(keys, keysBelow(defs, join(section, "NAME"), n["additionalProperties"])...)
	return append(keys, keysBelow(defs, section+"[]", n["items"])...)
}

// lost lists the keys of the schema without a line in their mapping's table, or without a meaning.
func lost(t *testing.T, schema, page []byte) (names []string) {
	t.Helper()
	var root map[string]any
	require.NoError(t, json.Unmarshal(schema, &root))
	keys := keysBelow(root["$defs"].(map[string]any), "Top level", root)
	require.Greater(t, len(keys), 100)
	sections := map[string]string{}
	for _, section := range strings.Split(string(page), "\n## ")[1:] {
		name, table, _ := strings.Cut(section, "\n")
		sections[name] = table
	}
	for _, key := range keys {
		_, row, _ := strings.Cut(sections[key[0]], "\n| `"+key[1]+"` |")
		if row, _, _ = strings.Cut(row, "\n"); row == "" || strings.HasSuffix(row, "|  |") {
			names = append(names, join(key[0], key[1]))
		}
	}
	return names
}

// Every key of the schema has a line with its meaning. A missing section, line or meaning is
// detected.
func TestEveryKeyOfTheConfigHasALine(t *testing.T) {
	schema, err := os.ReadFile("../../docs/schema/config.json")
	require.NoError(t, err)
	page, err := configPage(schema)
	require.NoError(t, err)
	assert.Empty(t, lost(t, schema, page))
	less := strings.NewReplacer("| `batch` |", "| `batches` |", "## targets.NAME\n", "## targets.ANY\n").
		Replace(mutant.Once(t, string(page), "| The arguments with gradients. |", "|  |"))
	assert.ElementsMatch(t, []string{"kernels.NAME.backward.of", "kernels.NAME.batch", "targets.NAME.comment",
		"targets.NAME.dlpack", "targets.NAME.path", "targets.NAME.templates"}, lost(t, schema, []byte(less)))
	_, err = configPage([]byte("{"))
	assert.ErrorContains(t, err, "docs/schema/config.json: ")
}

// rowsOf lists the beginnings of the rows of device types, streams and dtypes of a release.
func rowsOf(release *spec.Release) (devices, dtypes []string) {
	for _, enum := range spec.Of[*spec.Enum](release) {
		for _, v := range enum.Values {
			if enum.Name == "DLDeviceType" {
				devices = append(devices, fmt.Sprintf("\n| `%s` | %d | ", v.Name, v.Value))
			}
		}
	}
	for _, table := range release.Streams {
		for _, v := range table.Values {
			devices = append(devices, fmt.Sprintf("\n| %d | %s |", v.Value, strings.ReplaceAll(v.Meaning, "_", " ")))
		}
	}
	for _, d := range release.DTypes {
		dtypes = append(dtypes, fmt.Sprintf("\n| `%s` | `%s` | %d | %d | ", d.Name, d.Code, d.Bits, d.Lanes))
	}
	return devices, dtypes
}

// absent lists the rows that a page lacks.
func absent(rows []string, page []byte) []string {
	return slices.DeleteFunc(slices.Clone(rows), func(row string) bool { return strings.Contains(string(page), row) })
}

// Every device type, with the numbers of its streams, and every dtype of the spec has a row.
func TestEveryDeviceAndDTypeHasARow(t *testing.T) {
	release, err := spec.Embedded().Release("latest")
	require.NoError(t, err)
	devices, dtypes := rowsOf(release)
	require.Greater(t, len(devices), 15)
	require.Greater(t, len(dtypes), 20)
	assert.Empty(t, absent(devices, devicesPage(release)))
	assert.Empty(t, absent(dtypes, dtypesPage(release)))
	older, err := spec.Embedded().Release("1.0")
	require.NoError(t, err)
	assert.Contains(t, absent(devices, devicesPage(older)), "\n| `kDLTrn` | 18 | ", "a page without a device")
	assert.Contains(t, absent(dtypes, dtypesPage(older)), "\n| `float8_e4m3fn` | `kDLFloat8_e4m3fn` | 8 | 1 | ")
}

func TestEveryReleaseHasAPage(t *testing.T) {
	p := &pages{files: map[string][]byte{}}
	require.NoError(t, p.addReleases(nil))
	for _, info := range spec.Embedded().Releases() {
		page := string(p.files["releases/"+info.Version+".md"])
		assert.True(t, strings.HasPrefix(page, "# DLPack "+info.Version+"\n"))
		assert.Contains(t, page, "## DLTensor\n")
		assert.Contains(t, string(p.files["releases/"+info.Version+".svg"]), "<svg ")
		assert.Contains(t, string(p.files["releases/index.md"]), "["+info.Version+"]("+info.Version+".md)")
	}
	assert.Contains(t, string(p.files["releases/1.3.md"]),
		"`exchange attribute`: a capsule or an attribute in Python has a different name: "+
			"`__c_dlpack_exchange_api__` → `__dlpack_c_exchange_api__`")
}

func TestVerbsAreReadFromTheHelp(t *testing.T) {
	help := `{"Use": "dlpackgen", "Commands": [{"Use": "check"}, {"Use": "list KIND", "Commands": [{"Use": "outputs [FILE]"}]}]}`
	paths, err := commands(help)
	require.NoError(t, err)
	assert.Equal(t, [][]string{{"check"}, {"list"}, {"list", "outputs"}}, paths)
	_, err = commands("{")
	assert.ErrorContains(t, err, "dlpackgen help --format json: ")
}

// A link to an unknown anchor stops the build.
func TestBrokenAnchorsAreErrors(t *testing.T) {
	t.Chdir("../..")
	if _, err := os.Stat(mkdocs); err != nil {
		t.Skip("needs MkDocs in .cache/docs: make setup")
	}
	data, err := os.ReadFile(siteConfig)
	require.NoError(t, err)
	_, validation, found := strings.Cut(string(data), "\nvalidation:")
	require.True(t, found)
	validation, _, _ = strings.Cut(validation, "\nnav:")
	for text, broken := range map[string]bool{"# A\n\n[there](#a)\n": false, "# A\n\n[gone](#gone)\n": true} {
		p := &pages{files: map[string][]byte{"index.md": []byte(text)},
			config: []byte("site_name: a\ndocs_dir: docs\nsite_dir: html\nvalidation:" + validation + "\n")}
		out := t.TempDir()
		require.NoError(t, p.write(out))
		if err := render(out); broken {
			assert.ErrorContains(t, err, "#gone")
		} else {
			assert.NoError(t, err)
		}
	}
}

// aHeader contains declarations that header pages show, and some that they omit.
const aHeader = `/* DLPack 1.3; SPDX-License-Identifier: 0BSD */
/**
 * \file a.h
 * What it is.
 */
#ifndef A
/** A limit. */
#define LIMIT 64

/**
 * Counts a_b.
 *
 * \param x  the tensor
 * \return a count
 */
static inline int count(const T* x,
    int y) {
  return 1;
}
/** Private. */
int hidden_(void);
/** Two. */
struct pair {
  int a; /* one */
};
`

func TestHeadersAreRead(t *testing.T) {
	page := string(headerPage("gen/c/dlpackgen/a.h", aHeader, "c"))
	for _, want := range []string{
		"# dlpackgen/a.h\n", "\nWhat it is.\n", "## `LIMIT`\n",
		"```c\nstatic inline int count(const T* x,\n    int y);\n```", "Counts a\\_b.",
		"- `x`: the tensor\n- Returns: a count\n", "## `pair`\n\n```c\nstruct pair {\n  int a; /* one */\n};\n```",
	} {
		assert.Contains(t, page, want)
	}
	assert.NotContains(t, page, "hidden")
	assert.Nil(t, headerPage("gen/c/dlpackgen/b.h", "/** \\file b.h\n * Nothing. */\n", "c"))
}

var (
	ofDetail  = regexp.MustCompile(`(?ms)^namespace detail \{.*?^\}  // namespace detail$`)
	aFunction = regexp.MustCompile(`(?m)^(?:static |inline |constexpr |template |[A-Z][A-Z_]+ )*` +
		`[A-Za-z_][\w:<>,*& ]*?[ *&](\w*[a-z0-9])\(`)
	aType      = regexp.MustCompile(`(?m)^(?:struct|enum class|class|enum|union) (\w*[a-z0-9]) [^;\n]*\{`)
	noFunction = regexp.MustCompile(`^(?:return|else|typedef|using|struct|class|enum|union|namespace|static_assert)\b`)
)

// functionsOf lists the public functions of a header: outside of namespaces detail, without a
// trailing underscore.
func functionsOf(header string) (names []string) {
	header = ofDetail.ReplaceAllString(header, "")
	for _, found := range aType.FindAllStringSubmatch(header, -1) {
		names = append(names, found[1])
	}
	for _, found := range aFunction.FindAllStringSubmatch(header, -1) {
		if !noFunction.MatchString(found[0]) && found[1] != "decltype" {
			names = append(names, found[1])
		}
	}
	return names
}

// unwritten lists the functions of a header that are not on its page.
func unwritten(header, page string) (names []string) {
	for _, name := range functionsOf(header) {
		if !strings.Contains(page, "\n## `"+name+"`\n") {
			names = append(names, name)
		}
	}
	return names
}

// unshown are functions that only generated code calls: parts of the checks and asserts.
var unshown = map[string][]string{
	"dlpackgen/checker.h": {"dlpackgen_is_empty", "dlpackgen_has_shape", "dlpackgen_is_between", "dlpackgen_fail_got",
		"dlpackgen_bad_dtype", "dlpackgen_other_dtype", "dlpackgen_bad_rank", "dlpackgen_bad_extent",
		"dlpackgen_other_extent", "dlpackgen_other_shape", "dlpackgen_bad_layout", "dlpackgen_overlapping",
		"dlpackgen_misaligned", "dlpackgen_bad_device", "dlpackgen_other_device", "dlpackgen_invalid",
		"dlpackgen_read_only", "dlpackgen_without_memory", "dlpackgen_accepts_dtype", "dlpackgen_accepts_device",
		"dlpackgen_check_extents"},
	"dlpackgen/abi_check.h": {"dlpackgen_abi_same", "dlpackgen_abi_int64", "dlpackgen_abi_enum"},
	"dlpackgen/layout.hpp":  {"PointerProbe", "Int64Probe", "EnumProbe", "Probe", "up"},
}

// Every public function of the generated headers is on the page of its header.
func TestEveryFunctionOfAHeaderHasASection(t *testing.T) {
	p := &pages{files: map[string][]byte{}}
	require.NoError(t, p.addHeaders(os.DirFS("../..")))
	count := 0
	for _, h := range headers {
		names, err := filepath.Glob("../../" + h.glob)
		require.NoError(t, err)
		for _, name := range names {
			header, err := os.ReadFile(name)
			require.NoError(t, err)
			include := strings.TrimPrefix(strings.TrimPrefix(name, "../../gen/c/"), "../../gen/cpp/")
			page := p.files[h.folder+"/"+pageName(name)]
			assert.Equal(t, unshown[include], unwritten(string(header), string(page)), include)
			count += len(functionsOf(string(header)))
		}
	}
	assert.Greater(t, count, 150)
	assert.Equal(t, []string{"second"}, unwritten("int first(void);\nint* second(int a) {\n  return third(a);\n}\n"+
		"namespace detail {\nint fourth();\n}  // namespace detail\nint fifth_(void);\n", "\n## `first`\n"))
}

const aPackage = `// Package p is p.
package p

// F does it.
func F() {}

// T is a type.
type T int

// M is its method.
func (t *T) M() {}

func hidden() {}
`

func TestPackagesAreRead(t *testing.T) {
	page, err := packagePage(fstest.MapFS{"p/a.go": {Data: []byte(aPackage)}}, "p")
	require.NoError(t, err)
	for _, want := range []string{
		"# Package p\n", "Package p is p.", "## `F`\n\n```go\nfunc F()\n```\n\nF does it.", "## `T.M`\n",
	} {
		assert.Contains(t, string(page), want)
	}
	assert.NotContains(t, string(page), "hidden")
}

// MkDocs reports pages outside the navigation too, but only if it is installed.
func TestEveryPageHasAPlace(t *testing.T) {
	t.Chdir("../..")
	site, err := assemble(os.DirFS("."))
	require.NoError(t, err)
	for name, text := range site.files {
		if path.Ext(name) == ".md" {
			assert.Contains(t, string(site.config), " "+name+"\n", "a line of tools/site/mkdocs.yml names the page")
			assert.NotEmpty(t, title(text), "%s begins with a heading", name)
		}
	}
}
