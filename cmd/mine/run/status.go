package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/admin"
	"bitextmine/pipeline/multiway"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/store"
)

// workFlag adds --work to a command that looks at a store.
func workFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("work", filepath.Join("mined", "work"), "work directory or bucket of the runs")
}

// workOf is the work directory that a command looks at, that of the run in an output directory or --work, and which of
// its runs were named.
func workOf(cmd *cobra.Command, work string, args []string) (string, admin.Into, error) {
	if len(args) == 0 {
		return work, admin.Into{}, nil
	}
	if cmd.Flags().Changed("work") {
		return "", admin.Into{}, badinput.Errorf("%s: %s and --work both name the runs; give one", cmd.CommandPath(), args[0])
	}
	report, dir, err := record.ReadLatest(args[0])
	if err == nil {
		out := dir
		if filepath.Base(dir) == record.LatestName {
			out = filepath.Dir(dir)
		}
		return report.WorkPath(dir), admin.Into{Out: out, Plan: report.PlanID}, nil
	}
	if many, failure := multiway.ReadReport(args[0]); failure == nil {
		for _, p := range slices.Backward(many.Pairs) {
			if report, dir, failure := record.ReadLatest(filepath.Join(args[0], p.Pair)); failure == nil {
				return report.WorkPath(dir), admin.Into{Out: args[0], Plan: report.PlanID, Pairs: true}, nil
			}
		}
	}
	if first := filepath.Join(args[0], "work"); store.CheckExists(first) == nil { // its first run has not ended
		return first, admin.Into{}, nil
	}
	return "", admin.Into{}, badinput.Errorf("%w; where none has ended, name the work directory with --work", err)
}

// NewStatus makes mine status.
func NewStatus() *cobra.Command {
	var asJSON bool
	var every time.Duration
	cmd := &cobra.Command{
		Use:   "status [RUN]",
		Short: "Say what of a run is done, running, failed and left",
		Long: "Say what of the last run in a work directory is done, running, failed and left, or of the runs into an output " +
			"directory, that of --langs with what became of each pair. It works from any machine that sees the directory or bucket. With --watch it says so again whenever that changes, until nothing is left.",
		Args: flags.Arguments("a run", 0, 1),
	}
	work := workFlag(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	flags.DurationVar(cmd.Flags(), &every, "watch", 0, "look again after this time, until the run is done")
	cmd.Flags().Lookup("watch").NoOptDefVal = "5s"
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		location, of, err := workOf(cmd, *work, args)
		if err != nil {
			return err
		}
		return store.WithExisting(cmd.Context(), location, slog.Default(), func(st *store.Store) error {
			return watchStatus(cmd.Context(), st, of, every, asJSON, cmd.OutOrStdout())
		})
	}
	return cmd
}

// watchStatus prints the status once or, every so often, when it has changed.
func watchStatus(ctx context.Context, st *store.Store, of admin.Into, every time.Duration, asJSON bool, out io.Writer) error {
	if every < 0 {
		return badinput.Errorf("mine status: --watch is %v; give a time such as 5s", every)
	}
	for before := ""; ; {
		s, err := readStatus(ctx, st, of)
		var text bytes.Buffer
		switch {
		case every > 0 && ctx.Err() != nil: // who has seen enough ends it so
			return nil
		case every > 0 && errors.Is(err, admin.ErrNoRun):
			if err = nil; !asJSON {
				text.WriteString("no run is planned yet\n")
			}
		case err != nil:
		case asJSON:
			err = printJSON(&text, s)
		default:
			err = printStatus(&text, s)
		}
		if err != nil {
			return err
		}
		if now := text.String(); now != before {
			if before != "" && !asJSON {
				now = "\n" + time.Now().Format(time.DateTime) + "  " + now
			}
			before = text.String()
			if _, err := io.WriteString(out, now); err != nil {
				return err
			}
		}
		if every == 0 || s.Status != nil && s.Ended() {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(every):
		}
	}
}

// status is that of the last run, and what became of each pair in the last run over many that has ended.
type status struct {
	*admin.Status
	Pairs []multiway.PairReport `json:"pairs,omitempty"`
}

func readStatus(ctx context.Context, st *store.Store, of admin.Into) (s status, err error) {
	if of.Pairs {
		many, err := multiway.ReadReport(of.Out)
		if err != nil {
			return s, err
		}
		s.Pairs = many.Pairs
	}
	s.Status, err = admin.ReadStatus(ctx, st, of, program.Version)
	return s, err
}

func printStatus(out io.Writer, s status) error {
	for i, p := range s.Pairs {
		if i == 0 {
			fmt.Fprintf(out, "pairs of the last run that has ended, by %s:\n", multiway.ReportName)
		}
		what := fmt.Sprintf("%d pairs kept", p.Kept)
		if p.Failed != "" {
			what = "failed: " + p.Failed
		}
		fmt.Fprintf(out, "  %s  %s\n", p.Pair, what)
	}
	if s.Pairs != nil {
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "run %d, %s into %s, started %s on %s\n\n", s.Run.Number, s.Run.Of(), s.Run.Out,
		s.Run.Since.Local().Format(time.DateTime), s.Run.Host)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "stage\ttasks\tdone\trunning\tfailed\tleft\trate\tmemory\t\n")
	for _, stage := range s.Stages {
		rate, memory := "", ""
		if stage.Rate > 0 {
			rate = short(stage.Rate) + " " + stage.Unit + "/s"
		}
		if stage.PeakMemory > 0 {
			memory = plan.Bytes(stage.PeakMemory)
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t\n", stage.Stage, stage.Tasks, stage.Done, stage.Running,
			stage.Failed, stage.Left, rate, memory)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, t := range s.Tasks {
		fmt.Fprintf(out, "\ntask %d (%s) %s: %s, process %d, since %s", t.Index, t.Stage, t.State, t.Host, t.PID,
			t.Since.Local().Format(time.DateTime))
		if t.Expected > 0 {
			fmt.Fprintf(out, "; others of its stage would have taken %.3g s", t.Expected)
		}
		if t.Error != "" {
			fmt.Fprintf(out, ": %s", t.Error)
		}
	}
	if s.Tasks != nil {
		fmt.Fprintln(out)
	}
	return nil
}
