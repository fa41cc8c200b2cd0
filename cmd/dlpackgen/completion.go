package main

import (
	"github.com/spf13/cobra"
)

func (a *app) completion() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the completion script of a shell",
		Long:  "Print the completion script of a shell.",
		Example: "  source <(dlpackgen completion bash)\n" +
			"  dlpackgen completion zsh > \"${fpath[1]}/_dlpackgen\"\n" +
			"  dlpackgen completion fish | source\n" +
			"  dlpackgen completion powershell | Out-String | Invoke-Expression",
		ValidArgs: shells,
		Args:      oneOf("shell", shells),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch root := cmd.Root(); args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.stdout, true)
			case "zsh":
				return root.GenZshCompletion(a.stdout)
			case "fish":
				return root.GenFishCompletion(a.stdout, true)
			default:
				return root.GenPowerShellCompletionWithDesc(a.stdout)
			}
		},
	}
}
