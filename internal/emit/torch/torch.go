// Package torch is the target "torch": the exchange table, the consumer and the
// kernels of PyTorch, which are compiled against libtorch. It copies the sources
// of templates/torch and knows no rule of the protocol itself.
package torch

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/templates"
)

// Target is the row of the table of targets. The capsule that consumers find the
// table by came with 1.3.
var Target = emit.Target{
	Name:    "torch",
	Doc:     "PyTorch, by its C++: an exchange table for torch.Tensor, at::Tensor from any library",
	Path:    "cpp",
	Oldest:  "1.3",
	Needs:   []string{"c", "cpp"},
	Kernels: true,
	Emit:    render,
}

// folder is what programs write before the names of the files.
const folder = "dlpackgen_torch/"

// render gives the files in the order of their names.
func render(m *emit.Model) ([]emit.File, error) {
	if err := check(m.Release); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(templates.Torch, "torch")
	if err != nil {
		return nil, err
	}
	files, err := kernelFiles(m)
	if err != nil {
		return nil, err
	}
	device, err := emit.DeviceInterface(m, folder)
	if err != nil {
		return nil, err
	}
	files = append(files, device)
	for _, entry := range entries {
		if entry.IsDir() {
			continue
		}
		text, err := fs.ReadFile(templates.Torch, "torch/"+entry.Name())
		if err != nil {
			return nil, err
		}
		files = append(files, emit.File{Path: folder + entry.Name(), Data: finish(m.Release, entry.Name(), text)})
	}
	return files, nil
}

// finish puts the banner before a text and the release into it.
func finish(r *spec.Release, name string, text []byte) []byte {
	return append([]byte(emit.Banner(name, r.Version)), emit.InNamespace(r, text)...)
}

// check reports what a spec of one's own lacks of the entities that the sources
// know by name.
func check(r *spec.Release) error {
	var errs []error
	for _, what := range emit.Lacking(r) {
		errs = append(errs, fmt.Errorf("the sources for torch build on %s, which DLPack %s of this spec lacks", what, r.Version))
	}
	return errors.Join(errs...)
}
