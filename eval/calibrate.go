package eval

import (
	"context"
	"math"
	"slices"

	"bitextmine/bitext/exchange"
	"bitextmine/corpus"
	"bitextmine/eval/testset"
	"bitextmine/index"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
	"bitextmine/score/calibration"
)

// calibrationPairs is the fewest known pairs that an estimate is made from: below it the intervals say nothing.
const calibrationPairs = 40

// Calibrate plants known pairs among the sentences of both sides, mines all one-to-one, and returns what
// calibration.Outcomes estimates from. Every second known pair, in key order, is planted whole; of the others only the source is.
// A known sentence that the user's text holds already is not planted: it may have a translation there that no one knows of.
// dropped counts these.
func Calibrate(ctx context.Context, vectors VectorSource, searcher index.Searcher, source, target testset.Side, known []exchange.Pair, k int, margin mine.Margin) (c calibration.Outcomes, dropped int, err error) {
	planted, dropped := plantable(source, target, known)
	if len(planted) < calibrationPairs {
		return c, dropped, badinput.Errorf("%d known pairs can be planted (%d of them, or a side of them, stand in the text already): give at least %d that do not", len(planted), dropped, calibrationPairs)
	}
	sources, targets := make(map[string]int), make(map[string]int) // sentences of planted pairs
	source.Texts, target.Texts = slices.Clone(source.Texts), slices.Clone(target.Texts)
	for i, p := range planted {
		sources[p.Source] = i
		source.Texts = append(source.Texts, p.Source)
		if i%2 == 0 {
			targets[p.Target] = i
			target.Texts = append(target.Texts, p.Target)
		}
	}
	pool, err := NewPool(ctx, vectors, searcher, source, target, k, margin)
	if err != nil {
		return c, dropped, err
	}
	c.Sources = pool.source.rows.N - len(planted)
	outcome := make([]calibration.Pair, len(planted))
	for i := range outcome {
		outcome[i] = calibration.Pair{Right: math.Inf(-1), Wrong: math.Inf(-1)}
	}
	for _, p := range mine.Pairs(pool.Lists.Candidates(), pool.source.rows.N, pool.target.rows.N, mine.Max, math.Inf(-1)) {
		x, isSource := sources[pool.source.texts[p.Source]]
		y, isTarget := targets[pool.target.texts[p.Target]]
		switch {
		case isSource && isTarget && x == y:
			outcome[x].Right = float64(p.Score)
		case isSource:
			outcome[x].Wrong = float64(p.Score)
		case !isTarget:
			c.Found = append(c.Found, float64(p.Score))
		}
	}
	for i, o := range outcome {
		if i%2 == 0 {
			c.Whole = append(c.Whole, o)
		} else {
			c.Unpaired = append(c.Unpaired, o.Wrong)
		}
	}
	return c, dropped, nil
}

// plantable returns the known pairs, which are normalised, whose sentences stand once among them and nowhere in the text, in key order.
func plantable(source, target testset.Side, known []exchange.Pair) (pairs []exchange.Pair, dropped int) {
	taken := [2]map[string]bool{make(map[string]bool), make(map[string]bool)}
	for i, side := range []testset.Side{source, target} {
		for _, text := range side.Texts {
			taken[i][corpus.Normalise(text)] = true
		}
	}
	for _, p := range known {
		if p.Source == "" || p.Target == "" || taken[0][p.Source] || taken[1][p.Target] {
			dropped++
			continue
		}
		taken[0][p.Source], taken[1][p.Target] = true, true
		pairs = append(pairs, p)
	}
	slices.SortFunc(pairs, func(a, b exchange.Pair) int { return corpus.KeyOf(a.Source).Compare(corpus.KeyOf(b.Source)) })
	return pairs, dropped
}
