package encoder

import (
	"fmt"
	"slices"

	"bitextmine/train/weights"
)

// embed fills b.embedded.
func (t *Transformer) embed(b *batch) error {
	w := t.Width
	b.embedded = make([]float32, b.n*b.length*w)
	words, scale := t.byName[Words], float32(t.wordScale())
	places := t.places()
	for row := range b.n {
		for p := range int(b.lengths[row]) {
			at := row*b.length + p
			id := b.ids[at]
			if int(id) >= t.Vocabulary || id < 0 {
				return fmt.Errorf("a batch has the token %d but the vocabulary has %d", id, t.Vocabulary)
			}
			dst := b.embedded[at*w : (at+1)*w]
			place := places[p*w : (p+1)*w]
			for i, x := range words.Row(int(id)) {
				dst[i] = x*scale + place[i]
			}
		}
	}
	return nil
}

// places is what every place adds, [max tokens, width]: its position and the first token type.
func (t *Transformer) places() []float32 {
	var places []float32
	if t.Positions == Learned {
		places = slices.Clone(t.byName[positions].Data[t.PositionOffset*t.Width:])
	} else {
		places = slices.Clone(t.sines)
	}
	if t.TokenTypes > 0 {
		first := t.byName[types].Row(0)
		for p := range t.MaxTokens {
			add(places[p*t.Width:(p+1)*t.Width], first)
		}
	}
	return places
}

// unembed adds the gradient of the embedded tokens [n, length, width] to the tables' gradients.
func (t *Transformer) unembed(b *batch, grad []float32) {
	w := t.Width
	words, scale := t.byName[Words], float32(t.wordScale())
	words.NeedGrad()
	seen := map[int32]bool{}
	places := make([]float32, b.length*w)
	for row := range b.n {
		for p := range int(b.lengths[row]) {
			at := row*b.length + p
			src := grad[at*w : (at+1)*w]
			dst := words.GradRow(int(b.ids[at]))
			seen[b.ids[at]] = true
			place := places[p*w : (p+1)*w]
			for i, x := range src {
				dst[i] += x * scale
				place[i] += x
			}
		}
	}
	rows := make([]int32, 0, len(seen))
	for id := range seen {
		rows = append(rows, id)
	}
	touch(words, rows)
	if t.Positions == Learned {
		table := t.byName[positions]
		table.NeedGrad()
		add(table.Grad[t.PositionOffset*w:t.PositionOffset*w+len(places)], places)
	}
	if t.TokenTypes > 0 {
		table := t.byName[types]
		table.NeedGrad()
		for p := range b.length {
			add(table.GradRow(0), places[p*w:(p+1)*w])
		}
	}
}

// touch adds rows to those that a table's gradient has.
func touch(table *weights.Tensor, rows []int32) {
	rows = append(rows, table.Touched...)
	slices.Sort(rows)
	table.Touched = slices.Compact(rows)
}

// Tables are what an exported encoder looks up: the words [vocabulary, width], scaled, and what every place adds [max tokens, width].
func (t *Transformer) Tables() (words, places []float32) {
	words = slices.Clone(t.byName[Words].Data)
	if scale := float32(t.wordScale()); scale != 1 {
		for i := range words {
			words[i] *= scale
		}
	}
	return words, t.places()
}
