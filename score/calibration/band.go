package calibration

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"bitextmine/bitext/exchange"
	"bitextmine/corpus"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
	"bitextmine/score/inject"
)

// Label is a person's decision on a pair, with the pair's score.
type Label struct {
	Score    float64
	Accepted bool
}

// Band is the pairs whose score is at least Low and below that of the next band.
type Band struct {
	Low                float64
	Pairs              int // that mining matched one-to-one, whatever the threshold
	Labelled, Accepted int
	// Precision is the share of the labelled pairs that people accepted, with its 95% Wilson interval.
	Precision Interval
	// Kept is the number of pairs from Low up, and Above the estimated precision of those: the bands' precisions,
	// weighted by their pairs.
	Kept  int
	Above Interval
}

const (
	maxBands      = 10
	minBandLabels = 10 // a band of fewer says little
)

// Bands estimates precision by score from labels of people. A band has about as many labels as any other. Within a band
// the labelled pairs must be like the others, as when they are drawn at random. matched are the scores of all pairs
// that mining matched; of those below the lowest label nothing is known, and they are in no band.
func Bands(labels []Label, matched []float64) []Band {
	labels = slices.SortedFunc(slices.Values(labels), func(a, b Label) int { return cmp.Compare(a.Score, b.Score) })
	var bands []Band
	size := max(minBandLabels, (len(labels)+maxBands-1)/maxBands)
	for i, l := range labels {
		last := len(bands) - 1
		full := last < 0 || bands[last].Labelled >= size && len(labels)-i >= size
		if full && (i == 0 || labels[i-1].Score < l.Score) { // equal scores are in one band
			bands = append(bands, Band{Low: l.Score})
			last++
		}
		bands[last].Labelled++
		if l.Accepted {
			bands[last].Accepted++
		}
	}
	for _, score := range matched {
		at, exact := slices.BinarySearchFunc(bands, score, func(b Band, score float64) int { return cmp.Compare(b.Low, score) })
		if !exact {
			at--
		}
		if at >= 0 {
			bands[at].Pairs++
		}
	}
	for i := len(bands) - 1; i >= 0; i-- {
		bands[i].Precision = Wilson(bands[i].Accepted, bands[i].Labelled)
		bands[i].Kept = bands[i].Pairs
		if i+1 < len(bands) {
			bands[i].Kept += bands[i+1].Kept
		}
		bands[i].Above = weighted(bands[i:])
	}
	return bands
}

// BandForPrecision is the lowest band from which up the estimated precision is at least wanted. ok is false if there is
// none.
func BandForPrecision(bands []Band, wanted float64) (b Band, ok bool) {
	for _, b := range bands {
		if b.Kept > 0 && b.Above.Value >= wanted {
			return b, true
		}
	}
	return b, false
}

// Wilson is a share of n with its 95% interval: E. B. Wilson, Probable inference, the law of succession, and
// statistical inference, 1927. Of n = 0 nothing is known: the interval is from 0 to 1.
func Wilson(successes, n int) Interval {
	if n == 0 {
		return Interval{High: 1}
	}
	const z = 1.959963984540054
	p, trials := float64(successes)/float64(n), float64(n)
	centre := (p + z*z/(2*trials)) / (1 + z*z/trials)
	half := z / (1 + z*z/trials) * math.Sqrt(p*(1-p)/trials+z*z/(4*trials*trials))
	return Interval{Value: p, Low: max(0, centre-half), High: min(1, centre+half)}
}

// weighted is the mean of the bands' precisions, weighted by their pairs. Its interval is put together from theirs as
// in G. Y. Zou and A. Donner, Construction of confidence limits about effect measures, 2008 (MOVER).
func weighted(bands []Band) Interval {
	var mean, below, above, pairs float64
	for _, b := range bands {
		pairs += float64(b.Pairs)
	}
	for _, b := range bands {
		share := float64(b.Pairs) / max(1, pairs)
		mean += share * b.Precision.Value
		below += share * share * (b.Precision.Value - b.Precision.Low) * (b.Precision.Value - b.Precision.Low)
		above += share * share * (b.Precision.High - b.Precision.Value) * (b.Precision.High - b.Precision.Value)
	}
	return Interval{Value: mean, Low: max(0, mean-math.Sqrt(below)), High: min(1, mean+math.Sqrt(above))}
}

// MinPairs is the smallest number of known pairs that an estimate is made from: below it the intervals say nothing.
const MinPairs = 40

// Collect injects the known pairs into the host, mines all one-to-one by a margin, and returns the outcomes. Every
// second pair, in key order, is injected whole; of the others only the source sentence is. A pair with a sentence that
// the host has already is left out: that sentence may have a translation in the host which nobody knows of. So is one
// with a sentence of a pair before it.
func Collect(ctx context.Context, host *inject.Host, pairs []exchange.Pair, margin mine.Margin) (o Outcomes, err error) {
	known := inject.Distinct(host.Absent(pairs))
	o.Dropped = len(pairs) - len(known)
	if len(known) < MinPairs {
		return o, badinput.Errorf("%d known pairs can be injected (of %d more, the text or a pair before has a sentence): give at least %d with sentences of their own", len(known), o.Dropped, MinPairs)
	}
	slices.SortFunc(known, func(a, b exchange.Pair) int { return corpus.KeyOf(a.Source).Compare(corpus.KeyOf(b.Source)) })
	in, err := host.Inject(ctx, known, inject.ByKey, func(i int) inject.Sides {
		if i%2 == 0 {
			return inject.Both
		}
		return inject.SourceOnly
	})
	if err != nil {
		return o, fmt.Errorf("inject pairs: %w", err)
	}
	lists, err := mine.NewLists(in.Lists.Source, in.Lists.Target, host.K, margin)
	if err != nil {
		return o, err
	}
	o.Sources = len(host.Texts[0])
	o.add(in, lists, len(known))
	return o, nil
}

// add mines and sorts the pairs found by what is known of them.
func (c *Outcomes) add(in *inject.Injection, lists *mine.Lists, known int) {
	became := make([]Pair, known)
	for i := range became {
		became[i] = Pair{Right: notFound, Wrong: notFound}
	}
	for _, pair := range mine.Pairs(lists.Candidates(), lists.Source.Len(), lists.Target.Len(), mine.Max, notFound) {
		x, isSource := in.KnownPair(0, pair.Source)
		y, isTarget := in.KnownPair(1, pair.Target)
		switch {
		case isSource && isTarget && x == y:
			became[x].Right = float64(pair.Score)
		case isSource:
			became[x].Wrong = float64(pair.Score)
		case !isTarget:
			c.Found = append(c.Found, float64(pair.Score))
		}
	}
	for i, p := range became {
		if in.Unpaired(int32(i)) {
			c.Unpaired = append(c.Unpaired, p.Wrong)
		} else {
			c.Whole = append(c.Whole, p)
		}
	}
}

// notFound is the score of a pair that was not found.
var notFound = math.Inf(-1)
