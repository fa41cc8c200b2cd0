package torchshim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
)

// emitted returns the files for descriptions of kernels, by path.
func emitted(t *testing.T, src string, options map[string]string) (map[string]string, error) {
	t.Helper()
	return emittest.Emitted(t, Target, src, options)
}

func TestKernelsThatPyTorchCannotExpress(t *testing.T) {
	_, err := emitted(t, `{f: {args: {n: int}}, i: {args: {x: "float32[n]"}, devices: {kDLVulkan: {}}}}`, nil)
	require.Error(t, err)
	assert.Equal(t, []string{
		"kernel f takes no tensor: PyTorch finds the backend of an operator by its tensors",
		"kernel i is for kDLVulkan, which PyTorch has no backend for",
	}, strings.Split(err.Error(), "\n"))
}

func TestTheModule(t *testing.T) {
	for module, text := range map[string]string{
		"":             "\nimport dlpackgen_torchshim as shim\n",
		"_other":       "\nimport dlpackgen_torchshim as shim\n",
		"lib._kernels": "\nfrom lib import dlpackgen_torchshim as shim\n",
	} {
		all, err := emitted(t, `{f: {args: {x: "float32[n]"}}}`, map[string]string{"module": module})
		require.NoError(t, err)
		assert.Contains(t, all["kernels_torch.py"], text, module)
	}
	assert.Empty(t, Target.Options[0].Check("lib._kernels"))
	assert.Contains(t, Target.Options[0].Check("lib/kernels"), "is not the name of a module")
}
