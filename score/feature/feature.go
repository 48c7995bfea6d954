// Package feature computes the numbers that a scorer weighs for each candidate. They come from the vectors (cosine and
// margins), from the tokens (how well the tokens of each sentence are covered by those of the other) and from the
// surface of the texts (lengths, numbers, names, cognates, punctuation, negation).
//
// Terms. A candidate is a pair of sentences (package mine). A token's best cosine is that with the nearest token of the
// other sentence. Token coverage is the mean of best cosines, weighted by inverse document frequency. The rivals of a
// candidate are the pairs of its sentences with their other neighbours. The package does no I/O and calls no encoder:
// it is given the surface of the texts and the vectors of the tokens.
package feature

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"bitextmine/internal/spill"
	"bitextmine/mine"
)

// Feature is one number that is computed for a candidate. Its version changes when its computation does. A scorer
// fitted on one version is not applied to another.
type Feature struct {
	Name      string
	Version   int
	Low, High float32 // a value outside the range is set to its nearer end
	Sign      int     // 1: a higher value speaks for a translation, -1: against it, 0: it depends on other features
	Kind      Kind
	Meaning   string

	of    func(*pair) float32
	rival *rival // the value is of minus the same of the best other neighbour; nil: it is of
}

// Kind says what a feature is computed from.
type Kind uint8

// The kinds. A feature of Tokens is 0 where an encoder has no token vectors.
const (
	Vectors Kind = iota
	Tokens
	Text
)

// All lists every feature in the order of a candidate's values; those of Vectors are the first ones. "its k neighbours"
// are the first k of a sentence's list; k is the scorer's. A token has a cosine with each token of the
// other sentence. To add a feature, add a value here; names, files and defaults follow from the list.
var All = []Feature{
	{"cosine", 1, -1, 1, 1, Vectors, "cosine of the two sentence vectors",
		func(p *pair) float32 { return p.cosine }, nil},
	{"ratio", 1, 0, 4, 1, Vectors, "ratio margin over its k neighbours",
		func(p *pair) float32 { return mine.Ratio.Of(p.cosine, p.means[source], p.means[target]) }, nil},
	{"distance", 1, -1, 1, 1, Vectors, "distance margin over its k neighbours",
		func(p *pair) float32 { return mine.Distance.Of(p.cosine, p.means[source], p.means[target]) }, nil},
	{"ratio_without", 1, 0, 4, 1, Vectors, "ratio margin, the candidate left out of both neighbourhoods",
		func(p *pair) float32 { return mine.Ratio.Of(p.cosine, p.others[source], p.others[target]) }, nil},
	{"distance_without", 1, -1, 1, 1, Vectors, "distance margin, the candidate left out of both neighbourhoods",
		func(p *pair) float32 { return mine.Distance.Of(p.cosine, p.others[source], p.others[target]) }, nil},
	{"gap_src", 1, -1, 1, 1, Vectors, "cosine less that of the source's best other neighbour",
		func(p *pair) float32 { return p.cosine - p.rivals[source] }, nil},
	{"gap_tgt", 1, -1, 1, 1, Vectors, "cosine less that of the target's best other neighbour",
		func(p *pair) float32 { return p.cosine - p.rivals[target] }, nil},

	{"cover_src", 2, -1, 1, 1, Tokens, "mean over source tokens of the best cosine, weighted by inverse document frequency",
		func(p *pair) float32 { return p.tokens[source].mean }, nil},
	{"cover_tgt", 2, -1, 1, 1, Tokens, "the same of target tokens",
		func(p *pair) float32 { return p.tokens[target].mean }, nil},
	{"cover_least", 2, -1, 1, 1, Tokens, "the lower of the two",
		func(p *pair) float32 { return min(p.tokens[source].mean, p.tokens[target].mean) }, nil},
	{"cover_gap_src", 2, -1, 1, 1, Tokens, "mean of the two less the best such mean among the source's other neighbours; 0 if there is none",
		(*pair).coverage, &rival{source, ofCoverage}},
	{"cover_gap_tgt", 2, -1, 1, 1, Tokens, "the same among the target's other neighbours",
		(*pair).coverage, &rival{target, ofCoverage}},
	{"uncovered_src", 2, 0, 1, -1, Tokens, "share of the source tokens' weight whose best cosine is below 0.4",
		func(p *pair) float32 { return p.tokens[source].uncovered }, nil},
	{"uncovered_tgt", 2, 0, 1, -1, Tokens, "share of the target tokens' weight whose best cosine is below 0.4",
		func(p *pair) float32 { return p.tokens[target].uncovered }, nil},
	{"missing_src", 2, 0, 2, -1, Tokens, "mean of the three largest weight x (1 - best cosine) of source tokens",
		func(p *pair) float32 { return p.tokens[source].missing }, nil},
	{"missing_tgt", 2, 0, 2, -1, Tokens, "the same of target tokens",
		func(p *pair) float32 { return p.tokens[target].missing }, nil},
	{"cubed_src", 1, 0, 1, 1, Tokens, "token coverage of the source with the cubes of the best cosines, 0 of negative ones",
		func(p *pair) float32 { return p.tokens[source].cubes }, nil},
	{"cubed_tgt", 1, 0, 1, 1, Tokens, "the same of target tokens",
		func(p *pair) float32 { return p.tokens[target].cubes }, nil},
	{"cubed_gap_src", 1, -1, 1, 1, Tokens, "mean of the two less the best such mean among the source's other neighbours; 0 if there is none",
		(*pair).cubes, &rival{source, ofCubes}},
	{"cubed_gap_tgt", 1, -1, 1, 1, Tokens, "the same among the target's other neighbours",
		(*pair).cubes, &rival{target, ofCubes}},
	{"mutual_src", 1, -1, 1, 1, Tokens, "token coverage of the source by mutual matches alone: tokens that are each other's best ones",
		func(p *pair) float32 { return p.tokens[source].mutual }, nil},
	{"mutual_tgt", 1, -1, 1, 1, Tokens, "the same of target tokens",
		func(p *pair) float32 { return p.tokens[target].mutual }, nil},
	{"mutual_gap_src", 1, -1, 1, 1, Tokens, "mean of the two less the best such mean among the source's other neighbours; 0 if there is none",
		(*pair).mutual, &rival{source, ofMutual}},
	{"mutual_gap_tgt", 1, -1, 1, 1, Tokens, "the same among the target's other neighbours",
		(*pair).mutual, &rival{target, ofMutual}},

	{"length", 1, 0, 3, -1, Text, "absolute log ratio of the lengths in characters, less that of the two corpora",
		func(p *pair) float32 { return p.length }, nil},
	{"numbers_differ", 3, 0, 16, -1, Text, "numbers in digits that one sentence has and the other lacks",
		func(p *pair) float32 { return p.numbers.differ }, nil},
	{"numbers_shared", 3, 0, 1, 1, Text, "share of all numbers that both have; 0 without numbers",
		func(p *pair) float32 { return p.numbers.shared }, nil},
	{"numbers_any", 2, 0, 1, 0, Text, "1 if either sentence has a number",
		func(p *pair) float32 { return p.numbers.any }, nil},
	{"numbers_conflict", 3, 0, 8, -1, Text, "numbers, spelled out ones too, that one sentence has in place of others: the fewer of those that only one of them has, less in a long pair",
		func(p *pair) float32 { return p.numbers.conflict * p.shortness() }, nil},
	{"names_shared", 1, 0, 8, 1, Text, "names of one sentence that look or sound like a word of the other; of the side with more of them",
		func(p *pair) float32 { return float32(max(p.names[source].found, p.names[target].found)) }, nil},
	{"names_missing", 1, 0, 1, -1, Text, "mean over a sentence's names of how unlike all of the other sentence they are; the lower of the sides with names",
		(*pair).namesMissing, nil},
	{"names_conflict", 4, 0, 1, -1, Text, "the lower of the two sentences' largest such value, less in a long pair: a name that one has in place of another",
		func(p *pair) float32 { return min(p.names[source].largest, p.names[target].largest) * p.shortness() }, nil},
	{"punctuation", 2, 0, 16, -1, Text, "differences in the counts of eight kinds of marks, at most two each",
		func(p *pair) float32 { return p.punctuation }, nil},
	{"negation", 1, 0, 1, -1, Text, "1 if just one of the two sentences has a word that negates, where both languages' are listed",
		func(p *pair) float32 { return p.negation }, nil},
	{"tokens", 2, 0, 8, 0, Tokens, "log of one more than the tokens of the shorter sentence",
		func(p *pair) float32 { return p.shorter }, nil},
}

