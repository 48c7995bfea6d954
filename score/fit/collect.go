package fit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"bitextmine/bitext/exchange"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
	"bitextmine/score"
	"bitextmine/score/feature"
	"bitextmine/score/inject"
)

// MinPairs is the smallest number of known pairs that a scorer is fitted on. With fewer, the weights of so many
// features are noise.
const MinPairs = 100

// rounds is the number of times that the pairs are injected. In each round half of them are injected whole, and of
// the others only one sentence. Real corpora are full of sentences without a translation, and a scorer that only saw
// sentences with one would learn to accept the best candidate there is.
const rounds = 2

// partSizes are the sizes of parts of the corpora, in sentences per side, into which pairs are injected too. Among a
// few dozen sentences, margins, gaps and token weights mean less than among thousands, and a scorer learns this only
// from such examples.
var partSizes = []int{30, 100, 500}

const (
	partPairs = 400 // number of pairs that are injected into parts of each size
	partShare = 5   // a part gets one pair for every 5 of its sentences
)

// Collect injects the pairs into the host and returns the examples: the candidates that have an injected sentence.
// found is the number of whole pairs whose sentences were among each other's neighbours.
func Collect(
	ctx context.Context, host *inject.Host, pairs []exchange.Pair, told func(part, parts int),
) (examples Examples, found int, err error) {
	pairs = inject.Distinct(pairs)
	if len(pairs) < MinPairs {
		return examples, 0, badinput.Errorf("%d different known pairs are too few to fit a scorer on: give at least %d", len(pairs), MinPairs)
	}
	for side, language := range host.Languages {
		if len(host.Texts[side]) <= host.K {
			return examples, 0, badinput.Errorf("the %s corpus has %d sentences, which leaves an injected pair without %d rivals: give more text", language, len(host.Texts[side]), host.K)
		}
	}
	for round := range rounds {
		n, err := examples.collect(ctx, host, pairs, 0, round)
		if err != nil {
			return examples, 0, fmt.Errorf("inject pairs: %w", err)
		}
		found += n
		told(round+1, rounds+1)
	}
	if err := examples.collectParts(ctx, host, pairs); err != nil {
		return examples, 0, fmt.Errorf("inject pairs into parts of the corpora: %w", err)
	}
	if found < MinPairs/2 {
		return examples, found, badinput.Errorf("only %d of %d injected pairs are among each other's %d neighbours, too few to learn from: the encoder hardly knows %s or %s",
			found, len(pairs), host.K, host.Languages[0], host.Languages[1])
	}
	return examples, found, nil
}

// sides returns which sentences of pair i a round injects.
func sides(i, round int) inject.Sides {
	switch {
	case i%rounds == round:
		return inject.Both
	case i/rounds%2 == 0:
		return inject.SourceOnly
	default:
		return inject.TargetOnly
	}
}

// nearMissEvery is how many unpaired pairs that could be made near misses there are for each that is.
const nearMissEvery = 4

// arrange returns what a round injects of each pair. Some unpaired ones become near misses, those of which the host
// has no sentence.
func arrange(host *inject.Host, pairs []exchange.Pair, round int) ([]exchange.Pair, []inject.Sides) {
	absent := map[exchange.Pair]bool{}
	for _, pair := range host.Absent(pairs) {
		absent[pair] = true
	}
	misses := inject.NewNearMisses(host.Languages, pairs)
	injected, all, possible := slices.Clone(pairs), make([]inject.Sides, len(pairs)), 0
	for i := range pairs {
		all[i] = sides(i, round)
		changed := 1 // the side that would not be injected
		if all[i] == inject.TargetOnly {
			changed = 0
		}
		if all[i] == inject.Both || !absent[pairs[i]] {
			continue
		}
		if miss, ok := misses.Of(i, changed); ok {
			if possible%nearMissEvery == 0 {
				injected[i], all[i] = miss, inject.NearMiss
			}
			possible++
		}
	}
	return injected, all
}

