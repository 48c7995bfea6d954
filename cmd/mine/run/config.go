package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/pipeline"
	"bitextmine/pipeline/progress"
)

// NewConfig makes mine config.
func NewConfig() *cobra.Command {
	var s flags.Settings
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the settings of a run and where each came from",
		Long: "Print the settings that `mine run` with the same flags would use, and where each value came " +
			"from:\ndefaults < --config < MINE_* environment < flags. Exit code 2 if a run would refuse them, whatever its text.",
		Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, values, err := s.Load()
			if err != nil {
				return err
			}
			return errors.Join(printSettings(cmd.OutOrStdout(), values), check(cfg))
		},
	}
	s.Register(cmd)
	return cmd
}

// check does every check of a run that reads no text and makes nothing.
func check(cfg *pipeline.Config) error {
	if err := pipeline.Check(*cfg, program.RunOptions(progress.Silent)); err != nil {
		return err
	}
	_, _, err := goldIDs(cfg.Gold)
	return err
}

func printSettings(w io.Writer, values []flags.Layered) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range values {
		shown, err := json.Marshal(v.Value)
		if err != nil {
			shown = []byte(fmt.Sprint(v.Value)) // a NaN, which JSON lacks and a run refuses
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", v.Key, shown, v.Origin)
	}
	return table.Flush()
}
