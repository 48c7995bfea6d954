package bitext

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"bitextmine/bitext/exchange"
	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/corpus"
	cut "bitextmine/corpus/shard"
	"bitextmine/curate/exporting"
	"bitextmine/filter/rule"
	"bitextmine/internal/badinput"

	"bitextmine/bitext/label"
	"bitextmine/internal/textfile"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/shard"
	"bitextmine/pipeline/view"
)

// exportOptions are the flags of mine export.
type exportOptions struct {
	columnFlags
	blockFlags
	anonymise, domains            string
	format, out, compress, breaks string
	columns                       []string
	all, ascending, dedupURLs     bool
	minScore                      float64
	where, sort, splitBy, licence string
	dev, test                     float64
}

// NewExport makes mine export.
func NewExport() *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use:   "export RUN | FILE [FILE]",
		Short: "Write bitext for other programs: TSV, CSV, Moses, TMX, XLIFF, PO, JSON lines, Parquet, Hugging Face",
		Long: `Write bitext for other programs. RUN is the output directory of mine run; FILE is Parquet, TSV, CSV, JSON
lines, TMX, XLIFF or PO; two files are line-aligned. Only kept pairs are written (--all writes the others too), with
all their columns, or those of --columns; rows without a text on one side are left out and counted. The formats for
translators, tmx, xliff and po, have texts and languages alone unless --columns names more. --blocks writes paragraphs
or documents that a run with --documents on aligned. --dev and --test divide the pairs by source document, so that no
document is in two sets; which set a document is in depends on its name and the set's share alone. --dedup-urls writes
a pair of texts once, with all addresses where its texts were seen: of a run these are read from its text again, of
files from their rows. Memory does not grow with the bitext, except by these.

Formats: tsv and csv (the first line names the columns), moses (two files, OUT.SRC and OUT.TGT), tmx (1.4), xliff (2.0),
po, jsonl, parquet, and hf: a folder that Hugging Face datasets loads, data/*.parquet with README.md.`,
		Example: `  mine export mined --format tmx --out de-en.tmx
  mine export filtered.parquet --out de-en.tsv.gz --min-score 1.1 --sort score
  mine export filtered.parquet --format hf --out dataset --dev 0.01 --test 0.01 --licence cc-by-4.0
  mine export mined --blocks 256 --out blocks.jsonl --anonymise texts --domains domains.tsv
  mine export filtered.parquet --format moses --out corpus --where 'prob > 0.9 and numbers_differ == 0'`,
		Args: flags.Arguments("a run or one or two files", 1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, cmd.Flags().Changed, cmd.OutOrStdout())
		},
	}
	o.columnFlags.register(cmd)
	o.blockFlags.register(cmd)
	f := cmd.Flags()
	f.StringVar(&o.anonymise, "anonymise", "", "mask e-mail addresses, telephone, account and card numbers and IP addresses, in texts\nor in columns of their own: texts or columns")
	f.StringVar(&o.domains, "domains", "", "TSV file of the exported pairs by domain to write, too")
	f.BoolVar(&o.dedupURLs, "dedup-urls", false, "write a pair of texts once, with the columns src_urls and tgt_urls of all addresses that it was seen at")
	f.StringVar(&o.format, "format", "", "tsv, csv, moses, tmx, xliff, po, jsonl, parquet or hf (default: by the ending of --out)")
	f.StringVar(&o.out, "out", "", "file to write; with moses what both names begin with, with hf a folder")
	f.StringVar(&o.compress, "compress", "", "gz or zst (default: by the ending of --out)")
	f.StringVar(&o.breaks, "line-breaks", string(exporting.Escape),
		"tabs and line breaks in a text of tsv, line breaks in one of moses: escape, space or refuse")
	f.StringSliceVar(&o.columns, "columns", nil, "columns to write beside the texts, or all (default: all; none in tmx, xliff and po)")
	f.BoolVar(&o.all, "all", false, "write pairs that are not kept, too")
	f.Float64Var(&o.minScore, "min-score", 0, "only pairs with at least this score")
	f.StringVar(&o.where, "where", "", "only pairs for which a condition over columns is true (docs/filters.md)")
	f.StringVar(&o.sort, "sort", "", "order by this column, the highest first")
	f.BoolVar(&o.ascending, "ascending", false, "order with the lowest first")
	f.Float64Var(&o.dev, "dev", 0, "share of the documents in a development set")
	f.Float64Var(&o.test, "test", 0, "share of the documents in a test set")
	f.StringVar(&o.splitBy, "split-by", "", "column that names documents (default: src_doc, src_url, or the source text)")
	f.StringVar(&o.licence, "licence", "", "licence that the description of hf names")
	flags.Text.Mark(f, "domains")
	return cmd
}

func (o *exportOptions) run(ctx context.Context, files []string, given func(flag string) bool, out io.Writer) (err error) {
	opts, err := o.options(files)
	if err == nil {
		err = o.refuseIdle(given, opts.Format)
	}
	if err != nil {
		return err
	}
	if given("min-score") {
		if math.IsNaN(o.minScore) {
			return badinput.Errorf("--min-score is not a number: give one, such as 1.06")
		}
		opts.MinScore = &o.minScore
	}
	if o.blocks != "" {
		dir, err := os.MkdirTemp("", "mine-blocks-")
		if err != nil {
			return fmt.Errorf("make a folder for blocks: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		file, err := o.blockFlags.write(ctx, files[0], dir, program.Told(out, o.out))
		if err != nil {
			return err
		}
		opts.Files, opts.Read, opts.Labels = []string{file}, []string{o.bitext}, nil
	}
	if o.dedupURLs && opts.Files[0] != files[0] {
		run, err := view.Open(ctx, files[0], program.Version, slog.Default())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, run.Close()) }()
		opts.Places = placesIn(run)
		if o.bitext != "" {
			opts.Files = []string{o.bitext}
		}
	}
	opts.Progress, opts.Version = saying("export: read").rows, program.Version
	report, err := exporting.Run(ctx, opts)
	if err != nil {
		return err
	}
	for _, warning := range report.Warnings() {
		slog.Warn(warning)
	}
	report.Summary(program.Told(out, o.out))
	return nil
}

