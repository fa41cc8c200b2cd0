package diag

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSortedByPlaceThenByOrder(t *testing.T) {
	var l List
	for _, d := range []Diagnostic{
		{Code: "5", Pos: Pos{"b", 1, 1}}, {Code: "3", Pos: Pos{"a", 2, 2}}, {Code: "4", Pos: Pos{"a", 2, 2}},
		{Code: "2", Pos: Pos{"a", 2, 1}}, {Code: "1", Pos: Pos{File: "a"}}, {Code: "0"},
	} {
		l.Add(d)
	}
	var codes string
	for _, d := range l.Sorted() {
		codes += d.Code
	}
	assert.Equal(t, "012345", codes)
}

func TestFailedByErrorsAlone(t *testing.T) {
	var l List
	l.Add(Diagnostic{Severity: Warning}, Diagnostic{Severity: Note})
	assert.False(t, l.Failed())
	l.Errorf(Pos{}, "code", "text %d", 1)
	assert.True(t, l.Failed())
	assert.Equal(t, 3, l.Len())
}

func TestListIsBounded(t *testing.T) {
	var l List
	for range MaxFindings {
		l.Add(Diagnostic{Severity: Note})
	}
	require.Len(t, l.Sorted(), MaxFindings)
	l.Errorf(Pos{}, "late", "the first error")
	assert.True(t, l.Failed(), "an error that is not kept still fails the run")
	assert.Equal(t, MaxFindings+1, l.Len())
	last := l.Sorted()[MaxFindings]
	assert.Equal(t, Diagnostic{Severity: Error, Code: "too-many", Text: "1 more findings are not shown"}, last)
}

func TestOmittedFindingsHaveTheHighestSeverity(t *testing.T) {
	for want, tail := range map[Severity][]Severity{
		Note: {Note, Note}, Warning: {Note, Warning, Note}, Error: {Warning, Error, Note},
	} {
		var l List
		l.Add(make([]Diagnostic, MaxFindings)...)
		for _, s := range tail {
			l.Add(Diagnostic{Severity: s})
		}
		assert.Equal(t, want, l.Sorted()[MaxFindings].Severity)
	}
}

func TestDidYouMean(t *testing.T) {
	candidates := []string{"path", "package", "dlpack"}
	for word, want := range map[string]string{
		"a-package-with-a-long-but-quite-other-name": "",
		"pth": `did you mean "path"?`, "PATH": `did you mean "path"?`, "pakcage": `did you mean "package"?`,
		"zebra": "", "": "",
	} {
		assert.Equal(t, want, DidYouMean(word, candidates), word)
	}
	assert.Empty(t, DidYouMean("foo", []string{"io", "tool"}), "two of three letters differ")
	assert.Equal(t, `did you mean "io"?`, DidYouMean("ios", []string{"tool", "io"}))
}

func TestOneOf(t *testing.T) {
	assert.Equal(t, "one of text, json", OneOf([]string{"text", "json"}))
	assert.Equal(t, "json", OneOf([]string{"json"}))
}

func TestPosString(t *testing.T) {
	assert.Equal(t, []string{"", "f", "f:3:4"},
		[]string{Pos{Line: 3}.String(), Pos{File: "f"}.String(), Pos{"f", 3, 4}.String()})
}