// Covers says whether a feature is the token coverage of a candidate itself.
func (f Feature) Covers() bool { return f.Kind == Tokens && f.Sign > 0 && f.rival == nil }

// Count is the number of features.
var Count = len(All)

// OfVectors is the number of the features of Vectors.
var OfVectors = slices.IndexFunc(All, func(f Feature) bool { return f.Kind != Vectors })

// Names returns the names in order.
func Names() []string {
	names := make([]string, len(All))
	for i, f := range All {
		names[i] = f.Name
	}
	return names
}

// Index is the place of a feature, -1 if no feature has the name.
func Index(name string) int {
	return slices.IndexFunc(All, func(f Feature) bool { return f.Name == name })
}

// set sets the values of a candidate. Those that compare it with rivals are set to what is compared.
func (p *pair) set(values []float32) {
	for i := range All {
		values[i] = All[i].of(p)
	}
}

// clamp limits a candidate's values to their documented ranges.
func clamp(values []float32) {
	for i := range All {
		values[i] = max(All[i].Low, min(All[i].High, values[i]))
	}
}

// candidateBlock is the number of candidates that a thread takes at a time.
const candidateBlock = 256

// Compute returns the features of candidates: the ScoredCandidates of lists, or some of them in the same order. Each
// value depends only on the pair, the lists and the two sides, so the number of threads changes nothing. Features that
// do not fit in the space's memory are in a file, which the caller must close with the table; so is what Compute itself
// needs of each sentence.
func Compute(
	ctx context.Context, space spill.Space, lists *mine.Lists, candidates []mine.Candidate, source, target *Side, threads int,
) (*Table, error) {
	if err := errors.Join(source.finish(lists.Source.Len()), target.finish(lists.Target.Len())); err != nil {
		return nil, fmt.Errorf("describe candidates: %w", err)
	}
	if (source.dim == 0) != (target.dim == 0) {
		return nil, errors.New("describe candidates: only one side has tokens")
	}
	values, err := newTable(space, len(candidates))
	if err != nil {
		return nil, err
	}
	d := describer{
		lists: lists, source: source, target: target, room: &spill.Arena{Space: space},
		length: math.Log(max(1, target.meanLength()) / max(1, source.meanLength())),
	}
	if source.dim > 0 {
		d.rivals, err = newRivals(d.room, lists, candidates)
	}
	if err == nil {
		err = d.compute(ctx, candidates, values, threads)
	}
	if err = errors.Join(err, d.room.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("describe candidates: %w", err), values.Close())
	}
	return values, nil
}

