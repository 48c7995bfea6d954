package wacse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/objective"
	"bitextmine/train/words"
)

// target is a token that a masked token predicts.
type target struct {
	view, row, place int     // position of the masked token, among the masked views
	id               int32   // that it predicts
	share            float32 // share of the loss, without 1/2N
}

// mask masks words of a batch. The seed and the step determine it. It returns the clean sides and the masked ones.
func (w *wacse) mask(b *data.Batch) (views []data.Side, targets []target) {
	rng := rand.New(rand.NewPCG(w.Seed, uint64(b.Step)))
	views = slices.Clone(b.Views[:2])
	for view, clean := range b.Views[:2] {
		masked, other := clean, b.Views[1-view]
		masked.IDs = slices.Clone(clean.IDs)
		for row, pair := range b.Words {
			if view == 1 {
				pair = pair.Swapped()
			}
			drawn, scale := w.draw(rng, pair.Links)
			for _, l := range pair.Links {
				if drawn[l.Source] {
					targets = append(targets, predictions(view, row, pair.Source[l.Source], other.Sentence(row),
						pair.Target[l.Target], scale)...)
				}
			}
			ids := masked.Sentence(row)
			for word := range drawn {
				for p := pair.Source[word].Begin; p < pair.Source[word].End; p++ {
					ids[p] = w.Training.Mask
				}
			}
		}
		views = append(views, masked)
	}
	return views, targets
}

// draw draws linked words: round(masking x their number), at least one. scale is how many there are for each.
func (w *wacse) draw(rng *rand.Rand, links []words.Link) (drawn map[uint16]bool, scale float32) {
	var linked []uint16
	for _, l := range links { // ascending
		if n := len(linked); n == 0 || linked[n-1] != l.Source {
			linked = append(linked, l.Source)
		}
	}
	if len(linked) == 0 {
		return drawn, scale
	}
	count := max(1, int(math.Round(w.Masking*float64(len(linked)))))
	scale = float32(len(linked)) / float32(count)
	drawn = map[uint16]bool{}
	for i := range count { // the first steps of a Fisher-Yates shuffle
		j := i + rng.IntN(len(linked)-i)
		linked[i], linked[j] = linked[j], linked[i]
		drawn[linked[i]] = true
	}
	return drawn, scale
}

// predictions are the tokens of a word of the other sentence at the places of a masked word. The longer of the two is
// clipped.
func predictions(view, row int, masked words.Span, other []int32, word words.Span, share float32) (out []target) {
	for k := range min(masked.End-masked.Begin, word.End-word.Begin) {
		out = append(out, target{view, row, int(masked.Begin + k), other[word.Begin+k], share})
	}
	return out
}

// predictedInputs is how many inputs predicted gives.
const predictedInputs = 3

// predicted are of each target its place in the tokens of the two masked views of n sentences [targets, 1], its token
// [targets, 1] and its share of the loss [targets], which is 0 where there is none. Their number is rounded up, because
// each new one is compiled.
func (w *wacse) predicted(n, length int, targets []target) ([]*tensors.Tensor, error) {
	size := objective.RoundUp(len(targets), 2*n*length)
	places, ids, shares := make([]int64, size), make([]int64, size), make([]float32, size)
	for k, t := range targets {
		if t.id < 0 || int(t.id) >= w.Vocabulary {
			return nil, fmt.Errorf("a batch has the token %d but the vocabulary has %d", t.id, w.Vocabulary)
		}
		places[k], ids[k], shares[k] = int64((t.view*n+t.row)*length+t.place), int64(t.id), t.share/float32(2*n)
	}
	return []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions(places, size, 1),
		tensors.FromFlatDataAndDimensions(ids, size, 1),
		tensors.FromFlatDataAndDimensions(shares, size),
	}, nil
}

// ranked are the words of both sides: the shares of tokens in each word [n, length, length], twice; which words there
// are [n, length], twice; and 1 for each link [n, length, length]. A sentence has at most as many words as tokens.
func ranked(length int, pairs []words.Pair) []*tensors.Tensor {
	n := len(pairs)
	square := n * length * length
	shares := [...][]float32{make([]float32, square), make([]float32, square)}
	present := [...][]float32{make([]float32, n*length), make([]float32, n*length)}
	links := make([]float32, square)
	for row, pair := range pairs {
		for side, spans := range [][]words.Span{pair.Source, pair.Target} {
			for word, span := range spans {
				at := row*length + word
				present[side][at] = 1
				for p := span.Begin; p < span.End; p++ {
					shares[side][at*length+int(p)] = 1 / float32(span.End-span.Begin)
				}
			}
		}
		for _, l := range pair.Links {
			links[(row*length+int(l.Source))*length+int(l.Target)] = 1
		}
	}
	return []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions(shares[0], n, length, length),
		tensors.FromFlatDataAndDimensions(shares[1], n, length, length),
		tensors.FromFlatDataAndDimensions(present[0], n, length),
		tensors.FromFlatDataAndDimensions(present[1], n, length),
		tensors.FromFlatDataAndDimensions(links, n, length, length),
	}
}

// longest is the length to which all views are padded.
func longest(views []data.Side) (length int) {
	for _, view := range views {
		length = max(length, view.Length)
	}
	return length
}
