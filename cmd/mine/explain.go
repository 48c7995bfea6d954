package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"bitextmine/bitext"
	"bitextmine/encode/embedding"
	"bitextmine/eval"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
	"bitextmine/pipeline"
)

func newExplain() *cobra.Command {
	var s settings
	var table string
	cmd := &cobra.Command{
		Use:   "explain (ROW --bitext FILE.parquet | SOURCE-SENTENCE TARGET-SENTENCE)",
		Short: "Show why a pair has its score, and why it was kept or not",
		Long: `Show why a pair has its score: the k nearest neighbours of both sentences with their cosines, both means, the ranks, which
side proposed the pair, and what took its place if it lost. The pair is a row of a bitext file, counted from 0, or two
sentences. Text and settings are given as for ` + "`mine run`" + `, with the same flags, environment and --config; they must be
those of the run to give its scores.`,
		Example: `  mine explain 17 --bitext mined/de-en.parquet --src de --tgt en --src-text a.de --tgt-text a.en
  mine explain "Guten Morgen." "Good morning." --src de --tgt en --src-text a.de --tgt-text a.en`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, _, err := s.load()
			if err != nil {
				return err
			}
			return runExplain(cmd.Context(), *cfg, table, args, cmd.OutOrStdout())
		},
	}
	s.register(cmd)
	cmd.Flags().StringVar(&table, "bitext", "", "bitext file whose row is meant")
	return cmd
}

func runExplain(ctx context.Context, cfg pipeline.Config, table string, args []string, out io.Writer) error {
	source, target, stored, err := pairToExplain(ctx, table, args)
	if err != nil {
		return err
	}
	sources, targets, err := runSides(&cfg)
	if err != nil {
		return err
	}
	pool, err := openPool(ctx, &cfg, sources, targets, mine.Margin(cfg.Margin), embedding.DType(cfg.DType) == embedding.Float16)
	if err != nil {
		return err
	}
	x, err := pool.Explain(source, target, mine.Retrieval(cfg.Retrieval), cfg.Threshold)
	if err != nil {
		return err
	}
	if stored != nil && math.Abs(float64(*stored-x.Score)) > 1e-4 {
		slog.Warn("the bitext has another score for the pair: its run had other settings or other text", "bitext", *stored, "here", x.Score)
	}
	printNeighbours(out, x, cfg)
	if done, err := printScored(ctx, out, pool, x, cfg); done || err != nil {
		return err
	}
	printVerdict(out, x, cfg)
	return nil
}

// pairToExplain is a row's sentences and score, or the two arguments.
func pairToExplain(ctx context.Context, table string, args []string) (source, target string, stored *float32, err error) {
	if table == "" {
		if len(args) != 2 {
			return "", "", nil, badinput.Errorf("mine explain: give the two sentences of the pair, or a row with --bitext FILE.parquet")
		}
		return args[0], args[1], nil, nil
	}
	if len(args) != 1 {
		return "", "", nil, badinput.Errorf("mine explain --bitext: give one row number")
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || n < 0 {
		return "", "", nil, badinput.Errorf("mine explain: %q is no row number", args[0])
	}
	file, err := bitext.Open(table)
	if err != nil {
		return "", "", nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	at := 0
	for row, err := range file.Rows(ctx) {
		if err != nil {
			return "", "", nil, err
		}
		if at == n {
			return row.Source.Text, row.Target.Text, &row.Score, nil
		}
		at++
	}
	return "", "", nil, badinput.Errorf("%s has %d rows, so none has the number %d (rows count from 0)", table, at, n)
}

// runSides reads a run's text, both sides.
func runSides(cfg *pipeline.Config) (source, target eval.Side, err error) {
	if cfg.Out == "" {
		cfg.Out = "." // nothing is written there
	}
	if err := cfg.Validate(); err != nil {
		return source, target, err
	}
	sources, targets, err := cfg.Inputs()
	if err != nil {
		return source, target, err
	}
	source, target = eval.Side{Language: cfg.Source}, eval.Side{Language: cfg.Target}
	if source.Texts, err = sentencesOf(sources, cfg.CorpusOptions()); err != nil {
		return source, target, err
	}
	target.Texts, err = sentencesOf(targets, cfg.CorpusOptions())
	return source, target, err
}

func printNeighbours(out io.Writer, x eval.Explanation, cfg pipeline.Config) {
	fmt.Fprintf(out, "%s\n%s\n\n", x.Source.Text, x.Target.Text)
	fmt.Fprintf(out, "%s margin %.6f = cosine %.6f against neighbourhood means %.6f (%s) and %.6f (%s), k = %d\n\n",
		cfg.Margin, x.Score, x.Cosine, x.SourceMean, cfg.Source, x.TargetMean, cfg.Target, cfg.K)
	printSide(out, "nearest "+cfg.Target+" sentences of the "+cfg.Source+" one", x.Source, x.SourceRank)
	printSide(out, "nearest "+cfg.Source+" sentences of the "+cfg.Target+" one", x.Target, x.TargetRank)
}

func printVerdict(out io.Writer, x eval.Explanation, cfg pipeline.Config) {
	fmt.Fprintln(out, verdictText(x, cfg))
	for _, w := range x.Winners {
		fmt.Fprintf(out, "  %.6f  %s\n            %s\n", w.Score, w.Source, w.Target)
	}
}

func printSide(out io.Writer, title string, side eval.ExplainedSide, rank uint8) {
	place := "the partner is not among them"
	if rank != mine.Unranked {
		place = fmt.Sprintf("the partner is number %d", rank+1)
	}
	fmt.Fprintf(out, "%s (%s)\n     cosine    margin\n", title, place)
	for i, n := range side.Neighbours {
		mark := " "
		if n.Partner {
			mark = "*"
		}
		proposed := ""
		if i == side.Best {
			proposed = "   <- proposed"
		}
		fmt.Fprintf(out, "  %s  %.6f  %.6f  %s%s\n", mark, n.Cosine, n.Score, n.Text, proposed)
	}
	fmt.Fprintln(out)
}

func verdictText(x eval.Explanation, cfg pipeline.Config) string {
	var by []string
	if x.Forward {
		by = append(by, "the "+cfg.Source+" sentence")
	}
	if x.Backward {
		by = append(by, "the "+cfg.Target+" sentence")
	}
	switch {
	case !x.Candidate && len(x.Winners) == 0:
		return "neither sentence proposed the pair, so it was never looked at"
	case !x.Candidate:
		return "neither sentence proposed the pair, so it was never looked at; their sentences were kept in:"
	}
	proposed := "proposed by " + strings.Join(by, " and ")
	switch x.Verdict {
	case mine.Kept:
		return fmt.Sprintf("%s, kept: the score is above the threshold %g", proposed, cfg.Threshold)
	case mine.BelowThreshold:
		return fmt.Sprintf("%s, not kept: the score is not above the threshold %g", proposed, cfg.Threshold)
	case mine.NotProposed:
		return fmt.Sprintf("%s, not kept: %s retrieval asks another side to propose it", proposed, cfg.Retrieval)
	}
	return proposed + ", not kept: a better pair had taken one of its sentences:"
}
