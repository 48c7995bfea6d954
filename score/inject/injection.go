// Package inject adds known pairs to the sentences of two corpora and searches them together. The results for the known
// pairs show what to expect for the corpora's own sentences.
//
// Terms. The host is the two corpora with their vectors and neighbour lists. A known pair is injected whole or with
// only one of its sentences. That sentence is then unpaired: any match for it is wrong. Injected sentences are never
// written to an output.
package inject

import (
	"context"
	"slices"

	"bitextmine/bitext/exchange"
	"bitextmine/corpus/surface"
	"bitextmine/encode/embedding"
	"bitextmine/index"
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
	Lists *mine.Lists // lists of all sentences, by number

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

// Part returns a host of size sentences on each side, evenly spread. Each trial takes other sentences. Both sides must
// have at least size sentences.
func (h *Host) Part(ctx context.Context, size, trial int) (*Host, error) {
	h.known() // the part shares them
	part := *h
	for side, texts := range h.Texts {
		stride := len(texts) / size
		vectors := h.Vectors[side]
		part.Texts[side] = make([]string, size)
		part.Vectors[side] = embedding.Matrix{N: size, Dim: vectors.Dim}
		into := &part.Vectors[side]
		for i := range size {
			from := i*stride + trial%stride
			part.Texts[side][i] = texts[from]
			if vectors.F16 != nil {
				into.F16 = append(into.F16, vectors.F16[from*vectors.Dim:][:vectors.Dim]...)
			} else {
				into.F32 = append(into.F32, vectors.F32[from*vectors.Dim:][:vectors.Dim]...)
			}
		}
	}
	found, err := h.Searcher.Search(ctx, index.Side{Vectors: part.Vectors[0]}, index.Side{Vectors: part.Vectors[1]}, h.K, nil)
	if err != nil {
		return nil, err
	}
	part.Read = score.Texts(part.Texts).Read
	for side, lists := range [2]mine.Neighbours{found.Source, found.Target} {
		part.Lists[side] = mine.Neighbours{K: lists.K, IDs: slices.Clone(lists.IDs), Cosines: slices.Clone(lists.Cosines)}
	}
	return &part, found.Close()
}

// part is some sentences of a side: the host's or the injected ones.
type part struct {
	index.Side
	numbers []int32
}

// search finds the neighbours of both sides including the injected sentences. The host's own lists are known; three
// smaller searches find what the injected sentences change.
func (in *Injection) search(ctx context.Context) (*mine.Lists, error) {
	h := in.host
	var mergers [2]*mine.Merger
	var own, added [2]part
	for side, n := range in.numbers {
		vectors, err := in.vectors(ctx, side)
		if err != nil {
			return nil, err
		}
		own[side] = part{index.Side{Vectors: h.Vectors[side]}, n.own}
		added[side] = part{index.Side{Vectors: vectors, Order: n.order}, n.added}
		mergers[side] = mine.NewMerger(len(n.own)+len(n.added), h.K)
	}
	mergers[0].Add(h.Lists[0], own[0].numbers, own[1].numbers)
	mergers[1].Add(h.Lists[1], own[1].numbers, own[0].numbers)
	for _, cell := range [][2]part{{added[0], own[1]}, {own[0], added[1]}, {added[0], added[1]}} {
		if len(cell[0].numbers) == 0 || len(cell[1].numbers) == 0 {
			continue
		}
		result, err := h.Searcher.Search(ctx, cell[0].Side, cell[1].Side, h.K, nil)
		if err != nil {
			return nil, err
		}
		mergers[0].Add(result.Source, cell[0].numbers, cell[1].numbers)
		mergers[1].Add(result.Target, cell[1].numbers, cell[0].numbers)
		if err := result.Close(); err != nil {
			return nil, err
		}
	}
	return mine.NewLists(mergers[0].Neighbours(), mergers[1].Neighbours(), h.K, mine.Ratio)
}

// maxKept is how many of an injection's sentences of a side keep their vectors for later ones, most of which are of the
// same pairs.
const maxKept = 4096

// vectors encodes a side's injected sentences as the host's were, calm, in the number type of the host's.
func (in *Injection) vectors(ctx context.Context, side int) (embedding.Matrix, error) {
	h, texts := in.host, make([]string, len(in.texts[side]))
	for i, text := range in.texts[side] {
		texts[i], _ = surface.Calm(text, h.Languages[side])
	}
	kept, n, dim := &h.known()[side], min(len(texts), maxKept), h.Encoder.Dim()
	if err := kept.encode(ctx, h.Encoder, h.Languages[side], texts[:n]); err != nil {
		return embedding.Matrix{}, err
	}
	rows := make([]float32, len(texts)*dim)
	for i, text := range texts[:n] {
		copy(rows[i*dim:], (*kept)[text])
	}
	if err := h.Encoder.Encode(ctx, h.Languages[side], texts[n:], rows[n*dim:]); err != nil {
		return embedding.Matrix{}, err
	}
	vectors := embedding.FromFloat32(rows, dim)
	if h.Vectors[side].F16 != nil {
		vectors = embedding.Narrow(vectors)
	}
	return vectors, nil
}

// known are the vectors of sentences that were injected into the host or a part of it.
func (h *Host) known() *[2]vectors {
	if h.injected == nil {
		h.injected = &[2]vectors{}
	}
	return h.injected
}
