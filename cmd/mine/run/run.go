// Package run has the commands that start runs and look after them and their work directory.
package run

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/pipeline"
	"bitextmine/pipeline/multiway"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
)

// NewRun makes mine run.
func NewRun() *cobra.Command {
	var s flags.Settings
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Mine bitext from text in two languages",
		Long: `Mine bitext from text in two languages. It leaves OUT/SRC-TGT.parquet and OUT/run.json; intermediate files
stay in the work directory, so that the same call goes on where a stopped one was.

Text is read as it is from plain, .gz, .zst, .bz2 and .xz files: one sentence a line, id<TAB>sentence, subtitles (SRT,
WebVTT), or named columns of TSV, JSONL and Parquet. Records of columns that are documents are divided into sentences
(--split).

--langs mines every pair of several languages (--pivot: each with one of them; --lang-pairs: those listed) into
OUT/SRC-TGT. Each language is encoded once. OUT/parallel.parquet joins what was kept into rows of three and more
languages.`,
		Example: `  mine run --src de --tgt en --src-text news.de.gz --tgt-text news.en/*.jsonl --text-column body --out mined
  mine run --langs de,en,fr --text de=news.de.gz --text en=news.en.gz --text fr=news.fr.gz --out mined`,
		Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			begin := time.Now()
			cfg, _, err := s.Load()
			defer func() {
				if err != nil && s.Nightly && !dryRun {
					metricsOfFailure(cfg, begin, err)
				}
			}()
			if err != nil {
				return err
			}
			s.WarnSample()
			if dryRun {
				cfg.DryRun = cmd.OutOrStdout()
			}
			if err := unmix(cmd.Context(), cfg, s.Nightly); err != nil {
				return err
			}
			if multiway.Asked(cfg) {
				return runMany(cmd.Context(), *cfg, s.Nightly, cmd.OutOrStdout())
			}
			if dryRun {
				_, err := mining(s.Nightly)(cmd.Context(), *cfg, program.RunOptions(progress.Silent))
				return err
			}
			return runRun(cmd.Context(), *cfg, s.Nightly, cmd.OutOrStdout())
		},
	}
	s.Register(cmd)
	cmd.Flags().BoolVar(&dryRun, "engine-dry-run", false,
		"print the scripts or manifests of the engine instead of running them")
	flags.Machine.Add(cmd.Flags(), "engine-dry-run")
	return program.GoesOn(cmd)
}

// mining is what mines one pair.
func mining(nightly bool) func(context.Context, pipeline.Config, pipeline.Options) (*record.Report, error) {
	if nightly {
		return pipeline.Nightly
	}
	return pipeline.Run
}

func runRun(ctx context.Context, cfg pipeline.Config, nightly bool, out io.Writer) error {
	known, err := readGold(&cfg) // read first, so that an error in it is reported at once
	if err != nil {
		return err
	}
	var report *record.Report
	if nightly {
		opts, fail := nightOptions(out)
		opts.Gold = known.compare
		if report, err = pipeline.Nightly(ctx, cfg, opts); err != nil {
			fail(err)
		}
	} else {
		opts := program.RunOptions(progress.New(os.Stderr))
		opts.Gold = known.compare
		report, err = pipeline.Run(ctx, cfg, opts)
	}
	if err != nil {
		return err
	}
	return printReport(out, report)
}

func printReport(out io.Writer, r *record.Report) error {
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
	if c.Documents != nil {
		fmt.Fprintf(out, "%s\n", c.Documents)
	}
	fmt.Fprintf(out, "\n%d pairs kept of %d candidates (%s)\n", c.Kept, c.Candidates, r.Rule())
	if r.Judge != nil {
		fmt.Fprintf(out, "%d candidates in doubt were judged by %s\n", c.Judged, r.Judge.Name)
	}
	if r.Cut != nil {
		fmt.Fprintln(out, r.Cut)
	}
	fmt.Fprintln(out)
	table = tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "stage\tdone now\t\tseconds\trate\ttasks\tcached\t\n")
	for _, s := range r.Stages {
		fmt.Fprintf(table, "%s\t%d\t%s\t%.2f\t%s/s\t%d\t%d\t\n", s.Name, s.Items, s.Unit, s.Seconds,
			progress.Short(s.Rate), s.Tasks, s.Cached)
	}
	fmt.Fprintf(table, "all\t\t\t%.2f\t\t\t\t\n", r.Seconds)
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "peak memory %.0f MiB\n", float64(r.PeakMemory)/(1<<20))
	for _, s := range r.Samples {
		score := s.Score
		if s.Prob != nil {
			score = *s.Prob
		}
		fmt.Fprintf(out, "\n%.3f  %s\n       %s\n", score, s.Source, s.Target)
	}
	_, err := fmt.Fprintf(out, "\n%s  %d pairs\n%s\n", r.Bitext.Path, r.Bitext.Rows,
		filepath.Join(filepath.Dir(r.Bitext.Path), record.ReportName))
	if err == nil && r.Gold != nil {
		_, err = fmt.Fprintf(out, "\nkept pairs against %s\n", r.Gold)
	}
	return err
}
