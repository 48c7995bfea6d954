package scorer

import (
	"context"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"bitextmine/bitext/exchange"
	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/encode/model"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/scorer"
	stagefit "bitextmine/pipeline/stage/fit"
	"bitextmine/pipeline/view"
	"bitextmine/score"
	"bitextmine/score/fit"
)

// fitOptions are the flags of mine fit-scorer besides the settings of a run.
type fitOptions struct {
	pairs                  string
	pairsSource, pairsTgt  string
	examples               []string
	saveExamples, into, as string
	share                  float64
	base                   string
	short, unknown         bool
	without                []string
	labels                 string
}

// NewFitScorer makes mine fit-scorer.
func NewFitScorer() *cobra.Command {
	var s flags.Settings
	var o fitOptions
	cmd := &cobra.Command{
		Use:   "fit-scorer",
		Short: "Fit a scorer to your own corpora, without gold",
		Long: `Fit a scorer to your own corpora, without gold. Known translations are injected into the corpora, half of
them whole and half without one of their sentences, then the other way round: an injected pair is true, the other
candidates of its sentences are false, and nothing is claimed of the rest. The corpora are cut, encoded and searched
as by mine run, whose intermediate files serve both ways; no injected sentence gets into a bitext.

The pairs may be of any domain, but not ones that the encoder was trained on: it finds those too easily. Without
--pairs the program's own are injected, which it has of fifteen languages. --examples joins what other calls saved, so
that a scorer can be fitted on several language pairs; --src and --tgt are then not needed.

--labels RUN has the scorer learn from the pairs of a run that people rejected and accepted, beside the injected ones.`,
		Example: `  mine fit-scorer --src de --tgt en --src-text a.de --tgt-text a.en --pairs known.tsv \
      --scorer-out de-en.json
  mine run --src de --tgt en --src-text a.de --tgt-text a.en --scorer de-en.json
  mine fit-scorer --src de --tgt en --src-text a.de --tgt-text a.en --labels mined --scorer-out de-en.json
  mine fit-scorer --examples de.json --examples fr.json --scorer-out both.json`,
		Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runFitScorer(cmd.Context(), &s, o, cmd.OutOrStdout())
		},
	}
	s.Register(cmd, unread...)
	f := cmd.Flags()
	f.StringVar(&o.pairs, "pairs", "",
		"known translations, source<TAB>target a line, or a file with the columns src_text and tgt_text, .csv, .tmx, .xliff, .po or .jsonl")
	f.StringVar(&o.pairsSource, "pairs-src", "", "or: their source sentences, one a line")
	f.StringVar(&o.pairsTgt, "pairs-tgt", "", "and their target sentences in the same order")
	f.StringVar(&o.labels, "labels", "",
		"output directory of a run: what people decided on its pairs (mine reject, mine accept) become further examples")
	f.StringArrayVar(&o.examples, "examples", nil, "fit on saved examples, not on new ones; may be repeated")
	f.StringVar(&o.saveExamples, "save-examples", "", "also write the examples to this file")
	f.StringVar(&o.into, "scorer-out", "scorer.json", "the scorer file to write")
	f.Float64Var(&o.share, "share", fit.DefaultShare,
		"the part of the corpora's sentences that is expected to have a translation")
	f.StringVar(&o.base, "base", "", "with --refine, --short or --unknown: keep what this scorer (default, or a file) makes "+
		"of the first encoder, and fit only what that adds; its share stays, too")
	f.BoolVar(&o.short, "short", false, "with --base: fit the order of short candidates (headings, labels, messages) among "+
		"those of as many tokens, by known pairs of such text")
	f.BoolVar(&o.unknown, "unknown", false, "with --base: fit what decides instead where the encoder does not know one of "+
		"the languages, by known pairs of such")
	f.StringSliceVar(&o.without, "without", nil, "features that the scorer is not to look at")
	f.StringVar(&o.as, "scorer-name", "", "a name for it (default: the file's)")
	flags.Group("Scorer").AddFirst(f, "pairs", "pairs-src", "pairs-tgt", "labels", "examples", "save-examples",
		"scorer-out", "share", "base", "short", "unknown", "without", "scorer-name")
	flags.Replaced.Mark(f, "save-examples", "scorer-out")
	return program.GoesOn(cmd)
}

func runFitScorer(ctx context.Context, s *flags.Settings, o fitOptions, out io.Writer) error {
	base, err := o.keeps(s)
	if err != nil {
		return err
	}
	sets, err := o.sets(ctx, s)
	if err != nil {
		return err
	}
	name := o.as
	if name == "" {
		name = o.into
	}
	var scorer *score.Scorer
	switch {
	case base == nil:
		scorer, err = fit.Scorer(name, sets, o.share, o.without)
	case o.short:
		scorer, err = fit.Short(base.Scorer, name, sets)
	case o.unknown:
		scorer, err = fit.Unknown(base.Scorer, name, sets)
	default:
		scorer, err = fit.Refine(base.Scorer, name, sets)
	}
	if err != nil {
		return err
	}
	data, err := scorer.Encode()
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(o.into, data); err != nil {
		return err
	}
	if o.unknown {
		scorer = scorer.Unknown
	}
	if err := printScorer(out, scorer); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\n%s\n", o.into)
	return err
}

