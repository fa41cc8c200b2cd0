package project

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
)

func TestNames(t *testing.T) {
	for _, good := range []string{"mylib", "my_lib2", "x"} {
		assert.NoError(t, CheckName(good), good)
	}
	for _, bad := range []string{"my-lib", "MyLib", "2lib", "_lib", "a/b", "class", "a.b", "lib_", "numpy", "über"} {
		assert.ErrorContains(t, CheckName(bad), "cannot be imported", bad)
	}
	for _, bad := range []string{"", "../a", "/a", "con", "nul", "com1", "aux"} { // the last ones on Windows
		assert.ErrorContains(t, CheckName(bad), "cannot be the name of a folder", bad)
	}
}

func TestFilesHaveTheNameAndALicence(t *testing.T) {
	files, err := Files("mylib", "v1.2.3-rc.1")
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
	assert.Contains(t, all[".github/workflows/test.yml"], "- run: pipx run dlpackgen==1.2.3-rc.1 check\n")
}

// No package has the version of a build from a checkout or a commit.
func TestTheWorkflowOfAnUnreleasedToolNamesNoVersion(t *testing.T) {
	for _, version := range []string{"devel", "v0.0.0-20260102030405-0123456789ab"} {
		files, err := Files("mylib", version)
		require.NoError(t, err)
		i := slices.IndexFunc(files, func(f emit.File) bool { return f.Path == ".github/workflows/test.yml" })
		assert.Contains(t, string(files[i].Data), "# Name the release that generates the committed files: dlpackgen==VERSION\n"+
			"      - run: pipx run dlpackgen check\n")
	}
}
