// Package data turns bitext into batches: read, tokenised once, bucketed by length, in a seeded order that can be taken
// up anywhere.
package data

// Side is one side of a batch: n sentences as token ids, padded to one length.
type Side struct {
	N, Length int
	IDs       []int32  // [n, length], row-major; padding is Pad
	Lengths   []int32  // [n], tokens of each sentence, all special ones included; at least 1
	Languages []uint16 // [n], places in Set.Languages
	Texts     []string // [n]; nil unless Options.Texts asked for them (a teacher has its own tokenizer)
}

// Sentence is the ids of sentence i, without padding.
func (s Side) Sentence(i int) []int32 { return s.IDs[i*s.Length:][:s.Lengths[i]] }

// Batch is N pairs of one step.
type Batch struct {
	Step  int     // counted from 0 over the whole training: with the seed it fixes the batch
	Rows  []int32 // [n], the pairs' places in the Set
	Views []Side  // the sources and the targets [n]; where there are hard negatives of the targets, these [n*h]
}

// The places of a batch's sides in Views.
const (
	SourceView = iota
	TargetView
	NegativesView
)

// Pad is the id that fills a row; lengths say where it starts, so it may be a piece's id as well.
const Pad = 0
