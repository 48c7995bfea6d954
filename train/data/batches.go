// Package data turns bitext into batches: read, tokenised once, bucketed by length, in a seeded order that can be
// resumed at any step.
package data

import (
	"math/rand/v2"
	"slices"

	"bitextmine/internal/badinput"
	"bitextmine/train/words"
)

// HardNegatives are, for each pair, h targets that are not translations of its source, as indices of pairs in the Set.
type HardNegatives struct {
	PerPair int     // h
	Rows    []int32 // [pairs, h]
}

// Batches is the endless sequence of a training's batches. The Set's config and content determine it. It may be used by
// one goroutine.
type Batches struct {
	set       *Set
	order     *order
	step      int
	negatives *HardNegatives
}

// Batches returns the sequence from step 0. If the bitext cannot fill a batch, it is a badinput error. negatives may be
// nil.
func (s *Set) Batches(negatives *HardNegatives) (*Batches, error) {
	o, err := newOrder(s, s.config)
	if err != nil {
		return nil, err
	}
	b := &Batches{set: s, order: o}
	if negatives == nil {
		return b, nil
	}
	return b, b.Replace(negatives)
}

// Replace has the next batches take other hard negatives.
func (b *Batches) Replace(negatives *HardNegatives) error {
	if n := b.set.Len(); len(negatives.Rows) != n*negatives.PerPair || negatives.PerPair < 1 {
		return badinput.Errorf("the table of hard negatives has %d rows, not %d for each of %d pairs: make it again from this bitext", len(negatives.Rows), negatives.PerPair, n)
	}
	for _, row := range negatives.Rows {
		if row < 0 || int(row) >= b.set.Len() {
			return badinput.Errorf("the table of hard negatives names pair %d of %d: make it again from this bitext", row, b.set.Len())
		}
	}
	b.negatives = negatives
	return nil
}

// Seek makes step the next one. It draws all batches before it, from the current one or else from the first, without
// building them, at some millions of pairs per second.
func (b *Batches) Seek(step int) {
	if step < b.step {
		b.step = 0
		b.order, _ = newOrder(b.set, b.set.config) // this succeeded before
	}
	for ; b.step < step; b.step++ {
		b.order.next(b.set.longest)
	}
}

// Step is the number of the next batch.
func (b *Batches) Step() int { return b.step }

// Epoch is the mean number of times that a pair was used.
func (b *Batches) Epoch() float64 {
	return float64(b.step) * float64(b.set.config.BatchSize) / float64(b.set.Len())
}

// Next returns the next batch. The caller owns its slices.
func (b *Batches) Next() *Batch {
	d := b.order.next(b.set.longest)
	swap := b.swaps(len(d.rows))
	other := make([]bool, len(swap))
	for i := range swap {
		other[i] = !swap[i]
	}
	out := &Batch{Step: b.step, Rows: d.rows,
		Views: []Side{b.set.gather(d.rows, swap, d.length), b.set.gather(d.rows, other, d.length)}}
	if b.set.words != nil {
		out.Words = make([]words.Pair, len(d.rows))
		for i, row := range d.rows {
			if out.Words[i] = b.set.words[row]; swap[i] {
				out.Words[i] = out.Words[i].Swapped()
			}
		}
	}
	if b.negatives != nil {
		out.Views = append(out.Views, b.negativeSide(d.rows, other))
	}
	b.step++
	return out
}

// swaps returns which pairs' sides are swapped: all or none in a batch of one language pair, otherwise each pair by
// itself.
func (b *Batches) swaps(n int) []bool {
	swap := make([]bool, n)
	if !b.set.config.BothWays {
		return swap
	}
	rng := rand.New(rand.NewPCG(b.set.config.Seed, uint64(b.step)))
	all := rng.IntN(2) == 1
	for i := range swap {
		if swap[i] = all; b.set.config.Mixed {
			swap[i] = rng.IntN(2) == 1
		}
	}
	return swap
}

// negativeSide collects the negatives of each row, from the side that its target is from.
func (b *Batches) negativeSide(rows []int32, targets []bool) Side {
	h := b.negatives.PerPair
	of, sides := make([]int32, 0, len(rows)*h), make([]bool, 0, len(rows)*h)
	longest := 0
	for i, row := range rows {
		for _, n := range b.negatives.Rows[int(row)*h : (int(row)+1)*h] {
			of, sides = append(of, n), append(sides, targets[i])
			longest = max(longest, b.set.longest(n))
		}
	}
	at, _ := slices.BinarySearch(b.order.lengths, longest)
	return b.set.gather(of, sides, b.order.lengths[at])
}

// longest is the number of tokens of a pair's longer side.
func (s *Set) longest(row int32) int {
	return max(len(s.source.at(int(row))), len(s.target.at(int(row))))
}

// gather pads one side of rows: the target if target is true, otherwise the source.
func (s *Set) gather(rows []int32, target []bool, length int) Side {
	n := len(rows)
	out := Side{N: n, Length: length, IDs: make([]int32, n*length), Lengths: make([]int32, n),
		Languages: make([]uint16, n)}
	if s.source.textEnds != nil {
		out.Texts = make([]string, n)
	}
	for i, row := range rows {
		from, pair := &s.source, s.Groups[s.group[row]]
		out.Languages[i] = pair.Source
		if target[i] {
			from, out.Languages[i] = &s.target, pair.Target
		}
		out.Lengths[i] = int32(copy(out.IDs[i*length:(i+1)*length], from.at(int(row))))
		if out.Texts != nil {
			out.Texts[i] = from.textAt(int(row))
		}
	}
	return out
}

// Side is one side of a batch: n sentences as token ids, padded to one length.
type Side struct {
	N, Length int
	IDs       []int32  // [n, length], row-major; padding is Pad
	Lengths   []int32  // [n], number of tokens of each sentence with special tokens; at least 1
	Languages []uint16 // [n], indices in Set.Languages
	Texts     []string // [n]; nil unless Options.Texts is set (a teacher has its own tokenizer)
}

// Sentence returns the ids of sentence i without padding.
func (s Side) Sentence(i int) []int32 { return s.IDs[i*s.Length:][:s.Lengths[i]] }

// Batch is the N pairs of one step.
type Batch struct {
	Step  int          // counted from 0 over the whole training; with the seed it determines the batch
	Rows  []int32      // [n], indices of the pairs in the Set
	Words []words.Pair // the words of each pair; nil unless Options.Pieces is set
	Views []Side       // the sources and the targets [n]; with hard negatives also those of the targets [n*h]
}

// Indices of a batch's sides in Views.
const (
	SourceView = iota
	TargetView
	NegativesView
)

// Pad is the id that fills a row. Lengths say where it starts, so it may also be the id of a piece.
const Pad = 0
