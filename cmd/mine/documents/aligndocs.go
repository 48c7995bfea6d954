// Package documents has the commands that work on whole documents.
package documents

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bitextmine/align/bead"
	"bitextmine/align/document"
	"bitextmine/bitext/table"
	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/curate/exporting"
	"bitextmine/encode"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/textfile"
	"bitextmine/pipeline"
	"bitextmine/pipeline/record"
)

// ladderFormat is the format of vecalign's files of beads.
const ladderFormat = "ladder"

// alignOptions are the flags of mine align-docs.
type alignOptions struct {
	flags.Settings
	bead           bead.Options
	choice         document.Choice
	source, target string
	pairs          string
	out, format    string
	breaks         string
	crossings      string
}

// NewAlignDocs makes mine align-docs.
func NewAlignDocs() *cobra.Command {
	o := alignOptions{bead: bead.DefaultOptions()}
	cmd := &cobra.Command{
		Use:   "align-docs SOURCE TARGET | --pairs FILE [SOURCE TARGET]",
		Short: "Align the sentences of translated documents: beads of N:M sentences",
		Long: `Align the sentences of documents that are translations of each other. A document is plain text with a sentence on each
line, or subtitles (SRT, WebVTT); empty lines are left out. Its output is bitext: a row for each bead of up to
--max-span sentences on either side, with n_src and n_tgt (how many), src_line and tgt_line (the line of the first),
src_first and tgt_first (its number among the sentences, from 0), score (1: equal vectors, 0: no nearer than random
sentences) and found_by. Sentences without a counterpart are counted, and written with --deletions. Passages that
stand elsewhere in the other document are counted as crossing; --crossings lists them. Time and memory are linear in
the sentences (docs/documents.md).

--pairs names a file on either side of a line, or, with two collections as of mine docs, a document in each.

Formats: tsv and csv (the first line names the columns), moses (two files, OUT.SRC and OUT.TGT), tmx, xliff, po, jsonl,
parquet, ladder (vecalign's [0]:[0, 1]:cost, all beads of one pair of documents).`,
		Example: `  mine align-docs report.de report.fr --src de --tgt fr --out report.tsv
  mine align-docs --pairs files.tsv --src de --tgt fr --encoder use/model.yaml --out de-fr.parquet`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.RegisterSome(cmd, flags.Declared("encoder", "onnxruntime", "threads", "max_line_bytes"))
	f := cmd.Flags()
	f.StringVar(&o.source, "src", "", "source language")
	f.StringVar(&o.target, "tgt", "", "target language")
	f.StringVar(&o.pairs, "pairs", "", "file with a source and a target document on each line, separated by a tab")
	f.StringVar(&o.out, "out", "", "file to write (default: standard output); with moses what both names begin with")
	f.StringVar(&o.format, "format", "",
		"tsv, csv, jsonl, tmx, xliff, po, parquet, moses or ladder (default: by the ending of --out, else tsv)")
	f.StringVar(&o.breaks, "line-breaks", string(exporting.Escape), "tabs in a text of tsv: escape, space or refuse")
	f.StringVar(&o.crossings, "crossings", "", "write the passages that stand elsewhere to this TSV file")
	f.BoolVar(&o.choice.Deletions, "deletions", false, "write sentences without a counterpart, too")
	f.Float64Var(&o.choice.MinScore, "min-score", -1, "only beads with at least this score")
	f.IntVar(&o.bead.MaxSpan, "max-span", o.bead.MaxSpan, "sentences in a side of a bead, at most")
	f.IntVar(&o.bead.Band, "band", o.bead.Band, "how many sentences from the coarser path are searched")
	f.Float64Var(&o.bead.Skip, "skip", 0, "above 0, more sentences are left without a counterpart; below, fewer")
	flags.Text.Mark(f, "crossings")
	return cmd
}

// check resolves the flags.
func (o *alignOptions) check(args []string) (pairs []document.Pair, err error) {
	switch {
	case o.pairs == "" && len(args) != 2:
		return nil, badinput.Errorf("mine align-docs: name a source and a target document, or a file of pairs with --pairs")
	case o.pairs != "" && len(args) != 0 && len(args) != 2:
		return nil, badinput.Errorf("mine align-docs: name the source and the target collection whose " +
			"documents --pairs has, or none")
	case o.format == "":
		o.format = "tsv"
		for _, known := range formats() {
			if strings.HasSuffix(textfile.Stem(o.out), "."+known) {
				o.format = known
			}
		}
		if ending := filepath.Ext(o.out); o.format == "tsv" && slices.Contains([]string{".xlsx", ".xls", ".ods", ".docx"}, ending) {
			return nil, badinput.Errorf("--out %s: %s is not written; name a file that ends with one of %s", o.out, ending, strings.Join(formats(), ", "))
		}
	}
	if !slices.Contains(formats(), o.format) {
		return nil, badinput.Errorf("--format is %q: give one of %s", o.format, strings.Join(formats(), ", "))
	}
	if err := o.checkCompression(); err != nil {
		return nil, err
	}
	if math.IsNaN(o.choice.MinScore) {
		return nil, badinput.Errorf("--min-score is %g: give a number", o.choice.MinScore)
	}
	if o.out == "" && (o.format == "moses" || o.format == "parquet") {
		return nil, badinput.Errorf("mine align-docs: %s is not written to standard output: name a file with --out", o.format)
	}
	if o.format == ladderFormat && o.pairs != "" {
		return nil, badinput.Errorf("a ladder has the beads of one pair of documents: choose another --format for --pairs")
	}
	if err := flags.RefuseIdle("mine align-docs", o.Changed,
		flags.Idle{Used: o.format != ladderFormat, For: "another --format than ladder, which has all beads", Flags: []string{"deletions", "min-score"}},
		flags.Idle{Used: o.format == "tsv" || o.format == "moses", For: "--format tsv or moses", Flags: []string{"line-breaks"}}); err != nil {
		return nil, err
	}
	languages, err := flags.TwoLanguages("mine align-docs", o.source, o.target)
	if err != nil {
		return nil, err
	}
	o.source, o.target = languages[0], languages[1]
	return []document.Pair{}, o.bead.Validate()
}

// checkCompression refuses the ending of a compression that is not written.
func (o *alignOptions) checkCompression() error {
	_, err := textfile.Compression(o.out)
	if o.format == "parquet" {
		err = textfile.RefuseCompression(o.out)
	}
	if err != nil {
		return badinput.Errorf("--out: %w", err)
	}
	return nil
}

func formats() []string {
	names := []string{ladderFormat}
	for _, f := range exporting.Formats {
		names = append(names, f.Name)
	}
	return names
}

func (o *alignOptions) run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	pairs, err := o.check(args)
	if err != nil {
		return err
	}
	cfg, _, err := o.Load()
	if err != nil {
		return err
	}
	if o.pairs == "" {
		pairs = append(pairs, document.Pair{Source: args[0], Target: args[1]})
	} else {
		var ids bool
		if pairs, ids, err = document.ReadPairs(o.pairs, cfg.MaxLineBytes); err != nil {
			return err
		}
		if ids && len(args) == 0 { // an id comes with the text, and may be any file's name
			return badinput.Errorf("%s has ids of documents, as mine docs writes them: name both collections, too", o.pairs)
		}
	}
	if err := o.checkOutputs(args, pairs); err != nil {
		return err
	}
	breaks, err := exporting.ParseBreaks(o.breaks)
	if err != nil {
		return err
	}
	m, e, err := program.OpenEncoder(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	pipeline.UnknownLanguages(slog.Default(), m, [2]string{o.source, o.target})
	job := &job{alignOptions: o, cfg: cfg, encoder: e, rows: document.NewRows(o.choice)}
	metadata := map[string]string{"mine.encoder": m.Name, "mine.encoder_digest": m.Digest, "mine.version": program.Version}
	if o.pairs != "" && len(args) == 2 {
		for side, language := range [2]string{o.source, o.target} {
			if job.collections[side], err = document.ReadCollection(ctx, args[side], language, "",
				cfg.MaxLineBytes); err != nil {
				return err
			}
			fmt.Fprint(stderr, job.collections[side].Note())
		}
	}
	err = o.open(stdout, func(to []io.Writer) error {
		if o.format != ladderFormat {
			format := exporting.Formats[slices.IndexFunc(exporting.Formats, func(f exporting.Format) bool { return f.Name == o.format })]
			job.out = format.Open(to, exporting.FormatOptions{
				SourceColumn: table.SourceText, TargetColumn: table.TargetText, Source: o.source, Target: o.target,
				Breaks: breaks, Metadata: metadata,
			})
		}
		return job.align(ctx, pairs, to[0])
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(stderr, job.counts.String())
	return nil
}

// outputs are the files to write; none: standard output.
func (o *alignOptions) outputs() []string {
	switch {
	case o.out == "":
		return nil
	case o.format == "moses":
		stem := textfile.Stem(o.out)
		compression := o.out[len(stem):]
		return []string{stem + "." + o.source + compression, stem + "." + o.target + compression}
	}
	return []string{o.out}
}

// checkOutputs refuses files that cannot be written, that are read, are a run's own, or that --crossings names, too.
func (o *alignOptions) checkOutputs(args []string, pairs []document.Pair) error {
	read := append([]string{o.pairs}, args...)
	for _, p := range pairs {
		read = append(read, p.Source, p.Target)
	}
	if err := atomicfile.RefuseInput(o.crossings, read...); err != nil {
		return badinput.Errorf("--crossings: %w", err)
	}
	for _, out := range o.outputs() {
		if err := cmp.Or(flags.RefuseSame("crossings", o.crossings, "out", out), atomicfile.Writable(out), record.RefuseOwn(out),
			atomicfile.RefuseInput(out, read...)); err != nil {
			return err
		}
	}
	return nil
}

// open gives write the files of the output, which are published whole, or standard output.
func (o *alignOptions) open(stdout io.Writer, write func(to []io.Writer) error) error {
	switch files := o.outputs(); len(files) {
	case 0:
		out := bufio.NewWriter(stdout)
		return errors.Join(write([]io.Writer{out}), out.Flush())
	case 1:
		return textfile.Write(files[0], func(f io.Writer) error { return write([]io.Writer{f}) })
	default:
		return textfile.Write(files[0], func(a io.Writer) error {
			return textfile.Write(files[1], func(b io.Writer) error { return write([]io.Writer{a, b}) })
		})
	}
}

// job aligns pairs of documents one after the other.
type job struct {
	*alignOptions
	cfg     *pipeline.Config
	encoder *encode.Encoder
	rows    *document.Rows
	written uint64
	out     exporting.Writer // nil for a ladder
	crossed strings.Builder
	// of the documents that --pairs names; nil: it names files
	collections [2]*document.Collection
	counts      document.Counts
}

func (j *job) align(ctx context.Context, pairs []document.Pair, beads io.Writer) error {
	for _, p := range pairs {
		source, err := j.read(0, p.Source, j.source)
		if err != nil {
			return err
		}
		target, err := j.read(1, p.Target, j.target)
		if err != nil {
			return err
		}
		aligned, err := document.Align(ctx, j.encoder, source, target, j.bead)
		if err != nil {
			return err
		}
		j.counts.Add(aligned)
		aligned.ListCrossings(&j.crossed)
		if j.out == nil {
			if err := aligned.WriteLadder(beads); err != nil {
				return err
			}
			continue
		}
		if j.rows.Add(aligned); j.rows.Len() >= table.BatchRows {
			if err := j.flush(); err != nil {
				return err
			}
		}
	}
	if j.crossings != "" {
		err := textfile.Write(j.crossings, func(w io.Writer) error {
			_, err := io.WriteString(w, document.CrossingHeader+j.crossed.String())
			return err
		})
		if err != nil {
			return err
		}
	}
	if j.out == nil {
		return nil
	}
	if j.rows.Len() > 0 || j.written == 0 {
		if err := j.flush(); err != nil {
			return err
		}
	}
	return j.out.Close()
}

// read reads the document of a side, from its file or its collection.
func (j *job) read(side int, name, language string) (*document.Document, error) {
	if c := j.collections[side]; c != nil {
		return c.Find(name)
	}
	return document.Read(name, language, j.cfg.MaxLineBytes)
}

// flush writes the rows that were collected.
func (j *job) flush() error {
	batch, err := j.rows.Batch(j.written)
	if err != nil {
		return err
	}
	if err := j.out.Write(batch); err != nil {
		return err
	}
	j.written += uint64(j.rows.Len())
	j.rows = document.NewRows(j.choice)
	return nil
}
