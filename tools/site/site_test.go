package main

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

func TestNavigationListsFolders(t *testing.T) {
	p := &pages{files: map[string][]byte{
		"how-to/b.md": []byte("# Alpha\n"), "how-to/a.md": []byte("# Beta\n"), "how-to/c.md": []byte("# C\n"),
	}}
	tree := fstest.MapFS{
		siteConfig:            {Data: []byte("nav:\n  - Home: how-to/c.md\n  - how-to/*\n")},
		"tools/site/site.css": {}, "tools/site/site.js": {},
	}
	require.NoError(t, p.addConfig(tree))
	assert.Equal(t, "nav:\n  - Home: how-to/c.md\n  - how-to/b.md\n  - how-to/a.md\n", string(p.config))
}

func TestEveryKeyOfTheConfigHasALine(t *testing.T) {
	schema, err := os.ReadFile("../../docs/schema/config.json")
	require.NoError(t, err)
	page, err := configPage(schema)
	require.NoError(t, err)
	for _, line := range []string{"| `dlpack` |", "## targets.python", "## kernels.NAME", "| `batch` |", "## backends.NAME"} {
		assert.Contains(t, string(page), line)
	}
	_, err = configPage([]byte("{"))
	assert.ErrorContains(t, err, "docs/schema/config.json: ")
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
		"`exchange attribute`: Python finds a capsule or an attribute under another name: "+
			"`__c_dlpack_exchange_api__` → `__dlpack_c_exchange_api__`")
}

func TestVerbsAreReadFromTheHelp(t *testing.T) {
	assert.Equal(t, []string{"check", "vet"}, verbs("Usage:\n\nAvailable Commands:\n  check  a\n  help   b\n  vet    c\n\nFlags:\n"))
}
