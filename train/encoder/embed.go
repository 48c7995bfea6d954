package encoder

import (
	"fmt"
	"slices"

	"bitextmine/train/weights"
)

// embed sets p.embedded.
func (p *Pass) embed() error {
	t, w := p.t, p.t.Width
	p.embedded = make([]float32, p.n*p.length*w)
	words, scale := t.byName[Words], float32(t.wordScale())
	places := t.places()
	for row := range p.n {
		for place := range int(p.lengths[row]) {
			at := row*p.length + place
			id := p.ids[at]
			if int(id) >= t.Vocabulary || id < 0 {
				return fmt.Errorf("a batch has the token %d but the vocabulary has %d", id, t.Vocabulary)
			}
			dst := p.embedded[at*w : (at+1)*w]
			from := places[place*w : (place+1)*w]
			for i, x := range words.Row(int(id)) {
				dst[i] = x*scale + from[i]
			}
		}
	}
	return nil
}

// places are the vectors added to the word at each position, [max tokens, width]: the position and the first token
// type.
func (t *Transformer) places() []float32 {
	var places []float32
	if t.Positions == Learned {
		places = slices.Clone(t.byName[positions].Data[t.PositionOffset*t.Width:])
	} else {
		places = slices.Clone(t.sines)
	}
	if t.TokenTypes > 0 {
		first := t.byName[types].Row(0)
		for place := range t.MaxTokens {
			add(places[place*t.Width:(place+1)*t.Width], first)
		}
	}
	return places
}

// unembed adds the gradient of the embedded tokens [n, length, width] to the tables' gradients.
func (p *Pass) unembed(grad []float32) {
	t, w := p.t, p.t.Width
	words, scale := t.byName[Words], float32(t.wordScale())
	words.NeedGrad()
	seen := map[int32]bool{}
	places := make([]float32, p.length*w)
	for row := range p.n {
		for place := range int(p.lengths[row]) {
			at := row*p.length + place
			src := grad[at*w : (at+1)*w]
			dst := words.GradRow(int(p.ids[at]))
			seen[p.ids[at]] = true
			sum := places[place*w : (place+1)*w]
			for i, x := range src {
				dst[i] += x * scale
				sum[i] += x
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
		for place := range p.length {
			add(table.GradRow(0), places[place*w:(place+1)*w])
		}
	}
}

// touch adds rows to a table's touched rows.
func touch(table *weights.Tensor, rows []int32) {
	rows = append(rows, table.Touched...)
	slices.Sort(rows)
	table.Touched = slices.Compact(rows)
}

// Tables are the tables of an exported encoder: the words [vocabulary, width], scaled, and the vectors added at every
// position [max tokens, width].
func (t *Transformer) Tables() (words, places []float32) {
	words = slices.Clone(t.byName[Words].Data)
	if scale := float32(t.wordScale()); scale != 1 {
		for i := range words {
			words[i] *= scale
		}
	}
	return words, t.places()
}

// beyondFirst are the rows [n, width] of token types without the first one, which Tables adds to every position.
func beyondFirst(table []float32, width int) []float32 {
	rows := slices.Clone(table)
	for i := range rows {
		rows[i] -= table[i%width]
	}
	return rows
}
