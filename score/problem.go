package score

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"bitextmine/internal/spill"
	"bitextmine/mine"
	"bitextmine/score/feature"
)

// TextReader adds the sentences of a side (0 is the source, 1 the target) to into. It is called for both sides
// concurrently.
type TextReader func(ctx context.Context, side int, into *SideBuilder) error

// Problem is the input of a scorer or a fit: the neighbour lists and a way to read the texts.
type Problem struct {
	Languages [2]string
	Lists     *mine.Lists
	Tokens    Tokenizer  // nil if there is none
	Read      TextReader // adds the texts
	Threads   int
	Space     spill.Space                // of what candidates and sentences have
	Only      func(*mine.Candidate) bool // selects the candidates to describe; nil means all
	// Strong returns what the strong encoder of two-stage mining says of candidates; nil: one encoder.
	Strong func(ctx context.Context, candidates []mine.Candidate) (Strong, error)
}

// Candidates returns the candidates with their features.
func (p *Problem) Candidates(ctx context.Context) ([]mine.Candidate, feature.Values, error) {
	candidates, table, err := p.describe(ctx)
	if err != nil {
		return nil, nil, err
	}
	values, err := table.All()
	return candidates, values, errors.Join(err, table.Close())
}

// describe finds the candidates and computes their features.
func (p *Problem) describe(ctx context.Context) (candidates []mine.Candidate, _ *feature.Table, err error) {
	var sides [2]*SideBuilder
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(max(1, p.Threads))
	for i, n := range []int{p.Lists.Source.Len(), p.Lists.Target.Len()} {
		sides[i] = NewSide(p.Space, p.Languages[i], n, p.Tokens, p.Threads)
		defer func() { err = errors.Join(err, sides[i].side.Close()) }()
		group.Go(func() error { return p.Read(within, i, sides[i]) })
	}
	group.Go(func() error {
		candidates = p.Lists.ScoredCandidates()
		if p.Only != nil {
			candidates = slices.DeleteFunc(candidates, func(c mine.Candidate) bool { return !p.Only(&c) })
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	if err := finish(ctx, sides[0], sides[1]); err != nil {
		return nil, nil, err
	}
	values, err := feature.Compute(ctx, p.Space, p.Lists, candidates, sides[0].side, sides[1].side, p.Threads)
	return candidates, values, err
}

// Apply ranks the candidates by a scorer. Its K must be that of the lists.
func (p *Problem) Apply(ctx context.Context, scorer *Scorer) (Ranked, error) {
	if p.Lists.K != scorer.K {
		return Ranked{}, fmt.Errorf("the scorer's k is %d, that of the lists %d", scorer.K, p.Lists.K)
	}
	candidates, values, err := p.describe(ctx)
	if err != nil {
		return Ranked{}, err
	}
	if p.Tokens == nil && scorer.Tokens {
		scorer = scorer.WithoutTokens()
	}
	var strong Strong
	if p.Strong != nil {
		strong, err = p.Strong(ctx, candidates)
	}
	var ranked Ranked
	if err == nil {
		ranked, err = scorer.Rank(candidates, values, strong)
	}
	if err != nil {
		return Ranked{}, errors.Join(err, values.Close())
	}
	return ranked, nil
}

// Texts is a TextReader for texts in memory, by sentence number.
func Texts(texts [2][]string) TextReader {
	return func(ctx context.Context, side int, into *SideBuilder) error {
		return into.Add(ctx, Numbers(0, len(texts[side])), texts[side])
	}
}

// Numbers lists n consecutive sentence numbers from first.
func Numbers(first, n int) []int32 {
	numbers := make([]int32, n)
	for i := range numbers {
		numbers[i] = int32(first + i)
	}
	return numbers
}
