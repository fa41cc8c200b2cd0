package cformat

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// nested returns a call that contains another one, and so on.
func nested(depth int) string {
	text := "call->dims.n"
	for i := range depth {
		text = []string{"dlpackgen_add(", "dlpackgen_multiply("}[i%2] + text + ", call->dims.n, &bad)"
	}
	return text
}

// layouts counts how often parts of a statement are laid out.
func layouts(text string) int {
	p := part{text: text, at: 4, next: 8, known: &known{}}
	p.layOut()
	return p.known.made
}

// Without known layouts, each call doubles their number. Without the end at the last column, the
// number grows with the square of the depth.
func TestNestedCallsTakeAFewLayoutsEach(t *testing.T) {
	for _, depth := range []int{6, 12, 18, 64} {
		if !assert.LessOrEqual(t, layouts(nested(depth)), 64*depth, depth) {
			break // the next one might not end
		}
	}
}

// The innermost calls begin after the last column.
func TestDeepCallsKeepTheirTokens(t *testing.T) {
	text := "  n = " + nested(64) + ";\n"
	out := Fold(text)
	assert.Equal(t, strings.Join(strings.Fields(text), ""), strings.Join(strings.Fields(out), ""))
}

// The text is copied once for all functions, and not once for each: that would be a hundred times
// as much for ten times as many.
func TestJoiningFunctionsCopiesTheTextOnce(t *testing.T) {
	text := func(functions int) string { return strings.Repeat("void f(void) {\n  g();\n}\n", functions) }
	assert.LessOrEqual(t, allocated(func() { joinShort(text(2000)) }), 20*allocated(func() { joinShort(text(200)) }))
	assert.Equal(t, strings.Repeat("void f(void) { g(); }\n", 3), joinShort(text(3)))
}

// allocated counts the bytes that a function allocates.
func allocated(run func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A large file is copied when it is folded and when it is joined, but not for each line or chunk.
func TestWriterCopiesTheTextAFewTimes(t *testing.T) {
	text := strings.Repeat("void f(void) {\n  g();\n}\n\n"+strings.Repeat("int x;\n", 50), 4000)
	var out Writer
	bytes := allocated(func() {
		for line := range strings.Lines(text) {
			_, _ = out.WriteString(line)
		}
		out.Texts()
	})
	assert.LessOrEqual(t, bytes, uint64(6*len(text)))
}
