package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"bitextmine/bitext"
	"bitextmine/corpus"
	"bitextmine/eval"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
	"bitextmine/pipeline"
)

// scoreOptions are the flags of mine score.
type scoreOptions struct {
	engine
	source, target             string
	sourceText, targetText     string
	sourceColumn, targetColumn string
	sourceCorpus, targetCorpus []string
	prefix, out                string
}

func newScore() *cobra.Command {
	var o scoreOptions
	cmd := &cobra.Command{
		Use:   "score [FILE.tsv | FILE.tmx | FILE.parquet]",
		Short: "Score existing bitext with true margins",
		Long: `Score existing bitext: two line-aligned files, a TSV, a TMX or any Parquet with two text columns. A margin sets a pair's
cosine against both sentences' neighbourhoods: those of the bitext's own sentences, together with the corpora of --src-corpus
and --tgt-corpus if given. What is read is written again with the columns score, cosine, src_mean, tgt_mean, src_rank and
tgt_rank added (in TMX as <prop>); no pair is dropped. A rank counts from 0; it is empty (255 in Parquet) when the partner is not
among the k nearest, and a pair with an empty side has no score. Line-aligned files become TSV without a header, a line a pair:
source, target and the columns in that order; a tab within a text becomes a space.`,
		Example: `  mine score --src de --tgt en --src-text a.de --tgt-text a.en --out scored.tsv
  mine score --src de --tgt en mined/de-en.parquet --prefix own_ --out scored.parquet`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runScore(cmd.Context(), o, args, cmd.OutOrStdout())
		},
	}
	o.register(cmd, "k", "margin", "format", "text_column", "on_bad_line", "max_line_bytes") // the last four of corpora
	f := cmd.Flags()
	f.StringVar(&o.source, "src", "", "source language")
	f.StringVar(&o.target, "tgt", "", "target language")
	f.StringVar(&o.sourceText, "src-text", "", "line-aligned source file")
	f.StringVar(&o.targetText, "tgt-text", "", "line-aligned target file")
	f.StringVar(&o.sourceColumn, "src-column", "src_text", "source column of TSV and Parquet")
	f.StringVar(&o.targetColumn, "tgt-column", "tgt_text", "target column")
	f.StringArrayVar(&o.sourceCorpus, "src-corpus", nil, "source text whose sentences are neighbours too: files, directories, globs")
	f.StringArrayVar(&o.targetCorpus, "tgt-corpus", nil, "target text whose sentences are neighbours too")
	f.StringVar(&o.prefix, "prefix", "", "beginning of the new columns' names")
	f.StringVar(&o.out, "out", "", "file to write, in the format of what is read; line-aligned files become TSV (default: standard output, not for Parquet)")
	return cmd
}

func runScore(ctx context.Context, o scoreOptions, args []string, stdout io.Writer) (err error) {
	if o.source == "" || o.target == "" {
		return badinput.Errorf("mine score: name both languages with --src and --tgt")
	}
	pair, err := eval.ParsePair(o.source, o.target)
	if err != nil {
		return err
	}
	if err := o.load(); err != nil {
		return err
	}
	margin, err := mine.ParseMargin(o.cfg.Margin)
	if err != nil {
		return badinput.Mark(err)
	}
	in, parquet, err := o.read(ctx, pair, args)
	if err != nil {
		return err
	}
	source, target := eval.Side{Language: pair.Source, Texts: in.Sources}, eval.Side{Language: pair.Target, Texts: in.Targets}
	if source.Texts, err = withCorpus(source.Texts, o.sourceCorpus, o.cfg); err != nil {
		return err
	}
	if target.Texts, err = withCorpus(target.Texts, o.targetCorpus, o.cfg); err != nil {
		return err
	}
	pool, err := openPool(ctx, o.cfg, source, target, margin, false)
	if err != nil {
		return err
	}
	scores := make([]*eval.PairScore, len(in.Sources))
	for i := range scores {
		if s, ok := pool.Score(in.Sources[i], in.Targets[i]); ok {
			scores[i] = &s
		}
	}
	return o.write(ctx, in, parquet, scores, stdout)
}

