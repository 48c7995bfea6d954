package scorer

import (
	"context"
	"errors"
	"path/filepath"

	"bitextmine/bitext/label"
	"bitextmine/encode"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
	"bitextmine/pipeline/decide"
	"bitextmine/pipeline/view"
	"bitextmine/score"
	"bitextmine/score/fit"
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
	path := filepath.Join(run.Dir, label.Name)
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
	if refiner := run.Plan.Refiner; refiner != nil {
		set.Refine = &fit.Refiner{Encoder: score.Encoder{Name: refiner.Name, Digest: run.Plan.Settings.Refine}, Floor: run.Plan.Settings.RefineFloor}
	}
	return set, count, nil
}

// examples are the labelled candidates of a pair of languages, each a group of its own.
func (p *labelled) examples(ctx context.Context, tokens score.Tokenizer, threads int) (examples fit.Examples, err error) {
	var found view.Recall
	var sides [2]mine.Neighbours
	for side := range sides {
		if sides[side], err = p.Neighbours(ctx, side, &found); err != nil {
			return examples, err
		}
	}
	s := p.Plan.Settings
	lists, err := mine.NewLists(sides[0], sides[1], s.K, mine.Margin(s.Margin))
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
