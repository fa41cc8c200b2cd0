package main

import (
	"cmp"
	"errors"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/targets"
)

// listTargets lists the built-in targets, and those that the config adds: templates and backends. A
// config that the user did not name may be missing or invalid.
func listTargets(a *app, q query) (list, error) {
	all := []listed{}
	for _, row := range targets.All() {
		all = append(all, listedRow(row))
	}
	own, err := ownTargets(q)
	var missing *missingInput
	var wrong *failure
	switch {
	case q.cmd.Flags().Changed("config") && err != nil:
		return list{}, err
	case errors.As(err, &missing):
	case errors.As(err, &wrong):
		first := wrong.findings[0]
		first.Severity, first.Text = diag.Warning, "targets of your own are not listed: "+first.Text
		a.printText([]diag.Diagnostic{first})
	}
	return list{Targets: append(all, own...)}, nil
}

// ownTargets lists the targets that the config adds.
func ownTargets(q query) (own []listed, err error) {
	cfg, err := readConfig(q)
	if err != nil {
		return nil, err
	}
	for _, t := range cfg.Selected {
		if slices.Contains(targets.Names(), t.Name) {
			continue
		}
		row := listedRow(t.Target)
		row.Own, row.Templates = true, t.Templates
		own = append(own, row)
	}
	return own, nil
}

// readConfig reads a config only for its targets and kernels.
func readConfig(q query) (*config.Config, error) {
	src, err := readInput(q.config)
	if err != nil {
		return nil, err
	}
	cfg, findings := config.Decode(q.config, src, q.spec, targets.Table(), config.Choice{AnyKernels: true})
	return cfg, invalid(findings)
}

func listedRow(t emit.Target) listedTarget {
	return listedTarget{Name: t.Name, Oldest: cmp.Or(t.Oldest, "0.1"), Doc: t.Doc, Needs: orEmpty(t.Needs),
		KernelNeeds: orEmpty(t.ContractNeeds), about: t.About()}
}
