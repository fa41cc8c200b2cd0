package torch

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/dispatcher"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// emitted returns the files for descriptions of kernels by path, and each part as a file.
func emitted(t *testing.T, src string) (map[string]string, error) {
	t.Helper()
	return emittest.Emitted(t, emittest.Unfolded(Target), src, nil)
}

func TestKernelsThatTorchCannotExpress(t *testing.T) {
	_, err := emitted(t, `f: {args: {n: int}}
g: {args: {x: "float32[n]", y: "float32[n]? out = None"}}
h: {args: {x: "float32[n]"}, returns: {norm: float}}
i: {args: {x: "float32[n]"}, devices: {kDLVulkan: {}}}
j:
  args: {x: "float32[n]", sizes: "list[int]? = None"}
  returns: {y: "float32[n]"}
  backward: {kernel: k, saves: [sizes], of: [x]}
k: {args: {grad: "float32[n]", sizes: "list[int]?"}, returns: {dx: "float32[n]"}}
l: {args: {x: "float32[n]", seed: uint64 = 9223372036854775808, by: float64 = 9223372036854775808}}
`)
	require.Error(t, err)
	assert.Equal(t, []string{
		"kernel f takes no tensor: PyTorch finds the backend of an operator by its tensors",
		"kernel g writes to y, which may be None: PyTorch has no such argument",
		"kernel h returns the scalar norm, which PyTorch cannot compute for a graph: write float64[] for a " +
			"tensor of rank 0",
		"kernel i is for kDLVulkan, which PyTorch has no backend for",
		"kernel j saves sizes, which may be None: PyTorch saves no optional string or list",
		"kernel l has the default 9223372036854775808 for seed, and PyTorch's integers end at 9223372036854775807",
	}, strings.Split(err.Error(), "\n"))
}

// A batch becomes an additional leading dimension only if that cannot change the meaning of the
// description.
func TestHowVmapCallsAKernel(t *testing.T) {
	wants := map[string]string{
		`{args: {x: "T[..., n]", w: "T[n]"}, returns: {y: "T[...]"}}`:                          dispatcher.BatchJoined,
		`{args: {x: "T[..., n]", w: "T[n]"}, returns: {y: "T[..., w.size]"}}`:                  dispatcher.BatchJoined,
		`{args: {x: "T[..., n]"}, returns: {y: "T[...]"}, batch: none}`:                        dispatcher.BatchNone,
		`{args: {x: "T[n]"}, returns: {y: "T[n]"}}`:                                            dispatcher.BatchEach,
		`{args: {x: "T[...]", axis: int}, returns: {y: "T[...]"}}`:                             dispatcher.BatchEach,
		`{args: {x: "T[...]", axis: int32}, returns: {y: "T[...]"}}`:                           dispatcher.BatchEach,
		`{args: {x: "T[...]", by: float32}, returns: {y: "T[...]"}}`:                           dispatcher.BatchJoined,
		`{args: {x: "T[...]", axes: "list[int]"}, returns: {y: "T[...]"}}`:                     dispatcher.BatchEach,
		`{args: {x: "T[..., n]"}, returns: {y: "T[...]", s: "T[n]"}}`:                          dispatcher.BatchEach,
		`{args: {x: "T[n, ...]"}, returns: {y: "T[..., n]"}}`:                                  dispatcher.BatchEach,
		`{args: {x: "T[...rows]"}, returns: {y: "T[...rows]"}}`:                                dispatcher.BatchEach,
		`{args: {x: "T[..., n] column_major"}, returns: {y: "T[..., n]"}}`:                     dispatcher.BatchEach,
		`{args: {x: "T[...]", y: "T[...] inout"}, returns: {z: "T[...]"}}`:                     dispatcher.BatchEach,
		`{args: {x: "T[...]", y: "T[...] inout"}}`:                                             dispatcher.BatchEach,
		`{args: {x: "T[..., n]"}, returns: {y: "T[..., x.size]"}}`:                             dispatcher.BatchEach,
		`{args: {x: "T[..., n]"}, returns: {y: "T[...]"}, where: ["n > 1 or x.shape[0] < 9"]}`: dispatcher.BatchEach,
	}
	for src, want := range wants {
		all, err := emitted(t, "f: "+"{types: {T: [float32]}, symbol: f, "+src[1:])
		require.NoError(t, err, src)
		assert.Contains(t, all["dlpackgen_torch/described_operators.hpp"], "Batching::"+want+";", src)
		registered := strings.Contains(all["dlpackgen_torch/described_kernels.cpp"], "FuncTorchBatched")
		assert.Equal(t, want != dispatcher.BatchEach, registered, src)
	}
}

// Kernels are registered in their form, and a vendor's device type under its key, once for all
// types with that key.
func TestFormsAndVendorsKeys(t *testing.T) {
	k := emittest.Described(t, `f: {args: {x: "int8[n]"}, form: boxed_functor}`)
	k[0].Devices[0] = contract.Device{Name: "kDLAcme", Value: 1000, Torch: "PrivateUse1"}
	k[0].Devices = append(k[0].Devices, contract.Device{Name: "kDLExtDev", Value: 12})
	files, err := Target.Emit(&emit.Model{Release: emittest.Release(t, "1.3"), Contracts: k})
	all := emittest.Texts(t, files, err)
	assert.Contains(t, all["dlpackgen_torch/described_operators.hpp"], "Form form = Form::boxed_functor;")
	text := all["dlpackgen_torch/described_kernels.cpp"]
	assert.Equal(t, 1, strings.Count(text, "\nTORCH_LIBRARY_IMPL(dlpackgen, PrivateUse1,"), text)
	k[0].Devices[0].Torch = ""
	_, err = Target.Emit(&emit.Model{Release: emittest.Release(t, "1.3"), Contracts: k})
	assert.ErrorContains(t, err, "kernel f is for kDLAcme, which PyTorch has no backend for")
}
