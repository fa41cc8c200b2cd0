package project

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	for _, good := range []string{"mylib", "my_lib2", "x"} {
		assert.NoError(t, CheckName(good), good)
	}
	for _, bad := range []string{"", "my-lib", "MyLib", "2lib", "_lib", "a/b", "../a", "class", "a.b",
		"lib_", "numpy", "über"} {
		assert.ErrorContains(t, CheckName(bad), "cannot be imported", bad)
	}
}

func TestFilesHaveTheNameAndALicence(t *testing.T) {
	files, err := Files("mylib")
	require.NoError(t, err)
	all := map[string]string{}
	for _, f := range files {
		all[f.Path] = string(f.Data)
		assert.True(t, f.Once, f.Path)
		assert.NotContains(t, strings.ToLower(string(f.Data)), "placeholder", f.Path)
		first, _, _ := strings.Cut(string(f.Data), "\n")
		assert.Contains(t, first, "0BSD", f.Path)
	}
	assert.Contains(t, all["pyproject.toml"], `name = "mylib"`)
	assert.Contains(t, all["src/mylib/__init__.py"], "# SPDX")
	assert.Contains(t, all["README.md"], "<!-- SPDX")
}
