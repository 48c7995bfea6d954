package run

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/pipeline/admin"
	"bitextmine/pipeline/store"
)

// workFlag adds --work to a command that looks at a store.
func workFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("work", filepath.Join("mined", "work"), "work directory or bucket of the runs")
}

// NewStatus makes mine status.
func NewStatus() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say what of a run is done, running, failed and left",
		Long: "Say what of the last run in a work directory is done, running, failed and left. It works from any machine " +
			"that sees the directory or bucket.",
		Args: flags.NoArguments,
	}
	work := workFlag(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var s *admin.Status
		err := store.WithExisting(cmd.Context(), *work, slog.Default(), func(st *store.Store) (err error) {
			s, err = admin.ReadStatus(cmd.Context(), st, program.Version)
			return err
		})
		if err != nil {
			return err
		}
		if asJSON {
			enc := json.NewEncoder(cmd.OutOrStdout())
			enc.SetIndent("", "  ")
			return enc.Encode(s)
		}
		return printStatus(cmd.OutOrStdout(), s)
	}
	return cmd
}

func printStatus(out io.Writer, s *admin.Status) error {
	fmt.Fprintf(out, "run %d, %s-%s into %s, started %s on %s\n\n", s.Run.Number, s.Run.Source, s.Run.Target, s.Run.Out,
		s.Run.Since.Local().Format(time.DateTime), s.Run.Host)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "stage\ttasks\tdone\trunning\tfailed\tleft\trate\t\n")
	for _, stage := range s.Stages {
		rate := ""
		if stage.Rate > 0 {
			rate = fmt.Sprintf("%.3g %s/s", stage.Rate, stage.Unit)
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t\n", stage.Stage, stage.Tasks, stage.Done, stage.Running,
			stage.Failed, stage.Left, rate)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, t := range s.Tasks {
		fmt.Fprintf(out, "\ntask %d (%s) %s: %s, process %d, since %s", t.Index, t.Stage, t.State, t.Host, t.PID,
			t.Since.Local().Format(time.DateTime))
		if t.Error != "" {
			fmt.Fprintf(out, ": %s", t.Error)
		}
	}
	if s.Tasks != nil {
		fmt.Fprintln(out)
	}
	return nil
}