// read reads the pairs; parquet names the file when it is one.
func (o scoreOptions) read(ctx context.Context, pair eval.LanguagePair, args []string) (in *eval.BitextFile, parquet string, err error) {
	if o.sourceText != "" || o.targetText != "" {
		if o.sourceText == "" || o.targetText == "" || len(args) > 0 {
			return nil, "", badinput.Errorf("mine score: give --src-text and --tgt-text together, or one file alone")
		}
		if err := o.checkOut(".tsv"); err != nil {
			return nil, "", err
		}
		in, err = eval.ReadLineAligned(o.sourceText, o.targetText)
		return in, "", err
	}
	if len(args) != 1 {
		return nil, "", badinput.Errorf("mine score: name one .tsv, .tmx or .parquet file, or two line-aligned ones with --src-text and --tgt-text")
	}
	ext := strings.ToLower(filepath.Ext(args[0]))
	if err := o.checkOut(ext); err != nil {
		return nil, "", err
	}
	switch path := args[0]; ext {
	case ".tmx":
		in, err = eval.ReadTMX(path, pair.Source, pair.Target)
	case ".parquet":
		if o.out == "" {
			return nil, "", badinput.Errorf("mine score: Parquet cannot go to the terminal; name a file with --out")
		}
		parquet, in = path, &eval.BitextFile{}
		in.Sources, in.Targets, err = bitext.ReadTexts(ctx, path, o.sourceColumn, o.targetColumn)
	default:
		if in, err = eval.ReadPairsTSV(path, o.sourceColumn, o.targetColumn); err != nil {
			return nil, "", err
		}
		for flag, name := range map[string]string{"src-column": o.sourceColumn, "tgt-column": o.targetColumn} {
			if o.flags.Changed(flag) && !in.HasColumn(name) {
				return nil, "", badinput.Errorf("%s: its first line does not name both columns %q and %q: correct --%s", path, o.sourceColumn, o.targetColumn, flag)
			}
		}
		for _, name := range eval.ScoreColumns {
			if in.HasColumn(o.prefix + name) {
				return nil, "", badinput.Errorf("%s has a column %q already: give the new ones another beginning with --prefix", path, o.prefix+name)
			}
		}
	}
	return in, parquet, err
}

// checkOut refuses a name that promises another format than the input's, in which the output will be.
func (o scoreOptions) checkOut(ext string) error {
	out := strings.ToLower(filepath.Ext(o.out))
	for _, format := range []string{".parquet", ".tmx"} {
		if o.out != "" && (out == format) != (ext == format) {
			return badinput.Errorf("mine score: the output is in the format of what is read, which %s does not say: give --out another ending", o.out)
		}
	}
	return nil
}

// withCorpus adds the sentences of corpora to texts.
func withCorpus(texts, patterns []string, cfg *pipeline.Config) ([]string, error) {
	if len(patterns) == 0 {
		return texts, nil
	}
	inputs, err := corpus.Expand(nil, patterns)
	if err != nil {
		return nil, err
	}
	more, err := sentencesOf(inputs, cfg.CorpusOptions())
	return append(texts[:len(texts):len(texts)], more...), err
}

// sentencesOf reads the normalised sentences of inputs.
func sentencesOf(inputs []corpus.Input, opts corpus.Options) (texts []string, err error) {
	for _, in := range inputs {
		for s, err := range corpus.Sentences(in, opts) {
			if err != nil {
				return nil, err
			}
			texts = append(texts, s.Normal)
		}
	}
	return texts, nil
}

// openPool opens the encoder and the search, and builds the neighbourhoods of both sides.
func openPool(ctx context.Context, cfg *pipeline.Config, source, target eval.Side, margin mine.Margin, narrow bool) (_ *eval.Pool, err error) {
	search, err := searcher(cfg)
	if err != nil {
		return nil, err
	}
	encoder, err := openEncoder(cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, encoder.Close()) }()
	return eval.NewPool(ctx, &eval.Embedder{Encoder: encoder, Narrow: narrow}, search, source, target, cfg.K, margin)
}

func (o scoreOptions) write(ctx context.Context, in *eval.BitextFile, parquet string, scores []*eval.PairScore, stdout io.Writer) error {
	switch {
	case parquet != "":
		return bitext.AddColumns(ctx, parquet, o.out, scoreColumns(scores, o.prefix))
	case o.out == "":
		return in.Write(stdout, scores, o.prefix)
	}
	return atomicfile.Write(o.out, func(f *os.File) error { return in.Write(f, scores, o.prefix) })
}

// scoreColumns are the columns of eval.ScoreColumns as Parquet has them.
func scoreColumns(scores []*eval.PairScore, prefix string) []bitext.Column {
	columns := make([]bitext.Column, len(eval.ScoreColumns))
	for c := range columns {
		columns[c] = bitext.Column{Name: prefix + eval.ScoreColumns[c], Valid: make([]bool, len(scores))}
	}
	for i, s := range scores {
		for c := range columns {
			columns[c].Valid[i] = s != nil
		}
		if s == nil {
			s = &eval.PairScore{}
		}
		for c, v := range []float32{s.Score, s.Cosine, s.SourceMean, s.TargetMean} {
			columns[c].Float32 = append(columns[c].Float32, v)
		}
		columns[4].Uint8 = append(columns[4].Uint8, s.SourceRank)
		columns[5].Uint8 = append(columns[5].Uint8, s.TargetRank)
	}
	return columns
}