// collect injects the pairs once and adds the examples. Their groups are numbered from first.
func (e *Examples) collect(ctx context.Context, host *inject.Host, pairs []exchange.Pair, first, round int) (found int, err error) {
	pairs, arranged := arrange(host, pairs, round)
	in, err := host.Inject(ctx, pairs, inject.Appended, func(i int) inject.Sides { return arranged[i] })
	if err != nil {
		return 0, err
	}
	candidates, values, err := in.Problem().Candidates(ctx)
	if err != nil {
		return 0, err
	}
	strong, err := in.StrongCosines(ctx, candidates)
	if err != nil {
		return 0, err
	}
	e.Strong = append(e.Strong, strong...)
	for i, c := range candidates {
		group, _ := in.PairOf(&c)
		whole := in.Whole(&c)
		if whole {
			found++
		}
		e.Values = append(e.Values, values.Of(i)...)
		e.True = append(e.True, whole)
		e.Group = append(e.Group, int32(first)+group)
		e.Unpaired = append(e.Unpaired, in.Unpaired(group))
		e.NearMiss = append(e.NearMiss, in.NearMiss(&c))
	}
	return found, nil
}

// collectParts injects the first pairs into parts of the corpora, a few into each part.
func (e *Examples) collectParts(ctx context.Context, host *inject.Host, pairs []exchange.Pair) error {
	pairs = pairs[:min(len(pairs), partPairs)]
	for _, size := range partSizes {
		if len(host.Texts[0]) < 2*size || len(host.Texts[1]) < 2*size {
			return nil
		}
		step := size / partShare
		for trial := 0; trial*step < len(pairs); trial++ {
			part, err := host.Part(ctx, size, trial)
			if err != nil {
				return err
			}
			some := pairs[trial*step : min((trial+1)*step, len(pairs))]
			if _, err := e.collect(ctx, part, some, trial*step, trial%rounds); err != nil {
				return err
			}
		}
	}
	return nil
}

// ownGroup is the group of examples that are no known pairs' but the text's own. No fold leaves them out.
const ownGroup = -1

// ownSentences is the number of source sentences whose candidates a scorer is adapted to, about: those of more change
// little.
const ownSentences = 20000

// maxOwnWeight is the largest weight of one of the text's own candidates, relative to 1 for an example of a whole pair:
// few sentences do not outweigh the examples.
const maxOwnWeight = 3

// autoShare is the share of sentences with a translation that a scorer fitted on the way expects: between the few
// percent of comparable corpora and the most of parallel ones. bench/results/scoring.md has what came of it.
const autoShare = 0.3

// Own returns the features of candidates of the host's own sentences, with nothing injected: of all of them or, where
// there are many sentences, of every nth source sentence. Sentences are in the order of their keys, so this is random.
func Own(ctx context.Context, host *inject.Host) (feature.Values, error) {
	lists, err := mine.NewLists(host.Lists[0], host.Lists[1], host.K, mine.Ratio)
	if err != nil {
		return nil, fmt.Errorf("candidates of the text's own: %w", err)
	}
	every := int32(len(host.Texts[0])/ownSentences + 1)
	problem := score.Problem{
		Languages: host.Languages, Lists: lists, Tokens: host.Tokens, Read: host.Read, Threads: host.Threads,
		Only: func(c *mine.Candidate) bool { return c.Source%every == 0 },
	}
	_, values, err := problem.Candidates(ctx)
	if err != nil {
		return nil, fmt.Errorf("candidates of the text's own: %w", err)
	}
	return values, nil
}

// OnTheWay fits the scorer of a run on the examples of a set and on its text's own candidates. What a scorer learns of
// vectors from known pairs holds in other text, too, but what it learns of lengths, marks or tokens holds in text of
// their kind. So the known pairs tell by the vectors which of the text's own candidates are translations, and these
// count as much as the known pairs when all features are fitted. They are few, and of one language: what is not of
// vectors stays near the weights of base, a scorer fitted on many, if the encoder has vectors of tokens as base's has.
func OnTheWay(set *Set, base *score.Scorer) (*score.Scorer, error) {
	all, err := join([]*Set{set}, autoShare)
	if err != nil {
		return nil, err
	}
	if set.Tokens {
		all.near = base
	}
	unpaired := all.unpairedWeight(autoShare)
	if err := addOwn(all, set.Own, unpaired); err != nil {
		return nil, err
	}
	scorer, err := all.fit(nil, unpaired)
	if err != nil {
		return nil, err
	}
	return named(scorer, score.Auto, autoShare, []*Set{set}), nil
}