// compute sets all values: first those of each pair alone, then those that compare it with its rivals.
func (d *describer) compute(ctx context.Context, candidates []mine.Candidate, values *Table, threads int) error {
	err := inBlocks(ctx, len(candidates), threads, func(lo, hi int, m *coverage) error {
		block := m.block[:(hi-lo)*Count]
		m.fetch(d, hi-lo, func(i int) (source, target int32) { return candidates[lo+i].Source, candidates[lo+i].Target })
		for i := lo; i < hi; i++ {
			p, err := m.describe(d, &candidates[i])
			if err != nil {
				return err
			}
			p.set(block.Of(i - lo))
			m.means[i-lo] = meansOf(&p)
		}
		if d.rivals != nil {
			d.rivals.add(hi-lo, func(i int) mine.Pair { return candidates[lo+i].Pair() }, m.means)
		}
		return values.write(lo, block)
	})
	if err == nil && d.rivals != nil {
		err = d.measureRivals(ctx, candidates, threads)
	}
	if err != nil {
		return err
	}
	return inBlocks(ctx, len(candidates), threads, func(lo, hi int, m *coverage) error {
		block := m.block[:(hi-lo)*Count]
		if err := values.read(lo, block); err != nil {
			return err
		}
		for i := lo; i < hi; i++ {
			if d.rivals != nil {
				d.rivals.gaps(candidates[i].Pair(), block.Of(i-lo))
			}
			clamp(block.Of(i - lo))
		}
		return values.write(lo, block)
	})
}

// measureRivals measures the token coverage of the candidates' rivals.
func (d *describer) measureRivals(ctx context.Context, candidates []mine.Candidate, threads int) error {
	rivals, err := d.lists.Rivals(d.room, candidates)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	blocks := make(chan []mine.Pair, threads)
	group.Go(func() error {
		defer close(blocks)
		for block := range chunks(rivals, candidateBlock) {
			select {
			case blocks <- block:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range max(1, threads) {
		group.Go(func() error {
			m := newCoverage()
			for pairs := range blocks {
				m.fetch(d, len(pairs), func(i int) (source, target int32) { return pairs[i].Source, pairs[i].Target })
				for i, at := range pairs {
					if err := m.load(d, at.Source, at.Target); err != nil {
						return err
					}
					var p pair
					m.measure(&p)
					m.means[i] = meansOf(&p)
				}
				d.rivals.add(len(pairs), func(i int) mine.Pair { return pairs[i] }, m.means)
			}
			return nil
		})
	}
	return group.Wait()
}

// chunks yields what a sequence yields, n at a time.
func chunks[T any](all iter.Seq[T], n int) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		chunk := make([]T, 0, n)
		for one := range all {
			if chunk = append(chunk, one); len(chunk) == n {
				if !yield(chunk) {
					return
				}
				chunk = make([]T, 0, n)
			}
		}
		if len(chunk) > 0 {
			yield(chunk)
		}
	}
}

// inBlocks calls each for the blocks of 0 to n-1 on several threads. Each thread has its own buffers.
func inBlocks(ctx context.Context, n, threads int, each func(lo, hi int, m *coverage) error) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range max(1, threads) {
		group.Go(func() error {
			m := newCoverage()
			for ctx.Err() == nil {
				lo := int(next.Add(candidateBlock)) - candidateBlock
				if lo >= n {
					return nil
				}
				if err := each(lo, min(lo+candidateBlock, n), m); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// describer holds the data that all candidates share.
type describer struct {
	lists          *mine.Lists
	source, target *Side
	room           *spill.Arena // holds what is known of each sentence
	rivals         *rivals      // nil without tokens
	length         float64      // log of the target's mean length over the source's
}

// describe measures a candidate.
func (m *coverage) describe(d *describer, c *mine.Candidate) (p pair, err error) {
	if err := m.load(d, c.Source, c.Target); err != nil {
		return p, err
	}
	p.compareVectors(d.lists, c)
	p.compareSurface(&m.a.surface, &m.b.surface, d.length)
	if d.rivals != nil {
		m.measure(&p)
	}
	if m.a.list != nil && m.b.list != nil {
		m.compareNames(d, &p)
	}
	return p, nil
}