// keeps refuses flags that exclude each other, and reads the scorer that stays beside what is added to it; nil: none
// does.
func (o fitOptions) keeps(s *flags.Settings) (*score.Named, error) {
	for _, flag := range []string{"save-examples", "pairs", "pairs-src", "pairs-tgt"} {
		if len(o.examples) > 0 && s.Changed(flag) {
			return nil, badinput.Errorf("--%s is of examples that are made, and --examples names some that were saved; give one of them", flag)
		}
	}
	switch {
	case o.short && o.unknown:
		return nil, badinput.Errorf("--short and --unknown add to a scorer one after the other: give one of them")
	case o.base == "" && (o.short || o.unknown):
		return nil, badinput.Errorf("--short and --unknown add to a scorer: name that with --base, default or a file")
	case o.base == "":
		return nil, nil
	}
	if len(o.without) > 0 {
		return nil, badinput.Errorf("--without is of features that --base keeps; give one of them")
	}
	if s.Changed("share") {
		return nil, badinput.Errorf("--share is of a scorer that is fitted anew, and --base keeps its own; give one of them")
	}
	cfg, _, err := s.Load()
	if err != nil {
		return nil, err
	}
	if cfg.Refine == "" && len(o.examples) == 0 && !o.short && !o.unknown {
		return nil, badinput.Errorf("--base keeps a scorer to which something is added: give --refine, --short or --unknown, or leave --base out")
	}
	encoder, err := model.Load(cfg.Encoder)
	if err != nil {
		return nil, err
	}
	base, _, err := score.Load(o.base, cfg.K, encoder)
	if err != nil {
		return nil, err
	}
	if base == nil {
		return nil, badinput.Errorf("--base %s is no scorer; name default or a file", o.base)
	}
	return base, nil
}

// sets makes or reads the examples, and adds those that labels make.
func (o fitOptions) sets(ctx context.Context, s *flags.Settings) ([]*fit.Set, error) {
	sets, err := o.injected(ctx, s)
	if err != nil || o.labels == "" {
		return sets, err
	}
	cfg, _, err := s.Load()
	if err != nil {
		return nil, err
	}
	err = withRun(ctx, o.labels, cfg, func(run *view.Run) error {
		set, count, err := scorer.ReadExamples(ctx, run, cfg.EncoderOptions())
		if err == nil {
			sets = append(sets, set)
			warnUnused(count, o.labels)
		}
		return err
	})
	return sets, err
}

// injected makes or reads the examples of injected pairs.
func (o fitOptions) injected(ctx context.Context, s *flags.Settings) ([]*fit.Set, error) {
	var sets []*fit.Set
	for _, path := range o.examples {
		set, err := fit.ReadSet(path)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	if sets != nil {
		return sets, nil
	}
	cfg, _, err := s.Load()
	if err != nil {
		return nil, err
	}
	s.WarnSample()
	pairs, from, err := o.known(cfg)
	if err != nil {
		return nil, err
	}
	warnSwapped(pairs, from, cfg)
	set, err := pipeline.Fit(ctx, *cfg, stagefit.Known{Name: from, Pairs: pairs},
		program.RunOptions(progress.New(os.Stderr)))
	if err != nil {
		return nil, err
	}
	if o.saveExamples != "" {
		if err := set.Write(o.saveExamples); err != nil {
			return nil, err
		}
	}
	return []*fit.Set{set}, nil
}

// known reads the pairs to inject and says where they came from.
func (o fitOptions) known(cfg *pipeline.Config) ([]exchange.Pair, string, error) {
	switch {
	case o.pairs != "" && o.pairsSource+o.pairsTgt != "":
		return nil, "", badinput.Errorf("--pairs and --pairs-src name known pairs twice; give one form")
	case o.pairs != "":
		pairs, err := exchange.ReadKnown(o.pairs, cfg.Source, cfg.Target)
		return pairs, o.pairs, err
	case o.pairsSource != "" && o.pairsTgt != "":
		pairs, err := exchange.ReadKnownAligned(o.pairsSource, o.pairsTgt)
		return pairs, o.pairsSource, err
	case o.pairsSource+o.pairsTgt != "":
		return nil, "", badinput.Errorf("--pairs-src and --pairs-tgt go together; give both")
	}
	pairs, err := exchange.FixturePairs(cfg.Source, cfg.Target)
	return pairs, "fixtures/text (the program's own)", err
}

// printScorer shows the weights of a scorer, and its calibration on injected pairs that it was not fitted on.
func printScorer(out io.Writer, s *score.Scorer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "injected\t\tpairs\tfound\tcandidates\tseen\t\n")
	for _, p := range s.FittedOn {
		fmt.Fprintf(table, "%s-%s\t%s\t%d\t%d\t%d\t%v\t\n", p.Source, p.Target, p.Pairs, p.Injected, p.Found,
			p.Candidates, p.Seen)
	}
	fmt.Fprintf(table, "\nfeature\tweight\tif short\tmean\tdeviation\t\n")
	for _, t := range s.Terms {
		fmt.Fprintf(table, "%s\t%+.3f\t%+.3f\t%.3f\t%.3f\t\n", t.Feature, t.Weight, t.Weight+t.Short, t.Mean, t.Deviation)
	}
	if r := s.Refined; r != nil {
		fmt.Fprintf(table, "\nof pairs with a margin above %g, which %s sees\t\t\t\t\n", r.Floor, r.Encoder.Name)
		for _, t := range r.Terms {
			fmt.Fprintf(table, "%s\t%+.3f\t%.3f\t%.3f\t\n", t.Feature, t.Weight, t.Mean, t.Deviation)
		}
	}
	q := s.Quality
	fmt.Fprintf(table, "\nprobability\tcandidates\tmean\ttrue\t\n")
	for _, b := range q.Bins {
		fmt.Fprintf(table, "%.1f-%.1f\t%d\t%.3f\t%.3f\t\n", b.Low, b.High, b.Examples, b.Probability, b.True)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\non injected pairs left out: expected calibration error %.4f, log loss %.4f, "+
		"precision %.3f and recall %.3f at 0.5\n", q.Calibration, q.LogLoss, q.Precision, q.Recall)
	return err
}
