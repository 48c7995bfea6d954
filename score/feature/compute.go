package feature

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"bitextmine/corpus/surface"
	"bitextmine/mine"
)

// candidateBlock is the number of candidates that a thread takes at a time.
const candidateBlock = 256

// Values are the features of candidates, [n, Count], one row each.
type Values []float32

// Of returns candidate i's values.
func (v Values) Of(i int) []float32 { return v[i*Count:][:Count:Count] }

// Len returns n.
func (v Values) Len() int { return len(v) / Count }

// Compute returns the features of candidates: the ScoredCandidates of lists, or some of them in the same order. Each
// value depends only on the pair, the lists and the two sides, so the number of threads changes nothing. Tokens that
// are too frequent are removed from the sides.
func Compute(ctx context.Context, lists *mine.Lists, candidates []mine.Candidate, source, target *Side, threads int) (Values, error) {
	if err := errors.Join(source.check(lists.Source.Len()), target.check(lists.Target.Len())); err != nil {
		return nil, fmt.Errorf("describe candidates: %w", err)
	}
	if (source.Tokens == nil) != (target.Tokens == nil) {
		return nil, errors.New("describe candidates: only one side has tokens")
	}
	d := describer{lists: lists, source: source, target: target, length: math.Log(max(1, target.meanLength()) / max(1, source.meanLength()))}
	values := make(Values, len(candidates)*Count)
	err := inBlocks(ctx, len(candidates), threads, func(i int, _ *coverage) { d.describe(&candidates[i], values.Of(i)) })
	if err == nil && source.Tokens != nil {
		err = d.coverTokens(ctx, candidates, values, threads)
	}
	for i := range candidates {
		clamp(values.Of(i))
	}
	return values, err
}

// coverTokens sets the token features.
func (d *describer) coverTokens(ctx context.Context, candidates []mine.Candidate, values Values, threads int) error {
	var other sync.WaitGroup
	var rivals []mine.Pair
	other.Go(func() {
		d.targetTokens = d.target.Tokens.weigh()
		rivals = d.lists.Rivals(candidates)
	})
	d.sourceTokens = d.source.Tokens.weigh()
	other.Wait()
	pairs := rivalry{candidates, rivals}
	means, cubes := make([]float32, pairs.len()), make([]float32, pairs.len())
	err := inBlocks(ctx, len(means), threads, func(i int, m *coverage) {
		var rival [Count]float32
		v, pair := rival[:], pairs.at(i)
		if i < len(candidates) {
			v = values.Of(i)
		}
		m.measure(d, pair, v)
		if i < len(candidates) {
			m.compareNames(d, pair, v)
		}
		means[i] = (v[atCoverageSource] + v[atCoverageTarget]) / 2
		cubes[i] = (v[atCubedSource] + v[atCubedTarget]) / 2
	})
	if err != nil {
		return err
	}
	ofSource := func(p mine.Pair) (int32, bool) { return p.Source, p.SourceRank != mine.Unranked }
	ofTarget := func(p mine.Pair) (int32, bool) { return p.Target, p.TargetRank != mine.Unranked }
	coverageGaps(pairs, means, values, atCoverageGapSource, d.lists.Source.Len(), ofSource)
	coverageGaps(pairs, means, values, atCoverageGapTarget, d.lists.Target.Len(), ofTarget)
	coverageGaps(pairs, cubes, values, atCubedGapSource, d.lists.Source.Len(), ofSource)
	coverageGaps(pairs, cubes, values, atCubedGapTarget, d.lists.Target.Len(), ofTarget)
	return nil
}

// rivalry is the candidates and, after them, the pairs that their coverage is compared with.
type rivalry struct {
	candidates []mine.Candidate
	rivals     []mine.Pair
}

func (r rivalry) len() int { return len(r.candidates) + len(r.rivals) }

func (r rivalry) at(i int) mine.Pair {
	if i < len(r.candidates) {
		return r.candidates[i].Pair()
	}
	return r.rivals[i-len(r.candidates)]
}

// inBlocks calls each for 0 to n-1 on several threads. Each thread has its own buffers.
func inBlocks(ctx context.Context, n, threads int, each func(i int, m *coverage)) error {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range max(1, threads) {
		wait.Go(func() {
			var m coverage
			for ctx.Err() == nil {
				lo := int(next.Add(candidateBlock)) - candidateBlock
				if lo >= n {
					return
				}
				for i := lo; i < min(lo+candidateBlock, n); i++ {
					each(i, &m)
				}
			}
		})
	}
	wait.Wait()
	return ctx.Err()
}

