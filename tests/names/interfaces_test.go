package names

import (
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

func TestALostInterfaceIsFound(t *testing.T) {
	const source = "int f(int a, /* the flags */\n      int flags);  // int g(void);\n"
	assert.True(t, contains(source, "int f(int a, int flags);"))
	assert.False(t, contains(source, "int f(int flags, int a);"))
	assert.False(t, contains(source, "int f(int a, bool flags);"))
	assert.False(t, contains(source, "int g(void);"), "in a comment")
}
