package scorer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bitextmine/bitext/exchange"
	"bitextmine/bitext/label"
	"bitextmine/corpus"
	"bitextmine/encode"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
	"bitextmine/pipeline/decide"
	"bitextmine/pipeline/stage"
	stagefit "bitextmine/pipeline/stage/fit"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
	"bitextmine/score"
	"bitextmine/score/fit"
	"bitextmine/score/inject"
)

// ReadExamples computes the features of the labelled candidates of a run: a pair that was accepted is a true example, a
// rejected one a false example.
func ReadExamples(ctx context.Context, run *view.Run, options encode.Options) (set *fit.Set, count Count, err error) {
	pairs, count, err := read(ctx, run)
	if err != nil {
		return nil, count, err
	}
	tokens, closeTokens, err := score.OpenTokens(run.Model, options)
	if err != nil {
		return nil, count, err
	}
	defer func() { err = errors.Join(err, closeTokens()) }()
	path := label.Path(run.Dir)
	first := run.Plan.Pairs[0]
	known := score.KnownPairs{
		Pairs: path, Corpus: run.Dir, Source: run.Plan.Languages[first.Source].Code, Target: run.Plan.Languages[first.Target].Code,
	}
	var examples fit.Examples
	for _, p := range pairs {
		some, err := p.examples(ctx, tokens, options.Threads)
		if err != nil {
			return nil, count, err
		}
		examples.Add(some)
	}
	count.Used = len(examples.True)
	if count.Used == 0 {
		return nil, count, badinput.Errorf("none of the %d labels in %s is on a pair that the run's search found: label rows of its bitext", count.Labels, path)
	}
	for _, accepted := range examples.True {
		if accepted {
			known.Found++
		}
	}
	known.Injected, known.Candidates = count.Labels, count.Used
	set = fit.NewSet(run.Model, run.Plan.Settings.K, known, examples)
	if refiner := run.Plan.Refiner; refiner != nil && run.Plan.Settings.RefineDoubt == 0 {
		set.Refine = &fit.Refiner{Encoder: score.Encoder{Name: refiner.Name, Digest: run.Plan.Settings.Refine}, Floor: run.Plan.Settings.RefineFloor}
	}
	return set, count, nil
}

// examples are the labelled candidates of a pair of languages, each a group of its own.
func (p *labelled) examples(ctx context.Context, tokens score.Tokenizer, threads int) (examples fit.Examples, err error) {
	lists, _, err := decide.ScoredLists(ctx, p.Pair, p.Plan.Settings.K)
	if err != nil {
		return examples, err
	}
	problem := decide.Problem(p.Pair, lists, tokens, threads)
	problem.Only = func(c *mine.Candidate) bool {
		_, ok := p.accepted[[2]int32{c.Source, c.Target}]
		return ok
	}
	candidates, values, err := problem.Candidates(ctx)
	if err != nil {
		return examples, err
	}
	examples.Values = values
	for i, c := range candidates {
		examples.True = append(examples.True, p.accepted[[2]int32{c.Source, c.Target}])
		examples.Group = append(examples.Group, int32(i))
		examples.Unpaired, examples.Labelled = append(examples.Unpaired, false), append(examples.Labelled, true)
		examples.NearMiss = append(examples.NearMiss, false)
	}
	if problem.Strong != nil {
		strong, failure := problem.Strong(ctx, candidates)
		examples.Strong, err = strong.Cosines, failure
	}
	return examples, err
}

// Collect runs the task of the fit stage whose key want returns, with the tasks that it needs, and returns its output.
type Collect func(ctx context.Context, want func(*stage.Builder) (key string, err error)) (*store.Output, error)

// fit injects the program's known pairs into the text and fits a scorer: the content of its file. The stages that the
// run itself has too are then done. In a language that the encoder does not know, known pairs are made hazy.
func (c *Chooser) fit(ctx context.Context, collect Collect) ([]byte, error) {
	cfg, encoder := c.Config, c.Models.Encoder
	if cfg.DryRun != nil {
		return nil, badinput.Errorf("scorer = auto is first fitted to the text, with encoder %s, before the tasks that use it are "+
			"known: fit it with mine fit-scorer and name it with --scorer", encoder.Name)
	}
	pairs, of, err := exchange.MixedPairs(cfg.Source, cfg.Target)
	if err != nil {
		return nil, err
	}
	unknown := func(code string) bool { return !corpus.Lists(encoder.Languages, code) }
	pairs = inject.Hazy(pairs, [2]bool{unknown(cfg.Source), unknown(cfg.Target)})
	c.Log.Info(fmt.Sprintf("the program has no scorer for encoder %s; one is fitted to this text with %d known pairs (%s)",
		encoder.Name, len(pairs), of))
	begin := time.Now()
	out, err := collect(ctx, func(b *stage.Builder) (string, error) {
		return stagefit.Want(b, 0, stagefit.Known{Name: fmt.Sprintf("the program's own (%s)", of), Pairs: pairs}, true), nil
	})
	if err != nil {
		if badinput.Is(err) {
			err = badinput.Errorf("scorer = auto cannot be fitted (%w); choose another encoder, or let the margin decide with "+
				"--scorer none --threshold 1.06", err)
		}
		return nil, err
	}
	set, err := fit.ReadSet(out.Path(stagefit.ExamplesFile))
	if err != nil {
		return nil, err
	}
	base, err := score.OfDefault()
	if err != nil {
		return nil, err
	}
	scorer, err := fit.OnTheWay(set, base)
	if err != nil {
		return nil, err
	}
	q := scorer.Quality
	c.Log.Info(fmt.Sprintf("fitted a scorer in %.1f s: on known pairs left out, precision %.2f and recall %.2f at 0.5, "+
		"calibration error %.3f", time.Since(begin).Seconds(), q.Precision, q.Recall, q.Calibration))
	return scorer.Encode()
}
