package operation

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/admin"
)

// NewDiff makes mine diff.
func NewDiff() *cobra.Command {
	var asJSON bool
	show := 10
	cmd := &cobra.Command{
		Use:   "diff RUN1 RUN2",
		Short: "Compare two runs: pairs added, removed, rescored",
		Long:  "Compare the kept pairs of two runs, each named by its output directory or its bitext file: those added, removed, and rescored.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return badinput.Errorf("mine diff takes two runs, not %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := admin.Diff(cmd.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			return printDiff(cmd.OutOrStdout(), d, show, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print every change as a line of JSON")
	cmd.Flags().IntVar(&show, "show", show, "changes to show, best first; -1: all")
	return cmd
}

func printDiff(w io.Writer, d *admin.Difference, show int, asJSON bool) error {
	out := bufio.NewWriter(w)
	if asJSON {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		for _, c := range d.Changes {
			if err := enc.Encode(c); err != nil {
				return err
			}
		}
		return out.Flush()
	}
	fmt.Fprintf(out, "%d pairs before, %d after: %d added, %d removed, %d rescored\n", d.Before, d.After, d.Added, d.Removed, d.Rescored)
	if show < 0 || show > len(d.Changes) {
		show = len(d.Changes)
	}
	for _, c := range d.Changes[:show] {
		switch c.Kind {
		case admin.Added:
			fmt.Fprintf(out, "\n+ %.3f  %s\n         %s\n", c.After, c.Source, c.Target)
		case admin.Removed:
			fmt.Fprintf(out, "\n- %.3f  %s\n         %s\n", c.Before, c.Source, c.Target)
		default:
			fmt.Fprintf(out, "\n~ %.3f  %s\n  %.3f  %s\n", c.Before, c.Source, c.After, c.Target)
		}
	}
	if left := len(d.Changes) - show; left > 0 {
		fmt.Fprintf(out, "\n%d more; --show -1 shows all\n", left)
	}
	return out.Flush()
}