// describer holds the data that all candidates share.
type describer struct {
	lists                      *mine.Lists
	source, target             *Side
	sourceTokens, targetTokens *weighted // nil without tokens
	length                     float64   // log of the target's mean length over the source's
}

// describe sets the features that need no tokens.
func (d *describer) describe(c *mine.Candidate, v []float32) {
	l := d.lists
	v[atCosine] = c.Cosine
	v[atRatio] = mine.Ratio.Of(c.Cosine, c.SourceMean, c.TargetMean)
	v[atDistance] = mine.Distance.Of(c.Cosine, c.SourceMean, c.TargetMean)
	sourceMean, sourceRival := mine.Others(l.Source, l.K, c.Source, c.SourceRank)
	targetMean, targetRival := mine.Others(l.Target, l.K, c.Target, c.TargetRank)
	v[atRatioWithout] = mine.Ratio.Of(c.Cosine, sourceMean, targetMean)
	v[atDistanceWithout] = mine.Distance.Of(c.Cosine, sourceMean, targetMean)
	v[atGapSource], v[atGapTarget] = c.Cosine-sourceRival, c.Cosine-targetRival
	a, b := d.source.Surface.Of(c.Source), d.target.Surface.Of(c.Target)
	compareSurface(&a, &b, d.length, v)
}

// compareSurface sets the features of the two texts.
func compareSurface(a, b *surface.Features, length float64, v []float32) {
	v[atLength] = float32(math.Abs(math.Log(float64(b.Length+5)/float64(a.Length+5)) - length))
	compareNumbers(a, b, v)
	v[atNames] = float32(surface.Common(a.Capitals, b.Capitals))
	v[atCognates] = float32(surface.Common(a.Stems, b.Stems))
	differences := 0
	for i := range a.Marks {
		differences += min(2, max(int(a.Marks[i])-int(b.Marks[i]), int(b.Marks[i])-int(a.Marks[i])))
	}
	v[atPunctuation] = float32(differences)
	if a.Negation != b.Negation && a.Negation != surface.Unknown && b.Negation != surface.Unknown {
		v[atNegation] = 1
	}
}

// compareNumbers sets the features of numbers.
func compareNumbers(a, b *surface.Features, v []float32) {
	if len(a.Numbers)+len(b.Numbers) == 0 {
		return
	}
	onlyA, onlyB := surface.UnpairedDecades(surface.UnpairedNumbers(a.Numbers, b.Numbers))
	shared := len(a.Numbers) - len(onlyA)
	v[atNumbersDiffer] = float32(inDigits(onlyA) + inDigits(onlyB))
	v[atNumbersShared], v[atNumbersAny] = float32(shared)/float32(len(onlyA)+len(onlyB)+shared), 1
	// A number whose value is not read may be the other sentence's.
	v[atNumbersConflict] = float32(max(0, min(len(onlyA)-int(b.Numerals), len(onlyB)-int(a.Numerals))))
}

func inDigits(numbers []surface.Number) (n int) {
	for _, number := range numbers {
		if !number.Word {
			n++
		}
	}
	return n
}

// coverageGaps sets, for each of the first pairs (those in values), the difference between its token coverage and that
// of the best other neighbour of the same sentence. sentence returns a pair's sentence and whether the partner is one
// of its neighbours.
func coverageGaps(pairs rivalry, means []float32, values Values, feature, sentences int, sentence func(mine.Pair) (int32, bool)) {
	type top struct{ best, second float32 }
	const none = -2 // below any mean of cosines
	tops := make([]top, sentences)
	for i := range tops {
		tops[i] = top{none, none}
	}
	for i := range means {
		at, near := sentence(pairs.at(i))
		t, m := &tops[at], means[i]
		switch {
		case !near:
		case m > t.best:
			t.best, t.second = m, t.best
		case m > t.second:
			t.second = m
		}
	}
	for i := range values.Len() {
		at, near := sentence(pairs.at(i))
		rival := tops[at].best
		if near && means[i] == rival {
			rival = tops[at].second
		}
		if rival != none {
			values.Of(i)[feature] = means[i] - rival
		}
	}
}
