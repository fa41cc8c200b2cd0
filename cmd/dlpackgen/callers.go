package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/targets"
)

// callers is the word of list for the hosts that can call a kernel.
const callers = "callers"

// described returns the described kernels of a config, one of which has the name.
func described(cmd *cobra.Command, file, name string) ([]contract.Kernel, error) {
	if err := notEmpty(cmd, "config", "kernel"); err != nil {
		return nil, err
	}
	if name == "" {
		return nil, cannot("usage", "add --kernel NAME", "list callers takes the name of a kernel")
	}
	src, err := readInput(file)
	if err != nil {
		return nil, err
	}
	cfg, findings := config.Decode(file, src, spec.Embedded(), targets.Table(), config.Choice{AnyKernels: true})
	if err := invalid(findings); err != nil {
		return nil, err
	}
	var names []string
	for _, k := range cfg.Contracts {
		names = append(names, k.Name)
	}
	if !slices.Contains(names, name) {
		return nil, cannot("unknown-kernel", diag.DidYouMean(name, names), "%s describes no kernel %q", file, name)
	}
	return cfg.Contracts, nil
}

// listCallers prints a line for each target that makes a caller of the kernel, and for each
// further limit.
func listCallers(w io.Writer, r *spec.Release, all []contract.Kernel, name string) {
	k := &all[slices.IndexFunc(all, func(k contract.Kernel) bool { return k.Name == name })]
	for _, row := range targets.All() {
		if !row.Contracts || row.Collects && k.GoFunc == "" {
			continue
		}
		verdict, reasons := "yes", []string(nil)
		if row.Limits != nil {
			reasons = row.Limits(k)
		}
		if len(reasons) > 0 {
			verdict = "limited"
		}
		if wrong := rejected(row, r, all, name); len(wrong) > 0 {
			verdict, reasons = "no", wrong
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", row.Name, verdict, strings.Join(reasons, "; "))
	}
}

// rejected returns why a target does not make the kernel.
func rejected(row emit.Target, r *spec.Release, all []contract.Kernel, name string) (reasons []string) {
	made, err := row.Manifest(&emit.Model{Release: r, Contracts: all, Import: "example.org/kernels"})
	for _, wrong := range append(emit.Rejected(err), emit.Rejected(made.LeftOut)...) {
		if wrong.Kernel == name && !slices.Contains(reasons, wrong.Text) {
			reasons = append(reasons, wrong.Text)
		}
	}
	return reasons
}
