package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"bitextmine/eval"
	"bitextmine/index/backend"
	"bitextmine/pipeline"
	"bitextmine/pipeline/progress"
)

func newRun() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Mine bitext from text in two languages",
		Long: `Mine bitext from text in two languages. It leaves OUT/SRC-TGT.parquet and OUT/run.json; intermediate files stay in
the work directory, so that the same call goes on where a stopped one was.

Text is read as it is from plain, .gz, .zst, .bz2 and .xz files: one sentence a line, id<TAB>sentence, or named columns
of TSV, JSONL and Parquet.`,
		Example: `  mine run --src de --tgt en --src-text news.de.gz --tgt-text news.en/*.jsonl --text-column body --out mined`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, _, err := s.load()
			if err != nil {
				return err
			}
			return runRun(cmd.Context(), *cfg, cmd.OutOrStdout())
		},
	}
	s.register(cmd)
	return cmd
}

func runRun(ctx context.Context, cfg pipeline.Config, out io.Writer) error {
	var gold eval.Gold
	if cfg.Gold != "" {
		var err error
		if gold, err = eval.ReadGold(cfg.Gold); err != nil {
			return err
		}
	}
	report, err := pipeline.Run(ctx, cfg, pipeline.Options{
		Progress: progress.New(os.Stderr), Log: slog.Default(), Version: version, OpenSearch: backend.Open,
	})
	if err != nil {
		return err
	}
	if err := printReport(out, report); err != nil {
		return err
	}
	if cfg.Gold == "" {
		return nil
	}
	return printGold(out, cfg.Gold, gold, report)
}

func printReport(out io.Writer, r *pipeline.Report) error {
	c := r.Counts
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "\n\tread\tunique\t\n")
	fmt.Fprintf(table, "%s sentences\t%d\t%d\t\n", r.Settings.Source, c.SourceIn, c.SourceUnique)
	fmt.Fprintf(table, "%s sentences\t%d\t%d\t\n", r.Settings.Target, c.TargetIn, c.TargetUnique)
	if err := table.Flush(); err != nil {
		return err
	}
	if c.Skipped > 0 {
		fmt.Fprintf(out, "%d lines were skipped; run.json says which and why\n", c.Skipped)
	}
	fmt.Fprintf(out, "\n%d pairs kept of %d candidates (%s margin above %g, %s)\n\n", c.Kept, c.Candidates, r.Settings.Margin, r.Settings.Threshold, r.Settings.Retrieval)
	table = tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "stage\titems\t\tseconds\trate\ttasks\tcached\t\n")
	for _, s := range r.Stages {
		fmt.Fprintf(table, "%s\t%d\t%s\t%.2f\t%.0f/s\t%d\t%d\t\n", s.Name, s.Items, s.Unit, s.Seconds, s.Rate, s.Tasks, s.Cached)
	}
	fmt.Fprintf(table, "all\t\t\t%.2f\t\t\t\t\n", r.Seconds)
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "peak memory %.0f MiB\n", float64(r.PeakMemory)/(1<<20))
	for _, s := range r.Samples {
		fmt.Fprintf(out, "\n%.3f  %s\n       %s\n", s.Score, s.Source, s.Target)
	}
	_, err := fmt.Fprintf(out, "\n%s  (%d pairs)\n%s/%s\n", r.Bitext.Path, r.Bitext.Rows, r.Settings.Out(), pipeline.ReportName)
	return err
}
