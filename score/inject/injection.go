package inject

import (
	"context"

	"bitextmine/bitext/exchange"
	"bitextmine/mine"
	"bitextmine/score"
)

// Sides is the set of sentences of a known pair that are injected.
type Sides uint8

// A pair with only one injected sentence is unpaired, unless the host has the other sentence.
const (
	Both Sides = iota
	SourceOnly
	TargetOnly
)

func (s Sides) has(side int) bool {
	return s == Both || s == SourceOnly && side == 0 || s == TargetOnly && side == 1
}

// Injection is a host with known pairs among its sentences.
type Injection struct {
	Lists *mine.Lists // of the host's sentences, then the injected ones

	host     *Host
	texts    [2][]string        // injected, numbered after the host's
	pair     [2]map[int32]int32 // sentence -> its pair
	whole    map[[2]int32]bool
	unpaired map[int32]bool // pairs with only one sentence present
}

// Inject adds sentences of the pairs to the host's, as sides says for each pair, and searches. A sentence or pair that
// the host already has is used where it is.
func (h *Host) Inject(ctx context.Context, pairs []exchange.Pair, sides func(i int) Sides) (*Injection, error) {
	in := h.place(pairs, sides)
	var err error
	in.Lists, err = h.search(ctx, in.texts)
	return in, err
}

// place assigns numbers to the sentences of the pairs.
func (h *Host) place(pairs []exchange.Pair, sides func(i int) Sides) *Injection {
	known := [2]map[string]int32{{}, {}}
	for side, texts := range h.Texts {
		for i, text := range texts {
			known[side][text] = int32(i)
		}
	}
	in := &Injection{host: h, pair: [2]map[int32]int32{{}, {}}, whole: map[[2]int32]bool{}, unpaired: map[int32]bool{}}
	for i, pair := range pairs {
		injected := sides(i)
		var numbers [2]int32
		there := 0
		for side, text := range [2]string{pair.Source, pair.Target} {
			number, ok := known[side][text]
			if !ok && injected.has(side) {
				number, ok = int32(len(h.Texts[side])+len(in.texts[side])), true
				in.texts[side] = append(in.texts[side], text)
			}
			if ok {
				in.pair[side][number] = int32(i)
				numbers[side] = number
				there++
			}
		}
		if there == 2 {
			in.whole[numbers] = true
		} else {
			in.unpaired[int32(i)] = true
		}
	}
	return in
}

// PairOf returns the known pair that one of a candidate's sentences belongs to. ok is false if there is none.
func (in *Injection) PairOf(c *mine.Candidate) (pair int32, ok bool) {
	if pair, ok = in.pair[0][c.Source]; !ok {
		pair, ok = in.pair[1][c.Target]
	}
	return pair, ok
}

// Whole reports whether a candidate is a known pair.
func (in *Injection) Whole(c *mine.Candidate) bool { return in.whole[[2]int32{c.Source, c.Target}] }

// Unpaired reports whether only one sentence of a known pair is present.
func (in *Injection) Unpaired(pair int32) bool { return in.unpaired[pair] }

// Problem returns the candidates that have a sentence of a known pair. Nothing is known about the others.
func (in *Injection) Problem() *score.Problem {
	h := in.host
	return &score.Problem{
		Languages: h.Languages, Lists: in.Lists, Tokens: h.Tokens, Threads: h.Threads,
		Read: func(ctx context.Context, side int, into *score.SideBuilder) error {
			if err := h.Read(ctx, side, into); err != nil {
				return err
			}
			return into.Add(ctx, score.Numbers(len(h.Texts[side]), len(in.texts[side])), in.texts[side])
		},
		Only: func(c *mine.Candidate) bool { _, ok := in.PairOf(c); return ok },
	}
}
