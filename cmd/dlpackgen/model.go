package main

import (
	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/modeldoc"
	"github.com/dlpackgen/dlpackgen/internal/targets"
)

func (a *app) model() *cobra.Command {
	var version, file string
	cmd := &cobra.Command{
		Use:   "model",
		Short: "Print a release and the kernels of a config as data",
		Long: "Print the documented model: the enums, structs, layouts, functions and dtypes of a release, and the\n" +
			"devices and kernels of a config. Templates of your own targets read the same data.",
		Example: "  dlpackgen model\n  dlpackgen model --dlpack 1.1 --config dlpackgen.yaml --format json",
		Args:    noArgs,
	}
	dlpackFlag(cmd, &version)
	cmd.Flags().StringVar(&file, "config", "", "`FILE` with devices and kernels to include")
	choiceFlag(cmd, "format", "json, on stdout", "json")
	cmd.RunE = func(*cobra.Command, []string) error {
		if err := notEmpty(cmd, "config", "dlpack"); err != nil {
			return err
		}
		if file != "" && !cmd.Flags().Changed("dlpack") {
			version = ""
		}
		doc, err := modelOf(version, file)
		if err != nil {
			return err
		}
		_, err = a.stdout.Write(doc.JSON())
		return err
	}
	return cmd
}

// modelOf returns the model of a release. Without a version, this is the release of the config.
func modelOf(version, file string) (modeldoc.Document, error) {
	sp, err := builtIn()
	if err != nil {
		return modeldoc.Document{}, err
	}
	cfg := &config.Config{Release: "latest"}
	if file != "" {
		src, err := readInput(file)
		if err != nil {
			return modeldoc.Document{}, err
		}
		choice := config.Choice{Release: version, AnyKernels: true}
		var findings *diag.List
		cfg, findings = config.Decode(file, src, sp, targets.Table(), choice)
		if err := invalid(findings); err != nil {
			return modeldoc.Document{}, err
		}
	}
	if version == "" {
		version = cfg.Release
	}
	release, err := releaseFlag(sp, version)
	if err != nil {
		return modeldoc.Document{}, err
	}
	return modeldoc.Of(cfg.Extend(release), cfg.Contracts), nil
}
