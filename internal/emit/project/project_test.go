package project

import (
	"regexp"
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
	for _, bad := range []string{
		"sys", "json", "os", "shutil", "subprocess", "importlib", "sysconfig", "pathlib", "test", "asyncore",
	} {
		assert.ErrorContains(t, CheckName(bad), "the name of an existing module", bad)
	}
	for _, bad := range []string{"", "../a", "/a", "con", "nul", "com1", "aux"} { // the last ones on Windows
		assert.ErrorContains(t, CheckName(bad), "cannot be the name of a folder", bad)
	}
}

// The name is not that of a module which a file of the project imports, or of its folder of tests.
func TestNamesOfModulesInUseAreRejected(t *testing.T) {
	files, err := Files("mylib", "v1.2.3")
	require.NoError(t, err)
	imported := regexp.MustCompile(`(?m)^(?:import|from) (\w+)|find_spec\("(\w+)"\)|importorskip\("(\w+)"\)`)
	used := []string{"tests", "torch", "jax", "paddle", "hypothesis"} // of the emitted tests
	for _, f := range files {
		if strings.HasSuffix(f.Path, ".py") {
			for _, found := range imported.FindAllStringSubmatch(string(f.Data), -1) {
				used = append(used, found[1]+found[2]+found[3])
			}
		}
	}
	for _, name := range used {
		if name != "mylib" {
			assert.ErrorContains(t, CheckName(name), "the name of an existing module", name)
		}
	}
	assert.Subset(t, used, []string{"shutil", "setuptools", "nvidia", "numpy", "mylib"}, "the pattern matches")
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
		assert.Contains(t, string(files[i].Data),
			"# Name the release that generates the committed files: dlpackgen==VERSION\n"+
				"      - run: pipx run dlpackgen check\n")
	}
}
