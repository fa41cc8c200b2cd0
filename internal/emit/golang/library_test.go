package golang

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// inGo returns the library of a description.
func inGo(t *testing.T, src string) ([]contract.Kernel, *emit.Model) {
	t.Helper()
	all := emittest.Described(t, src)
	return all, &emit.Model{Release: emittest.Release(t, "1.3"), Contracts: all, Import: "example.org/x",
		Options: map[string]string{optionFunctions: "example.org/functions"},
		Library: emit.Library{Units: []string{"../python/_kernels.c"}, Folders: []string{"../python"}, Digest: "0123"}}
}

// Scalars and dtypes that Go cannot represent are errors, once each.
func TestKernelsInGoThatCannotBeMade(t *testing.T) {
	for src, want := range map[string]string{
		`f: {lang: go, types: {T: [float32, int4]}, args: {x: "T[n]"}}`: "kernel f has dtype int4 for T, which Go has no type for in " +
			"memory: describe a kernel in C, or take any[...]",
		`f: {lang: go, types: {T: [float16]}, args: {x: "T[n]"}, returns: {y: T}}`: "kernel f returns a scalar of float16, which C " +
			"represents as float: return a tensor of rank 0, as T[]",
	} {
		_, m := inGo(t, src)
		_, err := Library.Manifest(m)
		assert.EqualError(t, err, want)
	}
}

// A function has each kind of parameter in the order of the description, under the default name.
func TestTrampolines(t *testing.T) {
	_, m := inGo(t, `rms_norm: {lang: go, types: {T: [bool, bfloat16]}, args: {x: "T[n]", by: T, how: "str?",
  m: "int4[n]", axes: "list[int]"}, returns: {y: "T[n]", norm: float}}`)
	files, err := Library.Emit(m)
	texts := emittest.Texts(t, files, err)
	for _, line := range []string{
		"\t_ func(\n\t\tdlpack.Array[dlpack.Bool], // x\n\t\tdlpack.Bool, // by\n\t\t*string, // how\n",
		"\t\tdlpack.Tensor, // m\n\t\t[]int64, // axes\n",
		"\t\tdlpack.Array[dlpack.Bool], // y\n\t\t*float64, // norm\n\t) error = functions.RmsNorm[dlpack.Bool]\n",
		"dlpack.BFloat16From(float32(call.a1f)),",
	} {
		assert.Contains(t, texts["trampolines.go"], line)
	}
	assert.Contains(t, texts["unit_python__kernels.c"], "#include \"../python/_kernels.c\"")
	assert.Contains(t, texts["unit_python__kernels.c"], "0123")
	assert.NotContains(t, texts["main.go"], "fexceptions")
	m.Library.Units = append(m.Library.Units, "../torchshim/kernels_torch.c")
	files, err = Library.Emit(m)
	assert.Contains(t, emittest.Texts(t, files, err)["main.go"], "-fexceptions")
}

// Go calls kernels in Go directly, so the package of described kernels omits them.
func TestGoLeavesKernelsInGoOut(t *testing.T) {
	all, m := inGo(t, `f: {lang: go, args: {x: "int8[n]"}}`)
	manifest, err := Target.Manifest(m)
	require.NoError(t, err)
	for _, a := range manifest.Assets {
		assert.NotContains(t, a.To, "kernels/")
	}
	assert.Equal(t, []string{"left out: Go calls F itself"}, Target.Limits(&all[0]))
}
