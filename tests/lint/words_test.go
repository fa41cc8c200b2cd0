package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Shorter sentences occur in any two texts about tensors.
const ownWords = 6

var (
	comments    = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	decoration  = regexp.MustCompile(`(?m)^\s*(?:/\*[*!]*|\*/|\*|//[/!<]*)|\*/|[\\@]\w+`)
	sentenceEnd = regexp.MustCompile(`[.!?:;](?:\s|$)|\n\s*\n`)
	plainWord   = regexp.MustCompile(`[\w']+`)
)

// plain returns only the words of a text, so that equal texts are found despite line breaks and
// comment marks.
func plain(text string) string {
	return " " + strings.ToLower(strings.Join(plainWord.FindAllString(decoration.ReplaceAllString(text, ""), -1),
		" ")) + " "
}

// sentences returns the sentences of a header's comments that are long enough to be recognized.
func sentences(header string) []string {
	var found []string
	for _, comment := range comments.FindAllString(header, -1) {
		for _, s := range sentenceEnd.Split(decoration.ReplaceAllString(comment, ""), -1) {
			if words := plain(s); len(strings.Fields(words)) >= ownWords {
				found = append(found, words)
			}
		}
	}
	return found
}

// borrowed returns the common sentences of a tree and of headers.
func borrowed(tree []File, headers ...string) []string {
	printed := map[string][]string{} // by the first two words
	for _, header := range headers {
		for _, s := range sentences(header) {
			printed[firstWords(s)] = append(printed[firstWords(s)], s)
		}
	}
	var found []string
	for _, f := range tree {
		ours := plain(string(f.Data))
		for at := range ours {
			if f.Path == "LICENSE" || ours[at] != ' ' {
				continue
			}
			for _, s := range printed[firstWords(ours[at:])] {
				if strings.HasPrefix(ours[at:], s) {
					found = append(found, f.Path+":"+s)
				}
			}
		}
	}
	return found
}

// firstWords returns the first two words of a plain text, each after a space.
func firstWords(text string) string {
	end := 0
	for range 3 {
		next := strings.IndexByte(text[end:], ' ')
		if next < 0 {
			return text
		}
		end += next + 1
	}
	return text[:end]
}

func TestNoSentenceOfUpstreamIsOurs(t *testing.T) {
	if testing.Short() {
		t.Skip("compares for some seconds, and -short was given")
	}
	headers := []string{"/usr/include/dlpack/dlpack.h"}
	wheels, err := filepath.Glob("../../.venv/lib/python3*/site-packages/tvm_ffi/include/dlpack/dlpack.h")
	require.NoError(t, err)
	tree, err := Load(os.DirFS("../.."))
	require.NoError(t, err)
	var texts []string
	for _, name := range append(headers, wheels...) {
		t.Run(strings.Trim(name, "./"), func(t *testing.T) {
			header, err := os.ReadFile(name)
			if err != nil {
				t.Skip("needs an upstream header: apt-get install libdlpack-dev, and make setup for .venv")
			}
			require.Greater(t, len(sentences(string(header))), 20, "the sentences were found")
			texts = append(texts, string(header))
		})
	}
	assert.Empty(t, borrowed(tree, texts...))
}

func TestBorrowedFindsSentences(t *testing.T) {
	header := "/*!\n * \\brief This is how we hand over\n * an array of numbers. Short one.\n */\nint a; // " +
		"another sentence that stands at a line's end\n"
	require.Len(t, sentences(header), 2)
	copied := files{"a.yaml": "doc: >-\n  This is how we hand over an array\n  of numbers.\n",
		"b.h": "/* Another sentence that stands at\n * a line's end */"}
	assert.Len(t, borrowed(copied.load(t), header), 2)
	assert.Empty(t, borrowed(files{"a.md": "This is how they hand over an array of numbers. Short one."}.load(t),
		header))
}
