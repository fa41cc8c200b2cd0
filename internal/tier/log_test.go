package tier

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A list keeps each input once, with what is absent from the module, and files elsewhere that the
// go command might reach.
func TestAListOfFilesIsShortened(t *testing.T) {
	dir := t.TempDir()
	root, there, gone := filepath.Join(dir, "module"), filepath.Join(dir, "there"), filepath.Join(dir, "gone")
	place(t, there, "a", "")
	list := filepath.Join(dir, "list")
	text := "# test log\n" +
		"getenv HOME\nopen x\nopen ./x\nstat x\ngetenv HOME\n" +
		"open " + root + "/p/x\nopen " + root + "-gone\n" +
		"open " + gone + "\nstat " + gone + "/a\nopen " + there + "/a\n" +
		"chdir " + there + "\nopen x\nopen a\nstat a\nchdir " + root + "\nstat p/x\nstat p/y\n"
	require.NoError(t, os.WriteFile(list, []byte(text), 0o600))
	shorten(list, root, root+"/p")
	got, err := os.ReadFile(list)
	require.NoError(t, err)
	assert.Equal(t, "# test log\n"+
		"getenv HOME\nopen x\nstat x\n"+
		"open "+there+"/a\n"+
		"chdir "+there+"\nstat a\nchdir "+root+"\nstat p/y\n", string(got))
}
