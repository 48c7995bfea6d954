package score

import (
	"bitextmine/internal/spill"
	"bitextmine/mine"
	"bitextmine/score/feature"
)

// A near miss is a sentence that says nearly the same as the translation of another one: with another number, or a
// negation, or cause and effect exchanged. Few texts have many, so a scorer is not fitted to them and takes them for
// translations. Where a near miss stands beside the translation, one-to-one matching leaves it over, which tells how
// many there are.

// nearMissKind is the difference that the features of a near miss show.
type nearMissKind uint8

const (
	otherNearMiss    nearMissKind = iota // no difference that is looked for
	numberNearMiss                       // another number
	negationNearMiss                     // a negation on one side alone
	nearMissKinds    = 3
)

const (
	// minNearMisses is how many near misses, in all and of a kind, at least, count.
	minNearMisses = 5
	// usualNearMisses is how many near misses for each match are no sign of a text that has many: in descriptions of
	// packages there are up to 0.02, in news hardly any (bench/results/scoring-2026-11-26.md).
	usualNearMisses = 0.03
	// minRight bounds from below what part of the matches of a kind is taken to be right.
	minRight = 0.01
)

// NearMisses looks for near misses among the candidates that lose to a match, and lowers the probabilities of matches
// of their kinds if the text has many: as many are assumed to have won where the translation is missing as have lost
// to it. Variants of the sentence that wins are none. sources and targets are the numbers of sentences.
func (r *Ranked) NearMisses(sources, targets int, texts TextsOf) error {
	kinds, spared, err := r.kinds()
	if err != nil {
		return err
	}
	verdicts := r.Match(sources, targets)
	won, free, err := r.nearMisses(verdicts, kinds, spared, sources, targets)
	if err != nil {
		return err
	}
	matches := 0.0
	for _, n := range won {
		matches += n
	}
	lost, many := lostOf(free, matches)
	if many { // rare, so texts are hardly ever read
		if err := texts.dropVariants(free, r.numberless); err != nil {
			return err
		}
		lost, many = lostOf(free, matches)
	}
	if r.many = many; !many {
		return nil
	}
	var part [nearMissKinds]float64
	for kind := range part {
		part[kind] = 1
		if lost[kind] >= minNearMisses {
			part[kind] = max(minRight, 1-lost[kind]/max(won[kind], 1))
		}
	}
	// The probabilities are adapted to the share of translations afterwards, which must not undo this.
	matched := r.Matched(verdicts)
	shift := Adapt(matched, r.scorer.PriorOf(len(r.Candidates), len(matched)), 0).shift
	r.right = part[otherNearMiss]
	r.Rescore(func(i int, p float32) float32 {
		of := part[kinds[r.places[i]]] / r.right
		if of >= 1 {
			return p
		}
		return float32(Logistic(Odds(of*Logistic(Odds(float64(p))+shift)) - shift))
	})
	return nil
}

// ManyNearMisses reports whether NearMisses found many, and what part of the matches without another number or a
// negation is taken to be right.
func (r *Ranked) ManyNearMisses() (right float64, many bool) { return r.right, r.many }

// kinds returns, by the place of their values, each candidate's kind of near miss if it is one, and the log odds that
// other numbers cost it.
func (r *Ranked) kinds() (kinds []nearMissKind, spared []float32, err error) {
	numbers, negation := feature.Index("numbers_conflict"), feature.Index("negation")
	if kinds, err = spill.Make[nearMissKind](r.room, len(r.places)); err != nil {
		return nil, nil, err
	}
	spared = r.spare
	clear(spared)
	none := r.scorer.Terms[numbers].of(0)
	err = r.values.Each(func(i int, v []float32) {
		switch {
		case v[numbers] > 0 && !r.numberless:
			kinds[i], spared[i] = numberNearMiss, float32(none-r.scorer.Terms[numbers].of(float64(v[numbers])))
		case v[negation] > 0:
			kinds[i] = negationNearMiss
		}
	})
	return kinds, spared, err
}

// nearMisses counts matches that the scorer takes for translations, by kind, and finds what near misses lost to one: a
// sentence that is in no match and makes a candidate with one of a match, by its probability if numbers cost nothing.
func (r *Ranked) nearMisses(
	verdicts []mine.Verdict, kinds []nearMissKind, spared []float32, sources, targets int,
) (won [nearMissKinds]float64, free [2][]freeSentence, err error) {
	var match [2][]int32 // one more than the number of the other sentence of a match; 0: none
	for side, n := range [2]int{sources, targets} {
		if match[side], err = spill.Make[int32](r.room, n); err != nil {
			return won, free, err
		}
		if free[side], err = spill.Make[freeSentence](r.room, n); err != nil {
			return won, free, err
		}
	}
	for i, v := range verdicts {
		if c := r.Candidates[i]; v == mine.Kept && r.Probabilities[i] > 0.5 {
			won[kinds[r.places[i]]]++
			match[0][c.Source], match[1][c.Target] = c.Target+1, c.Source+1
		}
	}
	for i, v := range verdicts {
		c, at := r.Candidates[i], r.places[i]
		to, from := match[0][c.Source], match[1][c.Target]
		if v == mine.Kept || (to == 0) == (from == 0) {
			continue
		}
		of, winner := &free[0][c.Source], from-1
		if to > 0 {
			of, winner = &free[1][c.Target], to-1
		}
		p := r.Probabilities[i]
		of.own = max(of.own, p)
		if p = float32(Logistic(Odds(float64(p)) + float64(spared[at]))); p > of.p {
			of.p, of.kind, of.winner = p, kinds[at], winner
		}
	}
	return won, free, nil
}

// freeSentence is a sentence in no match: the most probable of its candidates with a sentence of a match, if numbers
// cost nothing, the highest of their own probabilities, and the sentence of its side that is in the match.
type freeSentence struct {
	p, own float32
	kind   nearMissKind
	winner int32
}

// lostOf counts near misses that lost, by kind, and reports whether these are many for so many matches.
func lostOf(free [2][]freeSentence, matches float64) (lost [nearMissKinds]float64, many bool) {
	sure := 0.0 // the scorer's own probabilities say so
	for _, side := range free {
		for _, of := range side {
			lost[of.kind] += float64(of.p)
			sure += float64(of.own)
		}
	}
	return lost, sure >= minNearMisses && sure > usualNearMisses*matches
}
