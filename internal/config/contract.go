package config

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// scope is what the descriptions of kernels may refer to.
func (d *decoder) scope(cfg *Config, devices map[string]int64) contract.Scope {
	scope := contract.Scope{Devices: devices}
	for _, r := range d.selectedReleases(cfg) {
		for _, t := range r.DTypes {
			if !slices.ContainsFunc(scope.DTypes, func(k spec.DType) bool { return k.Name == t.Name }) {
				scope.DTypes = append(scope.DTypes, t)
			}
		}
	}
	return scope
}

// contracts compares the described kernels with each other, and with those that have a schema.
func (d *decoder) contracts(all []*contract.Reading, schemas map[string]string) (out []contract.Kernel) {
	contract.Compare(all)
	for _, r := range all {
		for _, symbol := range r.Symbols() {
			if other, again := schemas[symbol]; again {
				r.Node().Errorf("kernel-conflict", "give it a symbol of its own", "%s is the symbol of kernel %s already", symbol, other)
			}
		}
		out = append(out, r.Kernel)
	}
	return out
}
