package evaluation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"bitextmine/align/word"
	"bitextmine/bitext"
	"bitextmine/bitext/exchange"
	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/corpus"
	"bitextmine/eval"
	"bitextmine/eval/report"
	"bitextmine/internal/badinput"
)

// aerOptions are the flags of mine eval aer.
type aerOptions struct {
	flags.Settings
	links, gold, tokens string
	linksBase, goldBase int
	dir, format         string
	only                []string
	more                string
	source, target      string
	splitter            string
	model               flags.Words
}

// newAER makes mine eval aer.
func newAER() *cobra.Command {
	var o aerOptions
	cmd := &cobra.Command{
		Use:   "aer (--hyp FILE --gold FILE | --dir DIR [--bitext FILE])",
		Short: "Measure word alignments: alignment error rate, precision, recall",
		Long: `Measure word alignments against a gold standard of sure and possible links: precision is the part of the
links that is sure or possible, recall the part of the sure links that is found, and AER = 1 - (|A∩S| + |A∩P|) / (|A|
+ |S|), all in percent (Och and Ney, 2003).

--hyp is a file of links i-j, a line for each pair. --gold has sure links i-j and possible links ipj, counted from 1
as in published sets (--gold-base 0 if from 0). --dir is a directory of test sets, NAME.src-tgt ("source ||| target")
and NAME.gold: they are aligned with the program's own aligner, every way to combine both directions is measured, and
--bitext gives it more text to count.`,
		Example: `  mine eval aer --hyp en-fr.pharaoh --gold en-fr.gold
  mine eval aer --dir awesome-align/examples --only enfr --bitext en-fr.tsv`,
		Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runAER(cmd.Context(), &o, cmd.OutOrStdout())
		},
	}
	o.RegisterSome(cmd, flags.Declared("threads", "onnxruntime"))
	f := cmd.Flags()
	f.StringVar(&o.links, "hyp", "", "alignments to measure, in Pharaoh's format")
	f.StringVar(&o.gold, "gold", "", "the gold standard")
	f.StringVar(&o.tokens, "tokens", "", "the words that both count, as mine align --tokens-out writes them: checked")
	f.IntVar(&o.linksBase, "hyp-base", 0, "number of the first word in --hyp: 0 or 1")
	f.IntVar(&o.goldBase, "gold-base", 1, "number of the first word in --gold: 0 or 1")
	f.StringVar(&o.dir, "dir", "", "directory of test sets, instead of --hyp and --gold")
	f.StringSliceVar(&o.only, "only", nil, "names of the sets of --dir (default: all)")
	f.StringVar(&o.more, "bitext", "", "more bitext for the aligner, as of mine align")
	f.StringVar(&o.source, "src", "", "source language, which a TMX needs")
	f.StringVar(&o.target, "tgt", "", "target language")
	f.StringVar(&o.splitter, "words", string(word.Text), "words of --bitext: text, or spaces")
	o.model.Register(cmd)
	f.StringVar(&o.format, "format", "table", "table, json, tsv, markdown")
	return cmd
}

func runAER(ctx context.Context, o *aerOptions, out io.Writer) error {
	format, err := report.ParseFormat(o.format)
	if err != nil {
		return err
	}
	r := eval.NewAlignmentReport("mine align")
	switch {
	case o.dir != "" && (o.links != "" || o.gold != ""), o.dir == "" && (o.links == "" || o.gold == ""):
		return badinput.Errorf("mine eval aer: give --hyp and --gold together, or --dir alone")
	case o.linksBase>>1 != 0 || o.goldBase>>1 != 0:
		return badinput.Errorf("mine eval aer: --hyp-base and --gold-base must be 0 or 1")
	}
	err = flags.RefuseIdle("mine eval aer", o.Changed,
		flags.Idle{Used: o.dir != "", For: "--dir", Flags: append(o.model.Names(), "bitext", "only", "words", "src", "tgt")},
		flags.Idle{Used: o.dir == "", For: "--hyp and --gold", Flags: []string{"tokens", "hyp-base"}},
		flags.Idle{Used: o.more != "", For: "--bitext", Flags: []string{"words"}})
	switch {
	case err != nil:
	case o.dir != "":
		err = o.alignSets(ctx, r)
	default:
		var c eval.LinkCounts
		if c, err = eval.CompareLinks(o.links, o.linksBase, o.gold, o.goldBase, o.tokens); err == nil {
			r = eval.NewAlignmentReport(o.links)
			eval.AddAlignmentRow(r, filepath.Base(o.gold), c)
			if o.tokens == "" {
				r.Note("nothing says that both count the same words: --tokens compares the links with them")
			}
		}
	}
	if err != nil {
		return err
	}
	return program.WriteReports(out, format, r)
}