// addOwn adds candidates of the text itself, which are true if they probably are by their vectors.
func addOwn(e *Examples, values feature.Values, unpaired float64) error {
	byVectors, err := fitVectors(e, unpaired)
	if err != nil {
		return err
	}
	n := values.Len()
	e.True = append(e.True, ownTranslations(byVectors, values)...)
	e.Values = append(e.Values, values...)
	e.Group = append(e.Group, slices.Repeat([]int32{ownGroup}, n)...)
	e.Unpaired, e.NearMiss = append(e.Unpaired, make([]bool, n)...), append(e.NearMiss, make([]bool, n)...)
	if e.Strong != nil {
		e.Strong = append(e.Strong, slices.Repeat([]float32{mine.NotRefined}, n)...)
	}
	if e.Labelled != nil {
		e.Labelled = append(e.Labelled, make([]bool, n)...)
	}
	return nil
}

// Known pairs say nothing of a text where the distribution of its margins shows at least minUnlike translations, and
// more than unlike times as many as they do (bench/results/scoring-2026-11-29.md).
const (
	unlike    = 1.6
	minUnlike = 20
)

// The places of the margin, and of how far a candidate is above the others of its source and of its target.
var margin, gapSource, gapTarget = feature.Index("ratio"), feature.Index("gap_src"), feature.Index("gap_tgt")

// ownTranslations says which of a text's own candidates are taken for translations: those that known pairs show to be,
// by their vectors. In a text that is unlike known pairs they are nearly none: then it is those of the mutual nearest
// neighbours that the distribution of their margins shows.
func ownTranslations(byVectors *score.Scorer, values feature.Values) []bool {
	are, n := make([]bool, values.Len()), 0
	var mutual []int
	for i := range are {
		of := values.Of(i)
		if are[i] = byVectors.Logit(of[:feature.OfVectors]) > 0; are[i] {
			n++
		}
		if of[gapSource] > 0 && of[gapTarget] > 0 {
			mutual = append(mutual, i)
		}
	}
	slices.SortStableFunc(mutual, func(a, b int) int { return cmp.Compare(values.Of(b)[margin], values.Of(a)[margin]) })
	margins := make([]float32, len(mutual))
	for k, i := range mutual {
		margins[k] = values.Of(i)[margin]
	}
	probabilities, _ := score.MarginKinds(margins)
	likely := 0 // mutual ones; what has a higher margin than a likely one is likely, too
	for k, p := range probabilities {
		if p > 0.5 {
			likely = k + 1
		}
	}
	if likely < minUnlike || float64(likely) <= unlike*float64(n) {
		return are
	}
	clear(are)
	for _, i := range mutual[:likely] {
		are[i] = true
	}
	return are
}

// fitVectors fits a scorer on the features of vectors only.
func fitVectors(e *Examples, unpaired float64) (*score.Scorer, error) {
	rows := make([]int, len(e.True))
	for i := range rows {
		rows[i] = i
	}
	s := &score.Scorer{}
	var err error
	s.Intercept, s.Terms, err = e.fitRows(rows, e.weight(unpaired), feature.All[:feature.OfVectors], func(i int) []float32 {
		return e.Values.Of(i)[:feature.OfVectors]
	})
	return s, err
}

// ownWeight is the weight of each of the text's own candidates: together they weigh as much as the known pairs'
// examples, of the given weights, if no single one gets more than maxOwnWeight.
func ownWeight(e *Examples, weight func(i int) float64) float64 {
	known, own := 0.0, 0
	for i, group := range e.Group {
		if group == ownGroup {
			own++
		} else {
			known += weight(i)
		}
	}
	return min(maxOwnWeight, known/float64(max(1, own)))
}
