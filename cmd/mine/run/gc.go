package run

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/pipeline/admin"
	"bitextmine/pipeline/store"
)

// NewGC makes mine gc.
func NewGC() *cobra.Command {
	var sweep admin.Sweep
	cmd := &cobra.Command{
		Use:   "gc [RUN]",
		Short: "Remove intermediate files that the last runs do not need",
		Long: `Remove from a work directory, that of the run in an output directory or --work, what none of the last runs made or used, and what killed processes left behind.
What a running run or task needs stays. With --cells searched cells that are merged are removed too, but a run from which
text was withdrawn searches them again.`,
		Args: flags.Arguments("a run", 0, 1),
	}
	work := workFlag(cmd)
	f := cmd.Flags()
	f.IntVar(&sweep.Keep, "keep", 1, "runs into each output directory whose intermediate files stay")
	f.BoolVar(&sweep.Cells, "cells", false, "sweep merged cells too")
	f.BoolVar(&sweep.Deleted, "deleted", false, "forget runs whose output directory is not there now, also on a disk that is not mounted")
	flags.DurationVar(f, &sweep.Older, "older", 24*time.Hour, "leave alone what is younger")
	f.BoolVar(&sweep.DryRun, "dry-run", false, "only say what would go")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		location, _, err := workOf(cmd, *work, args)
		if err != nil {
			return err
		}
		var swept *admin.Swept
		err = store.WithExisting(cmd.Context(), location, slog.Default(), func(st *store.Store) (err error) {
			swept, err = admin.GC(cmd.Context(), st, sweep, program.Version, slog.Default())
			return err
		})
		if swept != nil {
			verb := "removed"
			if sweep.DryRun {
				verb = "would remove"
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", verb, swept)
		}
		return err
	}
	return program.GoesOn(cmd)
}
