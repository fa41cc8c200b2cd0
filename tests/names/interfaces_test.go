package names

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// part is a text that a file of the public interface contains.
type part struct{ file, text string }

// parts reads testdata/interfaces.txt.
func parts(t *testing.T) (all []part) {
	t.Helper()
	list, err := os.ReadFile("testdata/interfaces.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(list)) {
		switch line = strings.TrimRight(line, "\n"); {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, " "):
			all[len(all)-1].text += line
		default:
			file, text, _ := strings.Cut(line, " ")
			all = append(all, part{file, text})
		}
	}
	return all
}

var comment = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)

// contains reports whether source has the text outside of comments, whatever its white space.
func contains(source, text string) bool {
	dense := func(s string) string { return strings.Join(strings.Fields(strings.ReplaceAll(s, "\\\n", " ")), "") }
	return strings.Contains(dense(comment.ReplaceAllString(source, "")), dense(text))
}

func TestInterfacesAreSettled(t *testing.T) {
	all := parts(t)
	require.Greater(t, len(all), 20)
	for _, p := range all {
		source, err := os.ReadFile(filepath.Join("../..", p.file))
		require.NoError(t, err)
		assert.True(t, contains(string(source), p.text), "%s does not contain %s", p.file, p.text)
	}
}

// oldMessages are parts of messages that were replaced.
var oldMessages = []string{
	"major version of DLPack is not ours", "a tensor that nobody has taken", "for which it was told no stream",
	"no library here tells", "it went to another device", "was it freed?", "row-major elements without gaps",
	"several elements in one place", "none that is served here", "none or far too old", "dlpackgen keeps for itself",
}

func TestReplacedMessagesDoNotReturn(t *testing.T) {
	for _, folder := range []string{"templates", "internal", "cmd"} {
		for file, text := range sources(t, folder) {
			for _, old := range oldMessages {
				assert.NotContains(t, text, old, file)
			}
		}
	}
}

// sources returns the texts below a folder, without tests.
func sources(t *testing.T, folder string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	root := os.DirFS("../..")
	require.NoError(t, fs.WalkDir(root, folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "/testdata/") {
			return err
		}
		text, err := fs.ReadFile(root, name)
		texts[name] = string(text)
		return err
	}))
	require.NotEmpty(t, texts)
	return texts
}

func TestALostInterfaceIsFound(t *testing.T) {
	const source = "int f(int a, /* the flags */\n      int flags);  // int g(void);\n"
	assert.True(t, contains(source, "int f(int a, int flags);"))
	assert.False(t, contains(source, "int f(int flags, int a);"))
	assert.False(t, contains(source, "int f(int a, bool flags);"))
	assert.False(t, contains(source, "int g(void);"), "in a comment")
}
