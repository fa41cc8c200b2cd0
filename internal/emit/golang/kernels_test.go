package golang

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
)

// described is a kernel for the CPU.
func described(name string, args ...contract.Param) contract.Kernel {
	return contract.Kernel{Name: name, Args: args, Devices: []contract.Device{{Name: "kDLCPU", Value: 1,
		Functions: []contract.Function{{Symbol: name}}}}}
}

func option(name string) contract.Param {
	return contract.Param{Name: name, Line: "int = 0", Kind: contract.Int, Var: contract.None,
		Default: &notation.Value{Kind: notation.Int}}
}

// Names that would be equal in Go are errors, and so is a package that cannot be imported.
func TestKernelsThatGoCannotHave(t *testing.T) {
	cuda := described("f", option("stream"))
	cuda.Devices[0].Name = "kDLCUDA"
	made := described("f")
	made.Results = []contract.Param{{Name: "y", Kind: contract.Tensor, Var: contract.None}}
	for want, all := range map[string][]contract.Kernel{
		"kernel aB would be AB in Go, a name of kernel a_b; rename one":      {described("a_b"), described("aB")},
		"kernel c would be C in Go, a name of the package":                   {described("c")},
		"kernel some would be Some in Go, a name of the package; rename one": {described("some")},
		"kernel f_new would be FNew in Go, a name of kernel f": {made,
			described("f_new")},
		"kernel f_options would be FOptions in Go, a name of kernel f": {described("f",
			option("a")), described("f_options")},
		"kernel f would have two options AB in Go, argument a_b and argument aB; rename one": {described("f",
			option("a_b"), option("aB"))},
		"kernel f would have two options Stream in Go, the stream of the call and argument stream": {cuda},
	} {
		_, err := Target.Manifest(&emit.Model{Release: emittest.Release(t, "1.3"), Import: "example.org/x",
			Contracts: all})
		require.Error(t, err, want)
		assert.Contains(t, err.Error(), want)
	}
	alone := []contract.Kernel{described("f")}
	_, err := Target.Manifest(&emit.Model{Release: emittest.Release(t, "1.3"), Contracts: alone})
	require.Error(t, err)
	assert.Contains(t, err.Error(), "set `import:` of target go, or generate inside a Go module")
}

// Arguments neither shadow names that the function uses, nor are keywords of Go.
func TestIdentifiers(t *testing.T) {
	for name, want := range map[string]string{"x": "x", "func": "func_", "answer": "answer_", "N": "N_",
		"unsafe": "unsafe_"} {
		assert.Equal(t, want, identifier(name))
	}
}
