package fit

import (
	"math"

	"bitextmine/mine"
	"bitextmine/score"
)

const (
	// textRounds is how often the weights follow the pairs that they match.
	textRounds = 2
	// textPull is how many times as strongly weights are pulled to those of the scorer as weights of a fit to 0. Of 3,
	// 5 and 10, 10 loses least where a text loses (bench/results/scoring-2026-11-25.md).
	textPull = 10
	// minTextPairs is how many translations, and how many other pairs, must be expected for weights to follow them.
	minTextPairs = 50
	// maxTextPairs is about how many matched pairs are looked at: more change little.
	maxTextPairs = 30_000
	// maxTextShare is the largest share of translations among the matched pairs that a scorer follows: where most are
	// translations, the others are too few and too like them to learn from.
	maxTextShare = 0.5
	// maxTextFactor is how many times as many translations as the scorer itself, or how few, a scorer that followed a
	// text may expect in it. One that expects others goes back by half of its way, textSteps times at most, so that a
	// text that grows a little is not decided by quite another scorer.
	maxTextFactor = 1.5
	textSteps     = 3
)

// ToText ranks the candidates of a text anew, by weights that follow the text, and lowers the probabilities of matches
// if the text has many near misses. It returns the scorer that has the weights. sources and targets are the numbers of
// sentences.
func ToText(r *score.Ranked, sources, targets int, texts score.TextsOf) (*score.Scorer, error) {
	scorer, err := follow(r, sources, targets)
	if err == nil {
		err = r.NearMisses(sources, targets, texts)
	}
	return scorer, err
}

// follow ranks the candidates anew by weights that follow the text, and returns the scorer that has them:
// how much a feature tells differs by language and by kind of text. The pairs that the scorer matches one-to-one and
// takes for translations are true examples, the other matched ones false, and the weights are held near the scorer's.
// The scorer stays where there is too little to learn from, or too much is learnt.
func follow(r *score.Ranked, sources, targets int) (*score.Scorer, error) {
	if base := r.Scorer(); base.Refined != nil {
		return base, nil
	}
	if err := r.DropNumbers(sources, targets); err != nil {
		return nil, err
	}
	base := r.Scorer()
	verdicts, adapted, n := expect(r, sources, targets, score.UnseenTimes)
	before := adapted.Pairs
	if before < minTextPairs || n-before < minTextPairs || before > maxTextShare*n {
		return base, nil
	}
	for range textRounds {
		next, err := learn(base, r, verdicts, adapted)
		if err != nil {
			return nil, err
		}
		var all bool
		if verdicts, adapted, all, err = approach(r, base, next, before, sources, targets); err != nil || !all {
			return r.Scorer(), err
		}
	}
	return r.Scorer(), nil
}

// approach ranks the candidates by a scorer that followed the text from base, or by one nearer to base if that expects
// too many translations, or too few, where base expects so many, or by base. all says that the scorer is the former.
func approach(r *score.Ranked, base, followed *score.Scorer, before float64, sources, targets int) (
	verdicts []mine.Verdict, adapted *score.Adapted, all bool, err error,
) {
	next := followed
	for range textSteps + 1 {
		if err := r.By(next); err != nil {
			return nil, nil, false, err
		}
		verdicts, adapted, _ = expect(r, sources, targets, score.MixedTimes)
		if adapted.Pairs <= before*maxTextFactor && adapted.Pairs >= before/maxTextFactor {
			return verdicts, adapted, next == followed, nil
		}
		next = between(base, next)
	}
	return nil, nil, false, r.By(base)
}

// expect matches the candidates by the scorer, and adapts the n matched ones to the text.
func expect(r *score.Ranked, sources, targets int, times float64) (verdicts []mine.Verdict, adapted *score.Adapted, n float64) {
	verdicts = r.Match(sources, targets)
	matched := r.Matched(verdicts)
	return verdicts, score.Adapt(matched, r.Scorer().PriorOf(len(r.Candidates), len(matched)), times), float64(len(matched))
}

// between is the scorer half the way from one that another followed a text from.
func between(base, followed *score.Scorer) *score.Scorer {
	half := *followed
	half.Terms = append([]score.Term(nil), followed.Terms...)
	for t := range half.Terms {
		half.Terms[t].Weight = (base.Terms[t].Weight + followed.Terms[t].Weight) / 2
	}
	half.Intercept = (base.Intercept + followed.Intercept) / 2
	half.Prior = math.Sqrt(base.Prior * followed.Prior)
	return &half
}

// learn fits the weights of base to a text's matched pairs.
func learn(base *score.Scorer, r *score.Ranked, verdicts []mine.Verdict, adapted *score.Adapted) (*score.Scorer, error) {
	width := len(base.Terms) + 1
	fitted := &regression{width: width, near: make([]float64, width), pull: make([]float64, width)}
	for t, term := range base.Terms {
		fitted.near[t], fitted.pull[t] = term.Weight, textPull
	}
	matched := 0
	for _, v := range verdicts {
		if v == mine.Kept {
			matched++
		}
	}
	every, at, right := matched/maxTextPairs+1, 0, 0.0
	for i, v := range verdicts {
		if v != mine.Kept {
			continue
		}
		label := 0.0
		if adapted.Of(r.Probabilities[i]) > 0.5 {
			label = 1
		}
		right += label
		if at++; at%every != 0 {
			continue
		}
		values, err := r.Values(i)
		if err != nil {
			return nil, err
		}
		fitted.x = appendStandard(fitted.x, base.Terms, values)
		fitted.y, fitted.counts = append(fitted.y, label), append(fitted.counts, 1)
	}
	weights, err := fitted.minimise()
	if err != nil {
		return nil, err
	}
	next := *base
	next.Followed = true
	next.Terms = append([]score.Term(nil), base.Terms...)
	for t := range next.Terms {
		next.Terms[t].Weight = weights[t]
	}
	next.Intercept, next.Prior = weights[width-1], right/float64(len(r.Candidates))
	return &next, nil
}
