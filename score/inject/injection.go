package inject

import (
	"context"

	"bitextmine/bitext/exchange"
	"bitextmine/mine"
	"bitextmine/score"
)

// Sides is the set of sentences of a known pair that are injected.
type Sides uint8

// A pair with only one injected sentence is unpaired, unless the host has the other sentence. So is a near miss.
const (
	Both Sides = iota
	SourceOnly
	TargetOnly
	NearMiss // both, but they are no translation
)

func (s Sides) has(side int) bool {
	return s == Both || s == NearMiss || s == SourceOnly && side == 0 || s == TargetOnly && side == 1
}

// Injection is a host with known pairs among its sentences.
type Injection struct {
	Lists *mine.Lists // of all sentences, by number

	host     *Host
	texts    [2][]string // injected
	numbers  [2]numbers
	pair     [2]map[int32]int32 // sentence -> its pair
	whole    map[[2]int32]bool
	near     map[[2]int32]bool // near misses
	unpaired map[int32]bool    // pairs without a translation: only one sentence is present, or they are near misses
}

// Inject adds sentences of the pairs to the host's, as sides says for each pair, and searches. A sentence or pair that
// the host already has is used where it is.
func (h *Host) Inject(ctx context.Context, pairs []exchange.Pair, order Order, sides func(i int) Sides) (*Injection, error) {
	in := h.choose(pairs, sides)
	for side, texts := range h.Texts {
		in.numbers[side] = newNumbers(texts, in.texts[side], order)
	}
	in.place(pairs, sides)
	var err error
	in.Lists, err = in.search(ctx)
	return in, err
}

// choose finds the sentences to inject, each once.
func (h *Host) choose(pairs []exchange.Pair, sides func(i int) Sides) *Injection {
	in := &Injection{host: h, pair: [2]map[int32]int32{{}, {}}, whole: map[[2]int32]bool{}, near: map[[2]int32]bool{}, unpaired: map[int32]bool{}}
	var there [2]map[string]bool
	for side, texts := range h.Texts {
		there[side] = make(map[string]bool, len(texts))
		for _, text := range texts {
			there[side][text] = true
		}
	}
	for i, pair := range pairs {
		injected := sides(i)
		for side, text := range [2]string{pair.Source, pair.Target} {
			if injected.has(side) && !there[side][text] {
				there[side][text] = true
				in.texts[side] = append(in.texts[side], text)
			}
		}
	}
	return in
}

// place records which sentences belong to which pair.
func (in *Injection) place(pairs []exchange.Pair, sides func(i int) Sides) {
	var number [2]map[string]int32
	for side, n := range in.numbers {
		number[side] = make(map[string]int32, len(n.own)+len(n.added))
		for i, text := range in.host.Texts[side] {
			number[side][text] = n.own[i]
		}
		for i, text := range in.texts[side] {
			number[side][text] = n.added[i]
		}
	}
	for i, pair := range pairs {
		source, hasSource := number[0][pair.Source]
		target, hasTarget := number[1][pair.Target]
		if hasSource {
			in.pair[0][source] = int32(i)
		}
		if hasTarget {
			in.pair[1][target] = int32(i)
		}
		both := [2]int32{source, target}
		switch {
		case hasSource && hasTarget && sides(i) == NearMiss:
			in.near[both], in.unpaired[int32(i)] = true, true
		case hasSource && hasTarget:
			in.whole[both] = true
		default:
			in.unpaired[int32(i)] = true
		}
	}
}

// KnownPair returns the known pair that a sentence of a side belongs to. ok is false if there is none.
func (in *Injection) KnownPair(side int, sentence int32) (pair int32, ok bool) {
	pair, ok = in.pair[side][sentence]
	return pair, ok
}

// PairOf returns the known pair that one of a candidate's sentences belongs to. ok is false if there is none.
func (in *Injection) PairOf(c *mine.Candidate) (pair int32, ok bool) {
	if pair, ok = in.KnownPair(0, c.Source); !ok {
		pair, ok = in.KnownPair(1, c.Target)
	}
	return pair, ok
}

// Whole reports whether a candidate is a known pair.
func (in *Injection) Whole(c *mine.Candidate) bool { return in.whole[[2]int32{c.Source, c.Target}] }

// NearMiss reports whether a candidate is an injected near miss.
func (in *Injection) NearMiss(c *mine.Candidate) bool { return in.near[[2]int32{c.Source, c.Target}] }

// Unpaired reports whether a known pair has no translation: only one sentence is present, or it is a near miss.
func (in *Injection) Unpaired(pair int32) bool { return in.unpaired[pair] }

// Problem returns the candidates that have a sentence of a known pair. Nothing is known about the others.
func (in *Injection) Problem() *score.Problem {
	h := in.host
	return &score.Problem{
		Languages: h.Languages, Lists: in.Lists, Tokens: h.Tokens, Threads: h.Threads,
		Read: func(ctx context.Context, side int, into *score.SideBuilder) error {
			into.Renumber(in.numbers[side].own)
			if err := h.Read(ctx, side, into); err != nil {
				return err
			}
			into.Renumber(nil)
			return into.Add(ctx, in.numbers[side].added, in.texts[side])
		},
		Only: func(c *mine.Candidate) bool { _, ok := in.PairOf(c); return ok },
	}
}
