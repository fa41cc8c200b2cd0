package main

import (
	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/targets"
)

func (a *app) schema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of " + config.File,
		Long: "Print the JSON Schema of " + config.File + ", which editors use to complete and check keys.\n" +
			"`dlpackgen vet` also checks rules that a schema cannot express.",
		Example: "  dlpackgen schema > dlpackgen.schema.json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			sp, err := builtIn()
			if err != nil {
				return err
			}
			_, err = a.stdout.Write(config.Schema(sp, targets.Table()))
			return err
		},
	}
}
