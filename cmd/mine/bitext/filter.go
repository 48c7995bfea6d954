// Package bitext has the commands that work on existing bitext: filter, export, search, label, report and serve.
package bitext

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"bitextmine/bitext/exchange"
	"bitextmine/bitext/table"
	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/configs"
	"bitextmine/curate/filtering"
	"bitextmine/filter/rule"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/progress"
)

// columnFlags say where the pairs of a file are.
type columnFlags struct {
	source, target             string
	sourceColumn, targetColumn string
	onBadLine                  string
	changed                    func(flag string) bool // whether a flag of the command was given
}

func (c *columnFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	c.changed = f.Changed
	f.StringVar(&c.source, "src", "", "source language (default: the column src_lang, or unknown)")
	f.StringVar(&c.target, "tgt", "", "target language")
	f.StringVar(&c.sourceColumn, "src-column", table.SourceText, "source column, key of JSON; in TSV and CSV its number from 1, too")
	f.StringVar(&c.targetColumn, "tgt-column", table.TargetText, "target column")
	f.StringVar(&c.onBadLine, "on-bad-line", "fail", "a line that cannot be read: skip, which leaves it out and counts it, or fail")
}

func (c *columnFlags) options() (opts table.Options, err error) {
	opts = table.Options{SourceColumn: c.sourceColumn, TargetColumn: c.targetColumn,
		MustName: c.changed("src-column") || c.changed("tgt-column")}
	switch c.onBadLine {
	case "fail":
	case "skip":
		opts.SkipBad = true
	default:
		return opts, badinput.Errorf("--on-bad-line is %q: give skip or fail", c.onBadLine)
	}
	if err := numbered(&opts); err != nil {
		return opts, err
	}
	languages, err := flags.Languages(c.source, c.target)
	opts.Source, opts.Target = languages[0], languages[1]
	return opts, err
}

// numbered makes numbers of columns of what the flags say, if these are numbers. The columns get the usual names.
func numbered(opts *table.Options) (err error) {
	opts.SourceAt, opts.TargetAt, err = flags.ColumnNumbers(opts.SourceColumn, opts.TargetColumn)
	if opts.SourceAt > 0 {
		opts.SourceColumn, opts.TargetColumn = table.SourceText, table.TargetText
	}
	return err
}

// said tells the log every few seconds how far a long reading is. One goroutine may use it.
type said struct {
	what string
	last time.Time
}

func saying(what string) *said { return &said{what, time.Now()} }

func (s *said) rows(n uint64) {
	if now := time.Now(); now.Sub(s.last) >= progress.Every {
		s.last = now
		slog.Info(s.what, "pairs", n)
	}
}

// filterOptions are the flags of mine filter.
type filterOptions struct {
	columnFlags
	config           string
	without          []string
	out, temp        string
	stats, fix, anew bool
	samples          int
}

const defaultSamples = 3

// NewFilter makes mine filter.
func NewFilter() *cobra.Command {
	var o filterOptions
	cmd := &cobra.Command{
		Use:   "filter RUN | FILE [FILE]",
		Short: "Annotate bitext and mark the pairs that rules reject",
		Long: `Annotate bitext and mark the pairs that rules reject. RUN is the output directory of mine run; FILE is
Parquet, TSV, CSV, JSON lines, TMX, XLIFF or PO; two files are line-aligned. Every pair is described by columns (length
ratio, numbers that differ, languages, mark-up, near-duplicates and more: docs/filters.md), and conditions over them
decide: a rejected pair stays in the output with keep = false and the rules' names as its reasons. A file that is
annotated already is read once and only decided on again, in seconds. Labels of a run stand whatever the rules say,
with the texts that reviewers gave. Nothing is dropped but rows of which a text is null, which are counted; mine export
leaves out what is not kept.`,
		Example: `  mine filter mined/de-en.parquet --out filtered.parquet --stats
  mine filter filtered.parquet --config strict --out strict.parquet
  mine filter pairs.de pairs.en --src de --tgt en --out filtered.parquet`,
		Args: flags.Arguments("a run or one or two files", 1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, cmd.OutOrStdout())
		},
	}
	o.register(cmd)
	f := cmd.Flags()
	f.StringVar(&o.config, "config", "default", "rules: strict, default, none or a YAML file")
	f.StringSliceVar(&o.without, "without", nil, "leave out the rules of these names")
	f.StringVar(&o.out, "out", "", "Parquet file to write (default: only count)")
	f.BoolVar(&o.stats, "stats", false, "show what each rule rejects alone and together with others, with samples")
	f.IntVar(&o.samples, "samples", defaultSamples, "pairs that --stats shows for each rule")
	f.BoolVar(&o.fix, "fix", false,
		"add src_fixed and tgt_fixed: wrong encoding, entities, spaces and look-alike letters repaired")
	f.BoolVar(&o.anew, "annotate-again", false, "compute the annotations even if the file has them")
	f.StringVar(&o.temp, "temp-dir", "", "folder for temporary files (default: the system's)")
	flags.Replaced.Mark(f, "out")
	return cmd
}

func (o *filterOptions) run(ctx context.Context, files []string, out io.Writer) error {
	opts, err := o.columnFlags.options()
	if err != nil {
		return err
	}
	rules, err := readRules(o.config)
	if err != nil {
		return err
	}
	if err := rules.Without(o.without); err != nil {
		return err
	}
	switch {
	case o.out != "" && !exchange.IsParquet(o.out):
		return badinput.Errorf("mine filter writes Parquet, which %s does not say: name a .parquet file with --out, and "+
			"use mine export for other formats", o.out)
	case o.samples < 0:
		return badinput.Errorf("--samples is %d: give 0 or more", o.samples)
	case o.samples != defaultSamples && !o.stats:
		return badinput.Errorf("--samples are shown by --stats: give it, or leave --samples out")
	case o.fix && o.out == "":
		return badinput.Errorf("--fix adds columns: name the file to write with --out")
	}
	files, labels, err := bitextOf(files)
	if err != nil {
		return err
	}
	surveyed, filtered := saying("filter: surveyed"), saying("filter: decided")
	report, err := filtering.Run(ctx, filtering.Options{
		Files: files, Table: opts, Rules: rules, Labels: labels, Fix: o.fix, Anew: o.anew, Samples: o.samples, Out: o.out, Temp: o.temp,
		Progress: func(rows uint64, annotated bool) {
			if annotated {
				filtered.rows(rows)
			} else {
				surveyed.rows(rows)
			}
		},
	})
	if err != nil {
		return err
	}
	for _, warning := range report.Warnings() {
		slog.Warn(warning)
	}
	report.Summary(program.Told(out, o.out))
	if o.fix {
		fmt.Fprintf(out, "%d pairs have a repaired text\n", report.Fixed)
	}
	if o.stats {
		return report.Table(out)
	}
	return nil
}

// readRules reads the rules of a preset or of a file.
func readRules(config string) (*rule.Set, error) {
	if filepath.Ext(config) == "" {
		preset := path.Join("filter", config+".yaml")
		data, err := configs.Filters.ReadFile(preset)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, badinput.Errorf("--config %s is neither strict, default or none nor the name of a .yaml file", config)
		}
		if err != nil {
			return nil, err
		}
		return rule.Parse(data, config)
	}
	data, err := os.ReadFile(config)
	if err != nil {
		return nil, badinput.Errorf("rules %s cannot be read: %w", config, err)
	}
	return rule.Parse(data, config)
}
