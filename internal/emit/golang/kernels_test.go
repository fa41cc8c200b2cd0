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

// described is a kernel of the CPU.
func described(name string, args ...contract.Param) contract.Kernel {
	return contract.Kernel{Name: name, Args: args, Devices: []contract.Device{{Name: "kDLCPU", Value: 1,
		Functions: []contract.Function{{Symbol: name}}}}}
}

func option(name string) contract.Param {
	return contract.Param{Name: name, Line: "int = 0", Kind: contract.Int, Var: contract.None,
		Default: &notation.Value{Kind: notation.Int}}
}

// Names that Go could not tell apart are errors, and so is a package that nothing can import.
func TestKernelsThatGoCannotHave(t *testing.T) {
	cuda := described("f", option("stream"))
	cuda.Devices[0].Name = "kDLCUDA"
	made := described("f")
	made.Results = []contract.Param{{Name: "y", Kind: contract.Tensor, Var: contract.None}}
	for want, all := range map[string][]contract.Kernel{
		"kernel a_b and kernel aB would both be AB in Go; rename one":      {described("a_b"), described("aB")},
		"the package and kernel c would both be C in Go":                   {described("c")},
		"the package and kernel some would both be Some in Go; rename one": {described("some")},
		"kernel f and kernel f_new would both be FNew in Go": {made,
			described("f_new")},
		"kernel f and kernel f_options would both be FOptions in Go": {described("f",
			option("a")), described("f_options")},
		"kernel f: argument a_b and argument aB would both be the option AB in Go; rename one": {described("f",
			option("a_b"), option("aB"))},
		"kernel f: the stream of the call and argument stream would both be the option Stream in Go": {cuda},
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

// Arguments hide nothing that the function uses, and are no words of Go.
func TestIdentifiers(t *testing.T) {
	for name, want := range map[string]string{"x": "x", "func": "func_", "answer": "answer_", "N": "N_",
		"unsafe": "unsafe_"} {
		assert.Equal(t, want, identifier(name))
	}
}
