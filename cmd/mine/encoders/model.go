// Package encoders has the commands that bring encoders of others here, check them, and make new ones.
package encoders

import (
	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
)

// NewModel makes mine model.
func NewModel() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "model",
		Short: "Get, import, check and change published encoders",
		Args:  flags.NoArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newList(), newGet(), newImport(), newCheck(), newCentre(), newQuantise())
	return cmd
}
