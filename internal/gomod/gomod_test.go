package gomod

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
			got, file, err := new(Reader).ImportPath(filepath.Join(dir, filepath.FromSlash(below)))
			require.NoError(t, err)
			assert.Equal(t, want, got, name)
			assert.Equal(t, filepath.Join(dir, "go.mod"), file)
		}
	}
}

func TestAFolderOfNoModule(t *testing.T) {
	path, file, err := new(Reader).ImportPath("")
	require.NoError(t, err)
	assert.Empty(t, path+file)
}

func TestAModuleThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "go.mod"), 0o755))
	_, _, err := new(Reader).ImportPath(dir)
	require.ErrorContains(t, err, "go.mod is not a regular file")
}

func TestModulePathOfWhatIsNoModule(t *testing.T) {
	for _, mod := range []string{"", "go 1.25\n", "module\n", "// module example.org/m\n"} {
		assert.Empty(t, modulePath([]byte(mod)))
	}
}

func TestAReaderReadsEachFileOnce(t *testing.T) {
	dir := t.TempDir()
	mod := filepath.Join(dir, "go.mod")
	require.NoError(t, os.WriteFile(mod, []byte("module example.com/m\n"), 0o600))
	var r Reader
	for _, below := range []string{"a", "b"} {
		path, file, err := r.ImportPath(filepath.Join(dir, below))
		require.NoError(t, err)
		assert.Equal(t, "example.com/m/"+below, path)
		assert.Equal(t, mod, file)
		require.NoError(t, os.RemoveAll(mod))
	}
	_, file, err := new(Reader).ImportPath(filepath.Join(dir, "a"))
	require.NoError(t, err)
	assert.NotEqual(t, mod, file)
}
