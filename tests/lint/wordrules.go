package lint

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Words to avoid, because the field has other ones. The first are for all files; the others are for
// sources except tests. They are written so that they do not match themselves.
var (
	formerWords   = compile(`(?i)\bback[ ]ends?\b|\brefus(?:e[sd]?|ing|als?)\b`)
	personalWords = compile(`(?i)\b(?:w[h]o(?:ever|m)?|[n]obody|[s]omebody|[e]verybody|[s]trangers?)\b`)
)

// formerNames are the files that contain former names.
var formerNames = []string{"tests/successors.txt", "CHANGELOG.md", "internal/backend/decode.go",
	"internal/backend/backend_test.go", "tests/lint/lint_test.go"}

// wrongWords finds words for which the field has another one.
func wrongWords(tree []File) []string {
	var found []string
	for _, f := range tree {
		if f.isGenerated() || f.isMeasured() || slices.Contains(formerNames, f.Path) ||
			!formerWords.mayMatch(f.Data) && !personalWords.mayMatch(f.Data) {
			continue
		}
		n, source := 0, f.within("templates", "internal", "cmd", "spec", "tools", "bench") && !f.isTest() &&
			!strings.Contains(f.Path, "/testdata/") && path.Ext(f.Path) != ".md"
		for line := range bytes.Lines(f.Data) {
			n++
			word := formerWords.Find(line)
			if word == nil && source {
				word = personalWords.Find(line)
			}
			if word != nil {
				found = append(found, fmt.Sprintf(
					"%s:%d: %q; write reject, backend, caller, producer or consumer", f.Path, n, word))
			}
		}
	}
	return found
}

// isNo is a former form of "X is not a Y"; "there is no" and "is no longer" are correct.
var isNo = regexp.MustCompile(`(?i)(\bthere )?\b(?:is|are|was|were) no (\S+)`)

// brokenMessages finds code lines and user texts with "is no" instead of "is not a".
func brokenMessages(tree []File) []string {
	var found []string
	for _, f := range tree {
		printed := f.within("templates", "internal", "cmd", "spec") && !f.isTest() &&
			!strings.Contains(f.Path, "/testdata/")
		if !printed || f.isMeasured() {
			continue
		}
		n := 0
		for line := range bytes.Lines(f.Data) {
			n++
			m := isNo.FindSubmatch(line)
			if m == nil || f.isComment(string(line)) {
				continue
			}
			if next := string(m[2]); len(m[1]) == 0 && next != "longer" && next != "more" {
				found = append(found, fmt.Sprintf("%s:%d: %q; write \"is not a\", or \"no such\"", f.Path, n, m[0]))
			}
		}
	}
	return found
}
