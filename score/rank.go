package score

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"bitextmine/internal/heaps"
	"bitextmine/internal/parallel"
	"bitextmine/internal/spill"
	"bitextmine/mine"
	"bitextmine/score/feature"
)

// Ranked are candidates with their probabilities, best first.
type Ranked struct {
	Candidates    []mine.Candidate
	Probabilities []float32
	values        *feature.Table
	places        []int32 // places in values
	room          *spill.Arena
	keys          []uint64  // buffer of sort
	order         []int32   // buffer of sort
	spare         []float32 // buffer of deal
	scorer        *Scorer
	numberless    bool    // numbers say nothing
	many          bool    // the text has many near misses
	right         float64 // part of the matches that is right if their differences do not show
	Strong
}

// Strong has the strong encoder's cosines of candidates in two-stage mining.
type Strong struct {
	Cosines   []float32 // mine.NotRefined where it has not seen a sentence; nil: one encoder
	Distances []float32 // margins without the candidate itself among all that it has seen; nil: not known
}

// Seen reports whether the strong encoder has seen both sentences of a candidate.
func (s *Strong) Seen(i int) bool { return s.Cosines != nil && s.Cosines[i] != mine.NotRefined }

// with appends the candidate's values to those of its features.
func (s *Strong) with(values []float32, i int) []float32 {
	if !s.Seen(i) {
		return values
	}
	if values = append(values, s.Cosines[i]); s.Distances != nil {
		values = append(values, s.Distances[i])
	}
	return values
}

// Of returns a candidate's values: those of its features, and what the strong encoder says of it.
func (r *Ranked) Of(i int) ([]float32, error) {
	values, err := r.Values(i)
	return r.with(values, i), err
}

// Values returns the values of a candidate's features.
func (r *Ranked) Values(i int) ([]float32, error) { return r.values.Of(int(r.places[i])) }

// Close frees the values.
func (r *Ranked) Close() error {
	if r.values == nil {
		return nil
	}
	return r.values.Close()
}

// Rank scores candidates and sorts them by probability, then margin, then source and target row, which is key order.
// The slices are sorted in place, and values are closed with the result. What it has of each candidate is in room.
func (s *Scorer) Rank(room *spill.Arena, candidates []mine.Candidate, values *feature.Table, strong Strong) (Ranked, error) {
	n := len(candidates)
	r := Ranked{Candidates: candidates, values: values, Strong: strong, room: room}
	var failed [5]error
	r.Probabilities, failed[0] = spill.Make[float32](room, n)
	r.places, failed[1] = spill.Make[int32](room, n)
	r.keys, failed[2] = spill.Make[uint64](room, n)
	r.order, failed[3] = spill.Make[int32](room, n)
	r.spare, failed[4] = spill.Make[float32](room, n)
	if err := errors.Join(failed[:]...); err != nil {
		return Ranked{}, err
	}
	for i := range r.places {
		r.places[i] = int32(i)
	}
	if err := r.By(s); err != nil {
		return Ranked{}, err
	}
	return r, nil
}

// Scorer returns the scorer that gave the probabilities.
func (r *Ranked) Scorer() *Scorer { return r.scorer }

// By gives the candidates the probabilities of a scorer, which may be another one, and ranks them anew.
func (r *Ranked) By(s *Scorer) error {
	for i, at := range r.places {
		r.order[at] = int32(i)
	}
	varies := s.varies()
	var mu sync.Mutex
	var failed error
	ends := map[int]int{} // the end of each range of short candidates' keys, by its begin
	parallel.Ranges(len(r.places), feature.Count, func(lo, hi int) {
		end := lo
		err := r.values.Range(lo, hi, func(at int, v []float32) {
			i := int(r.order[at])
			r.Probabilities[i] = s.Probability(r.with(v, i))
			if !varies {
				return
			}
			if key, ok := s.shortKey(i, v); ok {
				r.keys[end] = key
				end++
			}
		})
		mu.Lock()
		defer mu.Unlock()
		failed = errors.Join(failed, err)
		ends[lo] = end
	})
	if failed != nil {
		return failed
	}
	short := 0
	for _, lo := range slices.Sorted(maps.Keys(ends)) {
		short += copy(r.keys[short:], r.keys[lo:ends[lo]])
	}
	r.scorer = s
	r.deal(r.keys[:short])
	r.sort()
	return nil
}

