package mine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// badlyCovered is the best cosine below which a token counts as not covered.
const badlyCovered = 0.4

// featureBlock is how many candidates a thread takes at a time.
const featureBlock = 256

// FeatureValues are the features of candidates, [n, len(Features)], a row for each.
type FeatureValues []float32

// Of returns candidate i's values.
func (v FeatureValues) Of(i int) []float32 { return v[i*features:][:features:features] }

// Len returns n.
func (v FeatureValues) Len() int { return len(v) / features }

// Describe computes the features of the pairs that Contenders gives: all of them, because a gap compares a pair with its rivals. Each
// value depends on the pair and the two sides alone, so the number of threads does not show.
func (l *Lists) Describe(ctx context.Context, contenders []Candidate, source, target *Described, threads int) (FeatureValues, error) {
	if err := errors.Join(source.check(l.Source.Len()), target.check(l.Target.Len())); err != nil {
		return nil, fmt.Errorf("describe candidates: %w", err)
	}
	if (source.Tokens == nil) != (target.Tokens == nil) {
		return nil, errors.New("describe candidates: only one side has tokens")
	}
	d := describer{lists: l, source: source, target: target, length: math.Log(max(1, target.meanLength()) / max(1, source.meanLength()))}
	values := make(FeatureValues, len(contenders)*features)
	err := inBlocks(ctx, len(contenders), threads, func(i int, _ *coverage) { d.describe(&contenders[i], values.Of(i)) })
	if err == nil && source.Tokens != nil {
		err = d.cover(ctx, contenders, values, threads)
	}
	for i := range contenders {
		clamp(values.Of(i))
	}
	return values, err
}

// cover fills in the features of tokens.
func (d *describer) cover(ctx context.Context, contenders []Candidate, values FeatureValues, threads int) error {
	var other sync.WaitGroup
	var others []Candidate
	other.Go(func() {
		d.targetTokens = d.target.Tokens.telling()
		others = d.lists.rivalsOf(contenders)
	})
	d.sourceTokens = d.source.Tokens.telling()
	other.Wait()
	pairs := slices.Concat(contenders, others)
	means := make([]float32, len(pairs))
	err := inBlocks(ctx, len(pairs), threads, func(i int, m *coverage) {
		var rival [features]float32
		v := rival[:]
		if i < len(contenders) {
			v = values.Of(i)
		}
		m.measure(d, &pairs[i], v)
		means[i] = (v[fCoverSource] + v[fCoverTarget]) / 2
	})
	if err != nil {
		return err
	}
	coverGaps(pairs, means, values, fCoverGapSource, d.lists.Source.Len(), func(c *Candidate) (int32, bool) { return c.Source, c.SourceRank != Unranked })
	coverGaps(pairs, means, values, fCoverGapTarget, d.lists.Target.Len(), func(c *Candidate) (int32, bool) { return c.Target, c.TargetRank != Unranked })
	return nil
}

// inBlocks calls each for 0 to n-1, on several threads, each with buffers of its own.
func inBlocks(ctx context.Context, n, threads int, each func(i int, m *coverage)) error {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range max(1, threads) {
		wait.Go(func() {
			var m coverage
			for ctx.Err() == nil {
				lo := int(next.Add(featureBlock)) - featureBlock
				if lo >= n {
					return
				}
				for i := lo; i < min(lo+featureBlock, n); i++ {
					each(i, &m)
				}
			}
		})
	}
	wait.Wait()
	return ctx.Err()
}

// describer holds what the features of every candidate share.
type describer struct {
	lists                      *Lists
	source, target             *Described
	sourceTokens, targetTokens *weighted // nil without tokens
	length                     float64   // log of the target's mean length over the source's
}

// describe fills in the features that need no tokens.
func (d *describer) describe(c *Candidate, v []float32) {
	l := d.lists
	v[fCosine] = c.Cosine
	v[fRatio] = Ratio.Of(c.Cosine, c.SourceMean, c.TargetMean)
	v[fDistance] = Distance.Of(c.Cosine, c.SourceMean, c.TargetMean)
	sourceMean, sourceRival := rivals(l.Source, l.K, c.Source, c.SourceRank)
	targetMean, targetRival := rivals(l.Target, l.K, c.Target, c.TargetRank)
	v[fRatioWithout] = Ratio.Of(c.Cosine, sourceMean, targetMean)
	v[fDistanceWithout] = Distance.Of(c.Cosine, sourceMean, targetMean)
	v[fGapSource], v[fGapTarget] = c.Cosine-sourceRival, c.Cosine-targetRival
	compareFacts(&d.source.Facts[c.Source], &d.target.Facts[c.Target], d.length, v)
}

// rivals returns the mean of the cosines of i's first k neighbours, and the best of them, without the one at rank, or, where that is not
// among them, without the last. Without any other neighbour both are 0.
func rivals(nb Neighbours, k int, i int32, rank uint8) (mean, best float32) {
	ids, cosines := nb.Row(int(i))
	n := 0
	for n < k && ids[n] != None {
		n++
	}
	left := min(int(rank), n-1)
	sum := 0.0
	for j := range n {
		if j != left {
			sum += float64(cosines[j])
		}
	}
	switch {
	case n < 2:
		return 0, 0
	case left == 0:
		best = cosines[1]
	default:
		best = cosines[0]
	}
	return float32(sum / float64(n-1)), best
}

// compareFacts fills in the features of the two texts.
func compareFacts(a, b *Facts, length float64, v []float32) {
	v[fLength] = float32(math.Abs(math.Log(float64(b.Length+5)/float64(a.Length+5)) - length))
	shared := common(a.Numbers, b.Numbers)
	all := len(a.Numbers) + len(b.Numbers) - shared
	v[fNumbersDiffer] = float32(all - shared)
	if all > 0 {
		v[fNumbersShared], v[fNumbersAny] = float32(shared)/float32(all), 1
	}
	v[fNames] = float32(common(a.Names, b.Names))
	v[fCognates] = float32(common(a.Stems, b.Stems))
	differences := 0
	for i := range a.Marks {
		differences += min(2, max(int(a.Marks[i])-int(b.Marks[i]), int(b.Marks[i])-int(a.Marks[i])))
	}
	v[fPunctuation] = float32(differences)
	if a.Negation != b.Negation && a.Negation != Unknown && b.Negation != Unknown {
		v[fNegation] = 1
	}
}

// common counts the members that two ascending lists share.
func common(a, b []uint32) int {
	n, i, j := 0, 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			n, i, j = n+1, i+1, j+1
		}
	}
	return n
}

// coverGaps sets, for each of the first pairs, which values are of, how far its coverage is above that of the best other neighbour of the
// same sentence. sentence says whether the partner is one of the sentence's neighbours.
func coverGaps(pairs []Candidate, means []float32, values FeatureValues, feature, sentences int, sentence func(*Candidate) (int32, bool)) {
	type top struct{ best, second float32 }
	const none = -2 // below any mean of cosines
	tops := make([]top, sentences)
	for i := range tops {
		tops[i] = top{none, none}
	}
	for i := range pairs {
		at, near := sentence(&pairs[i])
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
		at, near := sentence(&pairs[i])
		rival := tops[at].best
		if near && means[i] == rival {
			rival = tops[at].second
		}
		if rival != none {
			values.Of(i)[feature] = means[i] - rival
		}
	}
}
