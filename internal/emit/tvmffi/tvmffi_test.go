package tvmffi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
)

const described = `
add:
  doc: A "sum".
  args: {x: "float32[n]", by: "float = 1", name: "str? = None"}
  returns: {y: "float32[n]", rows: int}
`

func emitted(t *testing.T, options map[string]string) map[string]string {
	t.Helper()
	files, err := Target.Emit(&emit.Model{Release: emittest.Release(t, "1.3"), Options: options,
		Contracts: emittest.Described(t, described)})
	return emittest.Texts(t, files, err)
}

func TestFunctionsOfOlderTVMAreMadeOnRequest(t *testing.T) {
	assert.NotContains(t, emitted(t, nil)["kernels_tvmffi.c"], "dlpackgen_packed")
	with := emitted(t, map[string]string{"legacy": "old_"})["kernels_tvmffi.c"]
	assert.Contains(t, with, "\nint old_add(")
	assert.NotEmpty(t, checkPrefix("a-"))
	assert.Empty(t, checkPrefix("tvm_"))
}

func TestKeywordsInPython(t *testing.T) {
	text := emitted(t, nil)["kernels_tvmffi.py"]
	assert.Contains(t, text, "    def add(self_, x, by=1, name=None, *, out=None):\n        \"\"\"A \"sum\".\n")
	assert.Contains(t, text, "return _written(\"add\", self_.add_, (x, by, name), out, (True, False))")
	assert.Contains(t, text, "return (*self_.add_(x, by, name),)")
}

func TestTypesInMetadata(t *testing.T) {
	k := emittest.Described(t, described)
	require.Len(t, k, 1)
	const want = `{"type_schema":"{\"named_args\":{\"params\":[{\"type\":\"ffi.Tensor\"},{\"type\":\"float\"},` +
		`{\"type\":\"Optional\",\"args\":[{\"type\":\"ffi.String\"}]}],\"return\":[{\"type\":\"Tuple\",\"args\":` +
		`[{\"type\":\"ffi.Tensor\"},{\"type\":\"int\"}]}]},\"type\":\"ffi.Function\"}"}`
	assert.Equal(t, emit.CLiteral(want), metadata(&k[0]))
}
