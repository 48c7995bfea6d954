package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"bitextmine/pipeline"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
)

func newPlan() *cobra.Command {
	var s settings
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Say what a run would do and cost, and whether it fits",
		Long: `Say what mine run with the same flags would do and cost. The text is cut into shards, which the run then finds done; nothing
else is computed but a calibration of some seconds. A run that does not fit is refused with exit code 2.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, _, err := s.load()
			if err != nil {
				return err
			}
			return runPlan(cmd.Context(), *cfg, asJSON, cmd.OutOrStdout())
		},
	}
	s.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// runOptions are what every command that computes gives to the pipeline.
func runOptions(reporter progress.Reporter) pipeline.Options {
	return pipeline.Options{Progress: reporter, Log: slog.Default(), Version: version}
}

func runPlan(ctx context.Context, cfg pipeline.Config, asJSON bool, out io.Writer) error {
	e, refused := pipeline.Plan(ctx, cfg, runOptions(progress.Silent))
	if e == nil {
		return refused
	}
	if err := printPlan(out, cfg, e, asJSON); err != nil {
		return err
	}
	return refused
}

func printPlan(out io.Writer, cfg pipeline.Config, e *pipeline.Estimate, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(e)
	}
	fmt.Fprintf(out, "%d files, %s of text\n", e.Inputs, plan.Bytes(e.InputBytes))
	for s, language := range []string{cfg.Source, cfg.Target} {
		fmt.Fprintf(out, "%s: %d sentences in %d shards\n", language, e.Sentences[s], e.Shards[s])
	}
	fmt.Fprintf(out, "%d cells\n\n", e.Cells)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "stage\ttasks\tdone\tto do\t\n")
	for _, stage := range []string{plan.Encode, plan.Search, plan.Merge, plan.Match} {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t\n", stage, e.Tasks[stage], e.Done[stage], e.Tasks[stage]-e.Done[stage])
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nto encode   %d sentences", e.Encodings)
	if e.Encodings > 0 {
		fmt.Fprintf(out, " at %.0f/s", e.Rates.Encodings)
	}
	fmt.Fprintf(out, "\nto compare  %.3g pairs of sentences, %.3g floating point operations", float64(e.Comparisons), e.FLOP)
	without := ""
	if e.Rates.Comparisons > 0 {
		fmt.Fprintf(out, ", at %.3g pairs/s", e.Rates.Comparisons)
	} else if e.Comparisons > 0 {
		without = ", without the search"
	}
	fmt.Fprintf(out, "\nsearch      %s: %s\n", e.Search.Backend, e.Search.Why)
	for _, b := range e.Backends {
		if b.Refused != "" {
			fmt.Fprintf(out, "            not %s: %s\n", b.Name, b.Refused)
			continue
		}
		fmt.Fprintf(out, "            %s would take about %s and %s\n", b.Name, b.Time.Round(time.Second/10), plan.Bytes(b.Memory))
	}
	fmt.Fprintf(out, "memory      %s for the largest task (%s), mapped files apart", plan.Bytes(e.Memory), e.Stage)
	if e.MaxMemory > 0 {
		fmt.Fprintf(out, "; max_memory is %s", plan.Bytes(e.MaxMemory))
	}
	fmt.Fprintf(out, "\ndisk        %s to write", plan.Bytes(e.Disk))
	if e.DiskFree > 0 {
		fmt.Fprintf(out, "; %s free", plan.Bytes(e.DiskFree))
	}
	_, err := fmt.Fprintf(out, "\ntime        about %s on this machine%s\nplan        %s\n", e.Time.Round(time.Second), without, pipeline.PlanPath(e.Work, e.PlanID))
	return err
}