// Refine ranks the candidates anew by their probabilities as adapted without the strong encoder and, where it has seen
// them, by what it adds.
func (r *Ranked) Refine(by *Refined, adapted *Adapted) {
	r.Rescore(func(i int, p float32) float32 {
		if p = adapted.Of(p); !r.Seen(i) {
			return p
		}
		return float32(refinedRight * Logistic(by.Logit(Odds(float64(p)), r.with(nil, i))))
	})
}

// sort puts the candidates with the highest probability first.
func (r *Ranked) sort() {
	keys, order := r.keys, r.order
	sortedBy(r.Probabilities, keys)
	for i, key := range keys {
		order[i] = int32(uint32(key))
	}
	for lo := 0; lo < len(keys); {
		hi := lo + 1
		for hi < len(keys) && keys[hi]>>32 == keys[lo]>>32 {
			hi++
		}
		if hi > lo+1 {
			slices.SortFunc(order[lo:hi], func(a, b int32) int { return r.Candidates[a].Compare(r.Candidates[b]) })
		}
		lo = hi
	}
	permute(order, r.Candidates)
	permute(order, r.places)
	for _, column := range [][]float32{r.Probabilities, r.Cosines, r.Distances} {
		if column != nil {
			permute(order, column)
		}
	}
}

// sortedBy sets keys to the complement of each probability's bits and its place, ascending: non-negative floats are
// ordered like their bits.
func sortedBy(probabilities []float32, keys []uint64) {
	heaps.Sort(keys, func(i int) uint64 { return uint64(^math.Float32bits(probabilities[i]))<<32 | uint64(i) },
		func(key uint64) uint16 { return uint16(key >> 48) }, slices.Sort)
}

// permute moves s[order[i]] to place i, for every i. It follows each cycle, so that nothing is in memory twice.
func permute[T any](order []int32, s []T) {
	for start := range order {
		if order[start] < 0 { // the complement: it was moved
			continue
		}
		held, to := s[start], start
		for {
			from := int(order[to])
			order[to] = ^order[to]
			if from == start {
				break
			}
			s[to], to = s[from], from
		}
		s[to] = held
	}
	for i := range order {
		order[i] = ^order[i]
	}
}

// Rescore ranks the candidates anew by other probabilities.
func (r *Ranked) Rescore(of func(i int, p float32) float32) {
	for i, p := range r.Probabilities {
		r.Probabilities[i] = of(i, p)
	}
	r.sort()
}

// Match returns each candidate's verdict regardless of its probability: best first, each sentence at most once.
func (r Ranked) Match(sources, targets int) []mine.Verdict {
	return mine.Judge(r.Candidates, sources, targets, mine.Max, math.Inf(-1))
}

// Cut changes Kept to BelowThreshold for candidates with a probability below the threshold. It returns the number that
// stay.
func (r Ranked) Cut(verdicts []mine.Verdict, threshold float64) (kept int) {
	for i, v := range verdicts {
		switch {
		case v != mine.Kept:
		case float64(r.Probabilities[i]) < threshold:
			verdicts[i] = mine.BelowThreshold
		default:
			kept++
		}
	}
	return kept
}

// Matched returns the probabilities of the candidates with the verdict Kept.
func (r Ranked) Matched(verdicts []mine.Verdict) []float32 {
	n := 0
	for _, v := range verdicts {
		if v == mine.Kept {
			n++
		}
	}
	kept := make([]float32, 0, n) // append would copy them again and again
	for i, v := range verdicts {
		if v == mine.Kept {
			kept = append(kept, r.Probabilities[i])
		}
	}
	return kept
}