func (o *exportOptions) options(files []string) (opts exporting.Options, err error) {
	opts = exporting.Options{
		Files: files, Format: o.format, Out: o.out, Compression: o.compress, Columns: o.columns, All: o.all,
		Sort: o.sort, Ascending: o.ascending, Split: exporting.Split{Dev: o.dev, Test: o.test,
			By: o.splitBy, Documents: o.blocks != ""}, Licence: o.licence, Anonymise: exporting.Anonymise(o.anonymise), Domains: o.domains, DedupURLs: o.dedupURLs,
	}
	if o.anonymise != "" && opts.Anonymise != exporting.InTexts && opts.Anonymise != exporting.AsColumns {
		return opts, badinput.Errorf("--anonymise is %q: give %s or %s", o.anonymise, exporting.InTexts, exporting.AsColumns)
	}
	switch {
	case o.blocks == "" && !o.dedupURLs && o.bitext != "":
		return opts, badinput.Errorf("--bitext says what blocks keep: give --blocks, too, or name the file in place of the run")
	case o.blocks != "" && o.dedupURLs:
		return opts, badinput.Errorf("--dedup-urls is of pairs of sentences: leave it or --blocks out")
	case o.blocks != "" && len(files) > 1:
		return opts, badinput.Errorf("--blocks is of one run: leave %s out", files[1])
	}
	if opts.Table, err = o.columnFlags.options(); err != nil {
		return opts, err
	}
	if opts.Files, opts.Labels, err = bitextOf(files); err != nil {
		return opts, err
	}
	if o.dedupURLs && o.bitext != "" && opts.Files[0] == files[0] {
		return opts, badinput.Errorf("--bitext says what is kept of a run, and %s is a file: leave one of them out", files[0])
	}
	if o.out == "" {
		return opts, badinput.Errorf("mine export: name the file to write with --out")
	}
	if err := record.RefuseOwn(o.out); err != nil {
		return opts, err
	}
	switch said, err := textfile.Compression(o.out); {
	case err != nil:
		return opts, badinput.Errorf("--out: %w", err)
	case opts.Compression == "":
		opts.Compression = said
	case said != "" && opts.Compression != said:
		return opts, badinput.Errorf("--compress is %s, but --out %s ends in .%s: give one of the two", opts.Compression, o.out, said)
	}
	if opts.Compression != "" && opts.Compression != "gz" && opts.Compression != "zst" {
		return opts, badinput.Errorf("--compress is %q: give gz or zst", opts.Compression)
	}
	if opts.Format == "" {
		if opts.Format, err = formatOf(o.out); err != nil {
			return opts, err
		}
	}
	if opts.Breaks, err = exporting.ParseBreaks(o.breaks); err != nil {
		return opts, err
	}
	if o.where != "" {
		if opts.Where, err = rule.Condition(o.where, "--where"); err != nil {
			return opts, err
		}
	}
	return opts, opts.Split.Validate()
}

// refuseIdle refuses flags that change nothing without another.
func (o *exportOptions) refuseIdle(given func(flag string) bool, format string) error {
	return flags.RefuseIdle("mine export", given,
		flags.Idle{Used: o.sort != "", For: "--sort", Flags: []string{"ascending"}},
		flags.Idle{Used: o.sort != "", For: "a column", Flags: []string{"sort"}},
		flags.Idle{Used: o.where != "", For: "a condition", Flags: []string{"where"}},
		flags.Idle{Used: o.blocks != "", For: "--blocks", Flags: []string{"max-missing"}},
		flags.Idle{Used: o.dev+o.test > 0, For: "--dev or --test", Flags: []string{"split-by"}},
		flags.Idle{Used: format == exporting.HuggingFace, For: "--format hf", Flags: []string{"licence"}},
		flags.Idle{Used: format == "tsv" || format == "moses", For: "--format tsv or moses", Flags: []string{"line-breaks"}})
}

// placesIn reads the text of a run again.
func placesIn(run *view.Run) exporting.Places {
	return func(ctx context.Context, side int, do func(key corpus.Key, url string)) (err error) {
		env := &stage.Env{Files: run.Files, Model: run.Model}
		defer func() { err = errors.Join(err, env.Close()) }()
		return shard.EachOccurrence(ctx, env, run.Plan.LanguageOf(0, side), func(at cut.Occurrence) { do(at.Key, at.URL) })
	}
}

// formatOf is the format that the name of a file says.
func formatOf(name string) (string, error) {
	ext := strings.ToLower(filepath.Ext(textfile.Stem(name)))
	switch {
	case ext == ".parquet":
		return "parquet", nil
	case ext != ".xliff" && ext != ".xlf" && exchange.FormatOf(name) == exchange.XLIFF: // a program's own kind
	case ext == ".tsv", exchange.FormatOf(name) != exchange.TSV:
		return string(exchange.FormatOf(name)), nil
	}
	return "", badinput.Errorf("mine export: the name %s does not say what format to write: give --format", name)
}

// bitextOf replaces a run by its bitext and what people decided on it.
func bitextOf(files []string) ([]string, []label.Label, error) {
	if len(files) != 1 {
		return files, nil, nil
	}
	file, err := record.BitextAt(files[0])
	if err != nil || file == files[0] {
		return files, nil, err
	}
	labels, err := label.Latest(files[0])
	return []string{file}, labels, err
}
