package fit

import (
	"context"
	"fmt"
	"slices"

	"bitextmine/bitext/exchange"
	"bitextmine/internal/badinput"
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
