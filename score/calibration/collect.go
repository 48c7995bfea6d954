package calibration

import (
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

// MinPairs is the smallest number of known pairs that an estimate is made from: below it the intervals say nothing.
const MinPairs = 40

// Collect injects the known pairs into the host, mines all one-to-one by a margin, and returns the outcomes. Every
// second pair, in key order, is injected whole; of the others only the source sentence is. A pair with a sentence that
// the host has already is left out: that sentence may have a translation in the host which nobody knows of.
func Collect(ctx context.Context, host *inject.Host, pairs []exchange.Pair, margin mine.Margin) (o Outcomes, err error) {
	known := inject.Distinct(host.Absent(pairs))
	o.Dropped = len(pairs) - len(known)
	if len(known) < MinPairs {
		return o, badinput.Errorf("%d known pairs can be injected (of %d more, the text has a sentence already): give at least %d that the text does not have", len(known), o.Dropped, MinPairs)
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
func (o *Outcomes) add(in *inject.Injection, lists *mine.Lists, known int) {
	became := make([]Pair, known)
	for i := range became {
		became[i] = Pair{Right: notFound, Wrong: notFound}
	}
	for _, c := range mine.Pairs(lists.Candidates(), lists.Source.Len(), lists.Target.Len(), mine.Max, notFound) {
		x, isSource := in.KnownPair(0, c.Source)
		y, isTarget := in.KnownPair(1, c.Target)
		switch {
		case isSource && isTarget && x == y:
			became[x].Right = float64(c.Score)
		case isSource:
			became[x].Wrong = float64(c.Score)
		case !isTarget:
			o.Found = append(o.Found, float64(c.Score))
		}
	}
	for i, p := range became {
		if in.Unpaired(int32(i)) {
			o.Unpaired = append(o.Unpaired, p.Wrong)
		} else {
			o.Whole = append(o.Whole, p)
		}
	}
}

// notFound is the score of a pair that was not found.
var notFound = math.Inf(-1)
