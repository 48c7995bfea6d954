// Package data turns bitext into batches: read, tokenised once, bucketed by length, in a seeded order that can be
// resumed at any step.
package data

import "bitextmine/train/words"

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
