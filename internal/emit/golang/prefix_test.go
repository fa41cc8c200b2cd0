package golang

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
)

func TestTheImportPathIsThatOfTheFolder(t *testing.T) {
	root := t.TempDir()
	for name, mod := range map[string]string{
		"plain":   "// A comment\nmodule example.org/m // another\n\ngo 1.25\n",
		"quoted":  "module \"example.org/m\"\n",
		"rawform": "module `example.org/m`\n",
	} {
		dir := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o600))
		for below, want := range map[string]string{
			"":              "example.org/m",
			"internal/deep": "example.org/m/internal/deep", // need not exist yet
		} {
			got, err := ImportPath(&emit.Model{Dir: filepath.Join(dir, filepath.FromSlash(below))})
			require.NoError(t, err)
			assert.Equal(t, want, got, name)
		}
	}
}

func TestTheImportPathWithoutAModule(t *testing.T) {
	none := filepath.Join(t.TempDir(), "x")
	for _, test := range []struct {
		model        emit.Model
		path, prefix string
	}{
		{emit.Model{}, "", "dlpack"},
		{emit.Model{Dir: none, Options: map[string]string{optionPackage: "tensor"}}, "", "tensor"},
		{emit.Model{Dir: none, Options: map[string]string{optionImport: "example.org/x"}}, "example.org/x", "example.org/x"},
	} {
		test.model.Release = emittest.Release(t, "1.3")
		b, err := newBinding(&test.model)
		require.NoError(t, err)
		assert.Equal(t, test.path, b.path)
		assert.Equal(t, Prefix(test.prefix), b.prefix)
	}
}

func TestAModuleThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "go.mod"), 0o755))
	_, err := Target.Emit(&emit.Model{Release: emittest.Release(t, "1.3"), Dir: dir})
	require.ErrorContains(t, err, `give the import path of the bindings as option "import"`)
}

func TestPrefixesDiffer(t *testing.T) {
	assert.Equal(t, "dlp_94584207_", Prefix("example.org/a"), "as sha256sum has it")
	assert.NotEqual(t, Prefix("example.org/a"), Prefix("example.org/b"))
}

func TestModulePathOfWhatIsNoModule(t *testing.T) {
	for _, mod := range []string{"", "go 1.25\n", "module\n", "// module example.org/m\n"} {
		assert.Empty(t, modulePath([]byte(mod)))
	}
}
