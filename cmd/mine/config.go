package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func newConfig() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the settings of a run and where each came from",
		Long:  "Print the settings that `mine run` with the same flags would use, and where each value came from:\ndefaults < --config < MINE_* environment < flags.",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, values, err := s.load()
			if err != nil {
				return err
			}
			return printSettings(cmd.OutOrStdout(), values)
		},
	}
	s.register(cmd)
	return cmd
}

func printSettings(w io.Writer, values []layered) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range values {
		shown, err := json.Marshal(v.value)
		if err != nil {
			shown = []byte(fmt.Sprint(v.value)) // --threshold nan, which a run refuses
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", v.key, shown, v.origin)
	}
	return table.Flush()
}
