package relpath

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const repository = "is in git's own folder, whose config can run programs"

func TestProblem(t *testing.T) {
	const windows = "has a part that Windows cannot store: a device name, or a dot or a space at the end"
	for name, want := range map[string]string{
		"":                                "is empty",
		strings.Repeat("a/", 2048) + "a":  "has 4097 bytes, more than the 4096 of the longest path",
		strings.Repeat("a/", 2047) + "aa": "",
		"a\xff":                           "is not UTF-8",
		"a\nb":                            "contains a control character",
		"a\x00":                           "contains a control character",
		`a\b`:                             "contains a backslash",
		"/a":                              "must be relative",
		"c:a":                             "must be relative",
		".git/config":                     repository,
		"a/.GIT/config":                   repository,
		".git. /config":                   repository,
		"git~1/config":                    repository,
		".g\u200cit/config":               repository,
		".gi\u200ct/config":               repository,
		"g\u200ci":                        "",
		".github/workflows":               "",
		"..":                              "must not contain `..`",
		"a/../b":                          "must not contain `..`",
		"a/..b/.c":                        "",
		"a/nul":                           windows,
		"Com1.h/a":                        windows,
		"a./b":                            windows,
		"a /b":                            windows,
		"console/com10/nulls":             "",
		".":                               "",
		"./a//b/":                         "",
		"é":                               "",
	} {
		problem, _ := Problem(name)
		assert.Equal(t, want, problem, Show(name))
	}
}

func TestShow(t *testing.T) {
	assert.Equal(t, `"a\nb"`, Show("a\nb"))
	assert.Equal(t, 85, len(Show(strings.Repeat("a", 5000))))
	assert.Equal(t, `"`+strings.Repeat("a", 79)+`..."`, Show(strings.Repeat("a", 79)+"é"))
}