// alignSets aligns and measures the sets of --dir.
func (o *aerOptions) alignSets(ctx context.Context, r *report.Report) error {
	words, more, err := o.aligner()
	if err != nil {
		return err
	}
	sets, err := eval.ReadAlignmentSets(o.dir, o.goldBase)
	if err != nil {
		return err
	}
	for _, name := range o.only {
		if !slices.ContainsFunc(sets, func(s eval.AlignmentSet) bool { return s.Name == name }) {
			return badinput.Errorf("mine eval aer: %s has no set %q", o.dir, name)
		}
	}
	for _, set := range sets {
		if len(o.only) > 0 && !slices.Contains(o.only, set.Name) {
			continue
		}
		results, err := set.Align(ctx, more, words)
		if err != nil {
			return err
		}
		for _, result := range results {
			eval.AddAlignmentRow(r, set.Name+" "+string(result.Symmetry), result.LinkCounts)
		}
	}
	return nil
}

// aligner returns the aligner's settings, and the further bitext if there is any.
func (o *aerOptions) aligner() (words word.FileAligner, more *word.FileInput, err error) {
	cfg, _, err := o.Load()
	if err != nil {
		return words, nil, err
	}
	words = word.DefaultFileAligner()
	if words.Model, err = o.model.Options("mine eval aer", cfg, o.source, o.target); err != nil {
		return words, nil, err
	}
	if words.Splitter, err = word.ParseSplitter(o.splitter); err != nil || o.more == "" {
		return words, nil, err
	}
	more = &word.FileInput{File: o.more, Exchange: exchange.DefaultOptions()}
	languages, err := flags.Languages(o.source, o.target)
	if exchange.FormatOf(o.more) == exchange.TMX {
		languages, err = flags.BothLanguages("mine eval aer", o.source, o.target)
	}
	more.Exchange.SourceLanguage, more.Exchange.TargetLanguage = languages[0], languages[1]
	return words, more, err
}

// explainAlignment says what aligning documents made of a pair, in a run that aligned them. whole is true if there is
// nothing else to say: a side is a span of several sentences, which global mining does not know.
func explainAlignment(ctx context.Context, out io.Writer, path string, texts [2]string) (whole bool, err error) {
	file, err := bitext.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if file.Metadata()["document_pairs"] == "" {
		return false, nil
	}
	keys := [2][16]byte{corpus.KeyOf(corpus.Normalise(texts[0])), corpus.KeyOf(corpus.Normalise(texts[1]))}
	for row, err := range file.Rows(ctx) {
		if err != nil {
			return false, err
		}
		if row.Source.Key != keys[0] || row.Target.Key != keys[1] || row.Alignment == nil {
			continue
		}
		if row.Aligned() == "" {
			_, err = fmt.Fprintf(out, "found by mining all sentences, and by no alignment of documents\n")
			return false, err
		}
		_, err = fmt.Fprintln(out, row.Aligned())
		return row.Spans(), err
	}
	_, err = fmt.Fprintln(out, "the pair is not in the bitext: if global mining keeps it below, aligning their "+
		"documents found others for its sentences")
	return false, err
}
