package documents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"bitextmine/align/bead"
	"bitextmine/align/document"
	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/eval/documents"
	"bitextmine/eval/report"
	"bitextmine/internal/badinput"
)

// beadOptions are the flags of mine eval beads.
type beadOptions struct {
	flags.Settings
	bead                   bead.Options
	beads, gold            string
	dir, source, target    string
	sourceText, targetText string
	only                   []string
	made                   int
	length                 int
	seed                   uint64
	format                 string
	maxLine                int
}

// NewBeads makes mine eval beads.
func NewBeads() *cobra.Command {
	o := beadOptions{bead: bead.DefaultOptions()}
	cmd := &cobra.Command{
		Use:   "beads (--hyp FILE --gold FILE | --dir DIR | --src-text FILE --tgt-text FILE)",
		Short: "Measure alignments of documents: strict and lax precision, recall and F1 of beads",
		Long: `Measure beads of N:M sentences against a gold standard, as vecalign's score.py does. --hyp and --gold are
ladders: lines like [0]:[0, 1]. --dir is a directory of documents with gold standards, NAME.SRC, NAME.TGT and
NAME.SRCTGT (Bleualign's set as vecalign has it), which are aligned with the program's own aligner. From line-aligned
files, --src-text and --tgt-text, it makes --made documents of --length lines whose gold standard is known: sentences
are merged, split, deleted, swapped and thinned out (docs/documents.md).`,
		Example: `  mine eval beads --hyp report.ladder --gold report.gold
  mine eval beads --dir vecalign/bleualign_data --src de --tgt fr --only test0,test1,test2,test3,test4,test5,test6
  mine eval beads --src-text ntrex.de --tgt-text ntrex.en --src de --tgt en --encoder use/model.yaml`,
		Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	o.RegisterSome(cmd, flags.Declared("encoder", "onnxruntime", "threads", "max_line_bytes"))
	f := cmd.Flags()
	f.StringVar(&o.beads, "hyp", "", "ladder to measure")
	f.StringVar(&o.gold, "gold", "", "its gold standard")
	f.StringVar(&o.dir, "dir", "", "directory of documents with gold standards, instead of --hyp and --gold")
	f.StringSliceVar(&o.only, "only", nil, "names of the documents of --dir (default: all)")
	f.StringVar(&o.source, "src", "de", "source language, and ending of the files in --dir")
	f.StringVar(&o.target, "tgt", "fr", "target language, and ending of the files in --dir")
	f.StringVar(&o.sourceText, "src-text", "", "line-aligned source file to make documents of")
	f.StringVar(&o.targetText, "tgt-text", "", "its line-aligned target file")
	f.IntVar(&o.made, "made", 5, "documents to make")
	f.IntVar(&o.length, "length", 130, "lines of a document that is made")
	f.Uint64Var(&o.seed, "seed", 1, "of what is changed in documents that are made")
	f.IntVar(&o.bead.MaxSpan, "max-span", o.bead.MaxSpan, "sentences in a side of a bead, at most")
	f.Float64Var(&o.bead.Skip, "skip", 0, "above 0, more sentences are left without a counterpart; below, fewer")
	f.StringVar(&o.format, "format", "table", "table, json, tsv, markdown")
	return cmd
}

func (o *beadOptions) run(ctx context.Context, out io.Writer) error {
	format, err := report.ParseFormat(o.format)
	if err != nil {
		return err
	}
	ways := 0
	for _, given := range []bool{o.beads != "" || o.gold != "", o.dir != "", o.sourceText != "" || o.targetText != ""} {
		if given {
			ways++
		}
	}
	switch {
	case ways != 1 || (o.beads == "") != (o.gold == "") || (o.sourceText == "") != (o.targetText == ""):
		return badinput.Errorf("mine eval beads: give --hyp and --gold, or --dir, or --src-text and --tgt-text")
	case o.made < 1 || o.length < 2:
		return badinput.Errorf("mine eval beads: --made must be positive and --length at least 2")
	}
	err = flags.RefuseIdle("mine eval beads", o.Changed,
		flags.Idle{Used: o.dir != "", For: "--dir", Flags: []string{"only"}},
		flags.Idle{Used: o.sourceText != "", For: "--src-text and --tgt-text", Flags: []string{"made", "length", "seed"}},
		flags.Idle{Used: o.beads == "", For: "--dir, or --src-text and --tgt-text", Flags: []string{"src", "tgt", "max-span", "skip", "encoder"}})
	switch {
	case err != nil:
		return err
	case o.beads != "":
		return o.compare(out, format)
	}
	return o.measure(ctx, out, format)
}

// compare measures a ladder.
func (o *beadOptions) compare(out io.Writer, format report.Format) error {
	found, err := documents.ReadLadder(o.beads)
	if err != nil {
		return err
	}
	gold, err := documents.ReadLadder(o.gold)
	if err != nil {
		return err
	}
	var c documents.BeadCounts
	c.Add(gold, found)
	r := documents.NewLadderReport(o.beads)
	documents.AddLadderRow(r, o.gold, c)
	return program.WriteReports(out, format, r)
}

// measure aligns documents that have gold standards.
func (o *beadOptions) measure(ctx context.Context, out io.Writer, format report.Format) (err error) {
	cfg, _, err := o.Load()
	if err != nil {
		return err
	}
	o.maxLine = cfg.MaxLineBytes
	sets, err := o.sets()
	if err != nil {
		return err
	}
	m, e, err := program.OpenEncoder(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	r := documents.NewLadderReport(m.Name)
	var all documents.BeadCounts
	for _, set := range sets {
		aligned, err := document.Align(ctx, e, set.source, set.target, o.bead)
		if err != nil {
			return err
		}
		var c documents.BeadCounts
		found := documents.LadderOf(aligned.Beads)
		c.Add(set.gold, found)
		all.Add(set.gold, found)
		documents.AddLadderRow(r, set.name, c)
	}
	documents.AddLadderRow(r, "all", all)
	return program.WriteReports(out, format, r)
}

// goldSet is a pair of documents and its gold standard.
type goldSet struct {
	name           string
	source, target *document.Document
	gold           documents.Ladder
}

func (o *beadOptions) sets() (sets []goldSet, err error) {
	languages, err := flags.BothLanguages("mine eval beads", o.source, o.target)
	if err != nil {
		return nil, err
	}
	source, target := languages[0], languages[1]
	if o.dir == "" {
		return o.madeSets(source, target)
	}
	found, err := documents.Sets(o.dir, o.source, o.target)
	if err != nil {
		return nil, err
	}
	for _, name := range o.only {
		if !slices.ContainsFunc(found, func(s documents.Set) bool { return s.Name == name }) {
			return nil, badinput.Errorf("mine eval beads: %s has no documents %q", o.dir, name)
		}
	}
	for _, s := range found {
		if len(o.only) > 0 && !slices.Contains(o.only, s.Name) {
			continue
		}
		set := goldSet{name: s.Name}
		if set.source, err = document.Read(s.Source, source, o.maxLine); err != nil {
			return nil, err
		}
		if set.target, err = document.Read(s.Target, target, o.maxLine); err != nil {
			return nil, err
		}
		if set.gold, err = documents.ReadLadder(s.Gold); err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// madeSets makes documents of line-aligned sentences, evenly from the whole of the files.
func (o *beadOptions) madeSets(source, target string) ([]goldSet, error) {
	a, err := document.Read(o.sourceText, source, o.maxLine)
	if err != nil {
		return nil, err
	}
	b, err := document.Read(o.targetText, target, o.maxLine)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(a.Lines, b.Lines) || len(a.Lines) < o.length {
		return nil, badinput.Errorf("%s and %s must have text on the same lines, at least --length=%d of them",
			o.sourceText, o.targetText, o.length)
	}
	sets := make([]goldSet, o.made)
	for k := range sets {
		from := (len(a.Lines) - o.length) * k / max(o.made-1, 1)
		made := documents.Make(a.Sentences[from:from+o.length], b.Sentences[from:from+o.length], o.seed+uint64(k))
		sets[k] = goldSet{
			name:   fmt.Sprintf("%s-%s lines %d-%d", source, target, from+1, from+o.length),
			source: document.New(o.sourceText, source, made.Source),
			target: document.New(o.targetText, target, made.Target),
			gold:   made.Gold,
		}
	}
	return sets, nil
}
