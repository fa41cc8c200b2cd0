package config

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// kernels reads the section `kernels`.
func (d *decoder) kernels(cfg *Config, section *yaml.Node) (out []contract.Kernel) {
	if section == nil || isEmpty(section) || !section.Is(yaml.Mapping, "kernels") {
		return nil
	}
	if n := len(section.Entries); n > kernel.MaxKernels {
		section.Errorf("too-many", "describe the others in another config", "%d kernels, more than %d", n,
			kernel.MaxKernels)
		return nil
	}
	scope := d.scope(cfg)
	var all []*contract.Reading
	for _, e := range section.Entries {
		all = append(all, contract.Read(e, scope, d.diags))
	}
	contract.Compare(all)
	for _, r := range all {
		out = append(out, r.Kernel)
	}
	return out
}

// scope returns the names that descriptions of kernels may use.
func (d *decoder) scope(cfg *Config) contract.Scope {
	scope := contract.Scope{Devices: d.deviceValues(cfg), Torch: d.torch, Owners: d.deviceOwners(cfg)}
	for _, r := range d.selectedReleases(cfg) {
		scope.MaxNDim = r.Limits.NDim
		for _, t := range r.DTypes {
			if !slices.ContainsFunc(scope.DTypes, func(k spec.DType) bool { return k.Name == t.Name }) {
				scope.DTypes = append(scope.DTypes, t)
			}
		}
	}
	return scope
}

// checkContractsAreUsed reports described kernels without a target, and targets without kernels.
func (d *decoder) checkContractsAreUsed(cfg *Config, section *yaml.Node) {
	all := slices.Concat(cfg.Selected, cfg.Others)
	makes := func(t Target) bool { return t.Target.Contracts }
	if d.missed {
		return
	}
	if len(cfg.Contracts) > 0 && !slices.ContainsFunc(all, makes) {
		section.Errorf("unused-kernels", "add `kernels: {}` to targets, with `c: {}`",
			"no target of this config uses the described kernels")
	}
	d.checkContractNeeds(cfg, all)
	d.checkLanguages(cfg, all, section)
	d.checkContractsCanBeMade(cfg, all, section)
	for _, t := range all {
		if t.OnRequest && t.at != nil && len(cfg.Contracts) == 0 && !d.diags.Failed() {
			t.at.Warnf("no-kernels", "as in `kernels: {scale: {args: {x: \"float32[n] inout\"}}}`",
				"target %s needs a kernel with args or returns, and the config has none", t.Name)
		}
	}
}

// checkContractsCanBeMade reports valid kernels that a target does not support: its host cannot
// express them, or two names are equal in its language.
func (d *decoder) checkContractsCanBeMade(cfg *Config, all []Target, section *yaml.Node) {
	if len(cfg.Contracts) == 0 || d.diags.Failed() || d.choice.AnyKernels {
		return
	}
	for _, t := range all {
		r, err := d.spec.Release(t.Release)
		if err != nil || !t.Target.Contracts || t.at == nil {
			continue
		}
		// The import path of a folder determines no name, and only the command knows it.
		_, err = t.Manifest(&emit.Model{Release: cfg.Extend(r), Options: t.Options, Contracts: cfg.Contracts,
			Import: "example.org/kernels"})
		for _, about := range emit.Rejected(err) {
			code, hint := "unsupported-kernel",
				"describe the kernel differently, or in a config that does not list the "+
					"target; see `dlpackgen list callers --kernel "+about.Kernel+"`"
			if about.Clash {
				code, hint = "kernel-conflict",
					"rename the kernel or its argument; `symbol:` keeps the name of the C function"
			}
			kernelKey(section, about.Kernel, about.Param).Errorf(code, hint, "target %s: %s", t.Name, about)
		}
	}
}

// kernelKey returns the node of a kernel's name, or of the name of its argument or result.
func kernelKey(section *yaml.Node, name, param string) *yaml.Node {
	described := entry(section, name)
	for _, part := range []string{"args", "returns"} {
		if lines := entry(described.Value, part); lines.Value != nil {
			if line := entry(lines.Value, param); line.Key != nil {
				return line.Key
			}
		}
	}
	return described.Key
}

// entry finds a key of a mapping. Both nodes are nil if the key is missing.
func entry(in *yaml.Node, key string) (found yaml.Entry) {
	for _, e := range in.Entries {
		if e.Key.Value == key {
			found = e
		}
	}
	return found
}

// checkContractNeeds reports targets whose files for described kernels include headers that no
// target generates.
func (d *decoder) checkContractNeeds(cfg *Config, all []Target) {
	for _, t := range all {
		for _, require := range t.ContractNeeds {
			made := slices.ContainsFunc(all, func(t Target) bool { return t.Name == require })
			if len(cfg.Contracts) > 0 && t.at != nil && !made {
				t.at.Errorf("needs-target", "add `"+require+": {}` to targets",
					"target %s includes headers of target %s for kernels with args or returns", t.Name, require)
			}
		}
	}
}
