package mine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
)

// badlyCovered is the best cosine below which a token counts as not covered.
const badlyCovered = 0.4

// featureBlock is how many candidates a thread takes at a time.
const featureBlock = 1024

// Neighbouring returns every pair of which either sentence has the other among its K neighbours, by source, then target: what the search
// proposes to a scorer.
func (l *Lists) Neighbouring() []Candidate {
	// Targets that name each source, in ascending order of target.
	ends := make([]int, l.Source.Len()+1)
	for y := range l.Target.Len() {
		ids, _ := l.Target.Row(y)
		for _, x := range ids[:l.K] {
			if x != None {
				ends[x+1]++
			}
		}
	}
	for x := range l.Source.Len() {
		ends[x+1] += ends[x]
	}
	named, cosines := make([]int32, ends[len(ends)-1]), make([]float32, ends[len(ends)-1])
	at := append([]int(nil), ends[:l.Source.Len()]...)
	for y := range l.Target.Len() {
		ids, cos := l.Target.Row(y)
		for j, x := range ids[:l.K] {
			if x != None {
				named[at[x]], cosines[at[x]] = int32(y), cos[j]
				at[x]++
			}
		}
	}
	found := make([]Candidate, 0, len(named)+l.Source.Len()*l.K)
	for x := range l.Source.Len() {
		found = l.union(found, int32(x), named[ends[x]:ends[x+1]], cosines[ends[x]:ends[x+1]])
	}
	return found
}

// union adds x's candidates: its own K neighbours and the targets that name it, which are in ascending order.
func (l *Lists) union(found []Candidate, x int32, named []int32, cosines []float32) []Candidate {
	ids, own := l.Source.Row(int(x))
	begin := len(found)
	for j, y := range named {
		found = append(found, l.candidate(x, y, cosines[j]))
	}
	for j := 0; j < l.K && ids[j] != None; j++ {
		if c := l.candidate(x, ids[j], own[j]); c.TargetRank == Unranked {
			at := len(found)
			for at > begin && found[at-1].Target > c.Target {
				at--
			}
			found = append(found, Candidate{})
			copy(found[at+1:], found[at:])
			found[at] = c
		}
	}
	for i := begin; i < len(found); i++ {
		found[i].Forward, found[i].Backward = found[i].SourceRank == 0, found[i].TargetRank == 0
	}
	return found
}

// FeatureValues are the features of candidates, [n, len(Features)], a row for each.
type FeatureValues []float32

// Of returns candidate i's values.
func (v FeatureValues) Of(i int) []float32 { return v[i*features:][:features:features] }

// Len returns n.
func (v FeatureValues) Len() int { return len(v) / features }

// Describe computes the features of all candidates that Neighbouring gives: all, because a gap compares a candidate with its rivals. Each
// value depends on the candidate and the two sides alone, so the number of threads does not show.
func (l *Lists) Describe(ctx context.Context, candidates []Candidate, source, target *Described, threads int) (FeatureValues, error) {
	if err := errors.Join(source.check(l.Source.Len()), target.check(l.Target.Len())); err != nil {
		return nil, fmt.Errorf("describe candidates: %w", err)
	}
	if (source.Tokens == nil) != (target.Tokens == nil) {
		return nil, errors.New("describe candidates: only one side has tokens")
	}
	d := describer{lists: l, source: source, target: target, length: math.Log(max(1, target.meanLength()) / max(1, source.meanLength()))}
	if source.Tokens != nil {
		d.sourceTokens, d.targetTokens = source.Tokens.telling(), target.Tokens.telling()
	}
	values := make(FeatureValues, len(candidates)*features)
	var next atomic.Int64
	var wait sync.WaitGroup
	for range max(1, threads) {
		wait.Go(func() {
			var cover coverage
			for ctx.Err() == nil {
				lo := int(next.Add(featureBlock)) - featureBlock
				if lo >= len(candidates) {
					return
				}
				for i := lo; i < min(lo+featureBlock, len(candidates)); i++ {
					d.describe(&candidates[i], values.Of(i), &cover)
				}
			}
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if source.Tokens != nil {
		coverGaps(candidates, values, fCoverGapSource, l.Source.Len(), func(c *Candidate) int32 { return c.Source })
		coverGaps(candidates, values, fCoverGapTarget, l.Target.Len(), func(c *Candidate) int32 { return c.Target })
	}
	for i := range candidates {
		clamp(values.Of(i))
	}
	return values, nil
}

// describer holds what the features of every candidate share.
type describer struct {
	lists                      *Lists
	source, target             *Described
	sourceTokens, targetTokens *weighted // nil without tokens
	length                     float64   // log of the target's mean length over the source's
}

// describe fills in the features that need no rival's.
func (d *describer) describe(c *Candidate, v []float32, cover *coverage) {
	l := d.lists
	v[fCosine] = c.Cosine
	v[fRatio] = Ratio.Of(c.Cosine, c.SourceMean, c.TargetMean)
	v[fDistance] = Distance.Of(c.Cosine, c.SourceMean, c.TargetMean)
	sourceMean, sourceRival := rivals(l.Source, l.K, c.Source, c.SourceRank)
	targetMean, targetRival := rivals(l.Target, l.K, c.Target, c.TargetRank)
	v[fRatioWithout] = Ratio.Of(c.Cosine, sourceMean, targetMean)
	v[fDistanceWithout] = Distance.Of(c.Cosine, sourceMean, targetMean)
	v[fGapSource], v[fGapTarget] = c.Cosine-sourceRival, c.Cosine-targetRival
	v[fRankSource], v[fRankTarget] = float32(min(int(c.SourceRank), l.K)), float32(min(int(c.TargetRank), l.K))
	if d.sourceTokens != nil {
		cover.measure(d, c, v)
	}
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

// coverGaps sets, for each candidate, how far its coverage is above that of the best other candidate of the same sentence.
func coverGaps(candidates []Candidate, values FeatureValues, feature, sentences int, sentence func(*Candidate) int32) {
	type top struct{ best, second float32 }
	const none = -2 // below any mean of cosines
	tops := make([]top, sentences)
	for i := range tops {
		tops[i] = top{none, none}
	}
	mean := func(i int) float32 { return (values.Of(i)[fCoverSource] + values.Of(i)[fCoverTarget]) / 2 }
	for i := range candidates {
		t, m := &tops[sentence(&candidates[i])], mean(i)
		if m > t.best {
			t.best, t.second = m, t.best
		} else if m > t.second {
			t.second = m
		}
	}
	for i := range candidates {
		t, m := tops[sentence(&candidates[i])], mean(i)
		rival := t.best
		if m == t.best {
			rival = t.second
		}
		if rival != none {
			values.Of(i)[feature] = m - rival
		}
	}
}
