package targets

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/templates"
)

// typeOfTorch matches the lines that convert PyTorch's device types: the type, and DLPack's types
// in PyTorch for ROCm and in others.
var typeOfTorch = regexp.MustCompile(`(?:DeviceType::|== devices->)(\w+)\) return (?:.* \? (\w+) : )?(\w+);`)

// Messages contain DLPack's name of a device, so both callers of PyTorch convert its types equally.
func TestCallersOfTorchHaveTheSameDeviceTypes(t *testing.T) {
	release, kernels := emittest.Release(t, "1.3"), described(t)
	converted := func(target, file string) map[string][2]string {
		files, err := row(t, target).Emit(modelOf(t, row(t, target), "1.3", kernels))
		all := map[string][2]string{}
		for _, found := range typeOfTorch.FindAllStringSubmatch(emittest.Texts(t, files, err)[file], -1) {
			all[strings.ToLower(found[1])] = [2]string{found[2], found[3]}
		}
		return all
	}
	want := map[string][2]string{}
	for _, k := range release.TorchKeys() {
		want[k.Name] = [2]string{k.ROCm, k.Type}
	}
	require.Equal(t, [2]string{"kDLROCM", "kDLCUDA"}, want["cuda"])
	assert.Equal(t, want, converted("torch", "dlpackgen_torch/read.hpp"))
	delete(want, "maia") // PyTorch's C shim does not report it
	assert.Equal(t, want, converted("torchshim", "kernels_torch.c"))
}

// The device types of PyTorch are listed only in the spec.
func TestDeviceTypesOfTorchAreInTheSpecAlone(t *testing.T) {
	foreign := regexp.MustCompile(`\bkDL(OneAPI|Metal|MAIA|ExtDev|ROCM)\b`)
	check := func(tree fs.FS, folder, name string) {
		text, err := fs.ReadFile(tree, name)
		require.NoError(t, err)
		assert.Empty(t, foreign.FindAllString(string(text), -1), folder+name)
	}
	for _, folder := range []string{"torch", "torchshim"} {
		require.NoError(t, fs.WalkDir(templates.Files, folder, func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && name != "torch/stream.hpp" { // streams of one device type
				check(templates.Files, "templates/", name)
			}
			return err
		}))
	}
	emitter := os.DirFS(filepath.Join(golden.Root(t), "internal", "emit", "dispatcher"))
	check(emitter, "internal/emit/dispatcher/", "dispatcher.go")
}

func TestDevicesThatTorchLacks(t *testing.T) {
	const k = "f: {devices: {%: {}}, args: {x: 'float32[n]'}, returns: {y: 'float32[n]'}}\n"
	for device, want := range map[string][2]string{
		"kDLCPU": {}, "kDLROCM": {},
		"kDLVulkan": {"for kDLVulkan, which PyTorch has no backend for",
			"for kDLVulkan, which PyTorch has no backend for"},
		"kDLMAIA": {"", "is for kDLMAIA, which PyTorch's C shim does not report"},
	} {
		for i, target := range []string{"torch", "torchshim"} {
			all := emittest.Described(t, mutant.Once(t, k, "%", device))
			_, err := row(t, target).Emit(&emit.Model{Release: emittest.Release(t, "1.3"), Contracts: all})
			if want[i] == "" {
				assert.NoError(t, err, device)
			} else {
				assert.ErrorContains(t, err, want[i])
			}
		}
	}
}
