package torch

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/kernel"
)

// described is a kernel for the CPU.
func described(t *testing.T, name, schema string, likes ...string) kernel.Kernel {
	t.Helper()
	s, fault := kernel.Parse(schema)
	require.Nil(t, fault)
	for i := range s.Results {
		s.Results[i].Like = likes[min(i, len(likes)-1)]
	}
	return kernel.Kernel{Name: name, Namespace: "lib", Symbol: "lib_" + name, Form: "function",
		Devices: []kernel.Device{{Name: "kDLCPU", Value: 1}}, Schema: s}
}

// several have what can be said of kernels, each at least once.
func several(t *testing.T) []kernel.Kernel {
	square := described(t, "square", "(Tensor x) -> Tensor", "x")
	square.Backward, square.Doc = "square_backward", "Squares each element."
	back := described(t, "square_backward", "(Tensor grad, Tensor x) -> Tensor dx", "x")
	both := described(t, "both", "(Tensor? w, Tensor result0, int n, float a, bool on) -> (Tensor, Tensor y)",
		"result0")
	both.Header, both.Error, both.Form, both.Strided = "lib/kernels.h", "lib_error", "boxed_functor", true
	fill := described(t, "fill", "(Tensor(a!) out) -> ()")
	fill.Namespace, fill.Error = "other", "other_error"
	fill.Devices = []kernel.Device{{Name: "kDLCUDA", Value: 2}, {Name: "kDLROCM", Value: 10},
		{Name: "kDLCPU", Value: 1}}
	return []kernel.Kernel{square, back, both, fill}
}

func TestKernelsAreRendered(t *testing.T) {
	files, err := Target.Emit(&emit.Model{Release: emittest.Release(t, "1.3"), Kernels: several(t)})
	require.NoError(t, err)
	archive := &txtar.Archive{Comment: []byte("Target torch for the kernels of kernels_test.go.\n")}
	for _, f := range files {
		if _, fixed := rendered(t, emittest.Release(t, "1.3"))[f.Path]; !fixed {
			assert.NotRegexp(t, `(?m)[ \t]+$|\n\n\n\n|<no value>|\{\{`, string(f.Data), f.Path)
			archive.Files = append(archive.Files, txtar.File{Name: f.Path, Data: f.Data})
		}
	}
	require.NotEmpty(t, archive.Files)
	golden.Assert(t, "out/torch/kernels.txtar", txtar.Format(archive))
	golden.Orphans(t, "out/torch", []string{"out/torch/kernels.txtar", "out/torch/described.txt"})
}

// Parameters are not named as macros are, which others include beside the header.
func TestParametersAreNoMacros(t *testing.T) {
	k := described(t, "f", "(Tensor NULL, int INT64_MAX, int N, Tensor(a!) out) -> Tensor EOF", "NULL")
	assert.Equal(t,
		"const DLTensor *NULL_, int64_t INT64_MAX_, int64_t N, DLTensor *out, DLTensor *EOF_, void *stream",
		prototype(k.Schema))
	op := viewKernel(k)
	assert.Equal(t, "const at::Tensor&, int64_t, int64_t, at::Tensor&", op.Parameters)
	assert.Equal(t, []string{"NULL", "INT64_MAX", "N", "out"}, op.Arguments, "which messages have")
}

// A vendor's type of device has the key that its description says; without one, PyTorch
// has nothing for it.
func TestAVendorsDeviceHasItsKey(t *testing.T) {
	k := described(t, "f", "(Tensor x) -> ()")
	k.Devices = []kernel.Device{{Name: "kDLAcme", Value: 1000, Torch: "PrivateUse1"}, {Name: "kDLExtDev", Value: 12}}
	files, err := Target.Emit(&emit.Model{Release: emittest.Release(t, "1.3"), Kernels: []kernel.Kernel{k}})
	require.NoError(t, err)
	var text strings.Builder
	for _, f := range files {
		text.Write(f.Data)
	}
	assert.Contains(t, text.String(), "c10::DispatchKey::PrivateUse1")
	assert.Equal(t, 1, strings.Count(text.String(), "\nTORCH_LIBRARY_IMPL(lib, PrivateUse1,"), "once for both")
	k.Devices[0].Torch = ""
	_, err = Target.Emit(&emit.Model{Release: emittest.Release(t, "1.3"), Kernels: []kernel.Kernel{k}})
	assert.ErrorContains(t, err, "kernel f is for kDLAcme, which PyTorch has no back end for")
}

func TestWhatTorchCannotDoIsNamed(t *testing.T) {
	vulkan := described(t, "f", "(Tensor x) -> ()")
	vulkan.Devices = []kernel.Device{{Name: "kDLVulkan", Value: 7}}
	_, err := Target.Emit(&emit.Model{Release: emittest.Release(t, "1.3"),
		Kernels: []kernel.Kernel{vulkan, described(t, "g", "(int n) -> ()")}})
	require.Error(t, err)
	assert.Equal(t, []string{
		"kernel f is for kDLVulkan, which PyTorch has no back end for",
		"kernel g takes no tensor: PyTorch finds the back end of an operator by its tensors",
	}, strings.Split(err.Error(), "\n"))
}
