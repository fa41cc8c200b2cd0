package emit

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPrefixesDiffer(t *testing.T) {
	assert.Equal(t, "dlp_94584207_", GoPrefix("example.org/a"), "as sha256sum has it")
	assert.NotEqual(t, GoPrefix("example.org/a"), GoPrefix("example.org/b"))
}

func TestImportPathsAreChecked(t *testing.T) {
	for value, wrong := range map[string]bool{
		"": false, "example.org/a/b-c.v2/~d": false, "a//b": true, "/a": true, "a b": true, "a/": true, "a\n": true,
	} {
		assert.Equal(t, wrong, ImportOption("").Check(value) != "", value)
	}
}

func TestTheTermOfTemplatesIsReplaced(t *testing.T) {
	for source, want := range map[string]string{
		"//go:build ignore\n\npackage a\n":                    "\npackage a\n",
		"//go:build ignore && cgo && (a || b)\n\npackage a\n": "\n//go:build go1.24 && cgo && (a || b)\n\npackage a\n",
	} {
		got, err := constrained("a.go", source)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, source := range []string{"package a\n", "//go:build cgo\n", "//go:build ignore && (\n"} {
		_, err := constrained("a.go", source)
		assert.Error(t, err, source)
	}
	got, err := constrained("a.h", "int a;\n")
	require.NoError(t, err)
	assert.Equal(t, "int a;\n", got, "a header has no constraint")
}
