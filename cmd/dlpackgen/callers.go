package main

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/targets"
)

// callers implements `list callers`: the hosts that can call a kernel.
const callers = "callers"

// described returns the kernels that the config describes. One of them must have the given name.
func described(q query) ([]contract.Kernel, error) {
	if q.kernel == "" {
		return nil, cannot("usage", "add --kernel NAME", "list callers takes the name of a kernel")
	}
	cfg, err := readConfig(q)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, k := range cfg.Contracts {
		names = append(names, k.Name)
	}
	if !slices.Contains(names, q.kernel) {
		return nil, cannot("unknown-kernel", diag.DidYouMean(q.kernel, names), "%s describes no kernel %q", q.config,
			q.kernel)
	}
	return cfg.Contracts, nil
}

// listCallers lists each target that generates a caller of the kernel, with its limits.
func listCallers(_ *app, q query) (list, error) {
	kernels, err := described(q)
	if err != nil {
		return list{}, err
	}
	k := &kernels[slices.IndexFunc(kernels, func(k contract.Kernel) bool { return k.Name == q.kernel })]
	all := []listed{}
	for _, row := range targets.All() {
		if !row.Contracts || row.Collects && k.GoFunc == "" {
			continue
		}
		caller := listedCaller{Target: row.Name, Verdict: "yes", Reasons: []string{}}
		if row.Limits != nil {
			caller.Reasons = orEmpty(row.Limits(k))
		}
		if len(caller.Reasons) > 0 {
			caller.Verdict = "limited"
		}
		if wrong := rejected(row, q.release, kernels, q.kernel); len(wrong) > 0 {
			caller.Verdict, caller.Reasons = "no", wrong
		}
		all = append(all, caller)
	}
	return list{Kernel: q.kernel, Callers: all}, nil
}

// rejected returns the reason why a target does not support the kernel.
func rejected(row emit.Target, r *spec.Release, all []contract.Kernel, name string) (reasons []string) {
	made, err := row.Manifest(&emit.Model{Release: r, Contracts: all, Import: "example.org/kernels"})
	for _, wrong := range append(emit.Rejected(err), emit.Rejected(made.LeftOut)...) {
		if wrong.Kernel == name && !slices.Contains(reasons, wrong.Text) {
			reasons = append(reasons, wrong.Text)
		}
	}
	return reasons
}
