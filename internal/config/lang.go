package config

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// checkLanguages reports kernels in Go without the target that generates their C functions, and
// that target without kernels in Go.
func (d *decoder) checkLanguages(cfg *Config, all []Target, section *yaml.Node) {
	inGo := contract.InGo(cfg.Contracts)
	maker := slices.IndexFunc(all, func(t Target) bool { return t.Collects })
	switch {
	case d.choice.AnyKernels:
	case maker < 0 && len(inGo) > 0:
		kernelKey(section, inGo[0].Name, "").Errorf("needs-target",
			"add `gokernels: {functions: IMPORT_PATH}` and `go: {}` to targets",
			"kernel %s has lang: go, and no target of this config generates the library of kernels in Go", inGo[0].Name)
	case maker >= 0 && len(inGo) == 0 && all[maker].at != nil && !d.diags.Failed():
		all[maker].at.Errorf("no-kernels", "write lang: go on a kernel, or omit the target",
			"target %s generates the library of kernels in Go, and no kernel has lang: go", all[maker].Name)
	}
}