// TextReader adds the sentences of a side (0 is the source, 1 the target) to into. It is called for both sides
// concurrently.
type TextReader func(ctx context.Context, side int, into *SideBuilder) error

// Problem is the input of a scorer or a fit: the neighbour lists and a way to read the texts.
type Problem struct {
	Languages [2]string
	Lists     *mine.Lists
	Tokens    Tokenizer  // nil if there is none
	Read      TextReader // adds the texts
	Threads   int
	Space     spill.Space                // holds what candidates and sentences have
	Only      func(*mine.Candidate) bool // selects the candidates to describe; nil means all
	// Strong returns what the strong encoder of two-stage mining says of candidates; nil: one encoder.
	Strong func(ctx context.Context, candidates []mine.Candidate) (Strong, error)
}

// Candidates returns the candidates with their features.
func (p *Problem) Candidates(ctx context.Context) ([]mine.Candidate, feature.Values, error) {
	candidates, table, err := p.describe(ctx)
	if err != nil {
		return nil, nil, err
	}
	values, err := table.All()
	return candidates, values, errors.Join(err, table.Close())
}

// describe finds the candidates and computes their features.
func (p *Problem) describe(ctx context.Context) (candidates []mine.Candidate, _ *feature.Table, err error) {
	var sides [2]*SideBuilder
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(max(1, p.Threads))
	for i, n := range []int{p.Lists.Source.Len(), p.Lists.Target.Len()} {
		sides[i] = NewSide(p.Space, p.Languages[i], n, p.Tokens, p.Threads)
		defer func() { err = errors.Join(err, sides[i].side.Close()) }()
		group.Go(func() error { return p.Read(within, i, sides[i]) })
	}
	group.Go(func() error {
		candidates = p.Lists.ScoredCandidates()
		if p.Only != nil {
			candidates = slices.DeleteFunc(candidates, func(c mine.Candidate) bool { return !p.Only(&c) })
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	if err := finish(ctx, sides); err != nil {
		return nil, nil, err
	}
	values, err := feature.Compute(ctx, p.Space, p.Lists, candidates, sides[0].side, sides[1].side, p.Threads)
	return candidates, values, err
}

// Apply ranks the candidates by a scorer. Its K must be that of the lists.
func (p *Problem) Apply(ctx context.Context, scorer *Scorer) (Ranked, error) {
	if p.Lists.K != scorer.K {
		return Ranked{}, fmt.Errorf("the scorer's k is %d, that of the lists %d", scorer.K, p.Lists.K)
	}
	candidates, values, err := p.describe(ctx)
	if err != nil {
		return Ranked{}, err
	}
	if p.Tokens == nil && scorer.Tokens {
		scorer = scorer.WithoutTokens()
	}
	var strong Strong
	if p.Strong != nil {
		strong, err = p.Strong(ctx, candidates)
	}
	var ranked Ranked
	if err == nil {
		ranked, err = scorer.Rank(nil, candidates, values, strong)
	}
	if err != nil {
		return Ranked{}, errors.Join(err, values.Close())
	}
	return ranked, nil
}

// Texts are the texts of both sides in memory, by sentence number.
type Texts [2][]string

// Read is their TextReader.
func (t Texts) Read(ctx context.Context, side int, into *SideBuilder) error {
	return into.Add(ctx, Numbers(0, len(t[side])), t[side])
}

// Of is their TextsOf.
func (t Texts) Of(side int, numbers []int32) ([]string, error) {
	texts := make([]string, len(numbers))
	for i, number := range numbers {
		texts[i] = t[side][number]
	}
	return texts, nil
}

// Numbers lists n consecutive sentence numbers from first.
func Numbers(first, n int) []int32 {
	numbers := make([]int32, n)
	for i := range numbers {
		numbers[i] = int32(first + i)
	}
	return numbers
}
