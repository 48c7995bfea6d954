package encoder

import (
	"context"
	"math"
	"slices"

	"bitextmine/internal/badinput"
	"bitextmine/internal/parallel"
	"bitextmine/train/data"
	"bitextmine/train/layers"
	"bitextmine/train/weights"
)

// BagSettings are the settings of a bag of subword vectors.
type BagSettings struct {
	Dim int `yaml:"dim"`
	// standard deviation of new vectors: the weight in a mean of pieces that training never sees
	Deviation   float64 `yaml:"deviation"`
	WordDropout float64 `yaml:"word_dropout"` // share of tokens left out of a mean in training
	NGrams      NGrams  `yaml:"ngrams"`
}

// Validate reports the first problem.
func (s BagSettings) Validate() error {
	switch {
	case s.Dim <= 0:
		return badinput.Errorf("encoder: dim is %d: it must be above 0", s.Dim)
	case !(s.Deviation > 0): // or no number
		return badinput.Errorf("encoder: deviation is %g: it must be above 0", s.Deviation)
	case !(s.WordDropout >= 0 && s.WordDropout < 1):
		return badinput.Errorf("encoder: word_dropout is %g: it must be in [0, 1)", s.WordDropout)
	}
	return s.NGrams.validate()
}

// Bag is the mean of subword vectors. A piece's vector is its own plus, if the settings ask for them, those of its
// character n-grams (as in Bojanowski et al., 2017, but within pieces). Pieces that are rare in training then start
// from the n-grams that they share with others, across languages too. The sum is exported as a plain table.
//
// A bag is computed on the host: a batch reads and changes a few thousand rows, which a dense graph could not exploit.
type Bag struct {
	settings BagSettings
	pieces   *weights.Tensor // [vocabulary, dim]
	ngrams   *weights.Tensor // [distinct n-grams, dim], or nil
	parts    parts           // the n-grams of each piece
	seen     marks
	seenPart marks
	round    func(row []float32) // NewTable's
}

// NewBag creates a bag for the pieces of a vocabulary, by id.
func NewBag(settings BagSettings, pieces []string, seed uint64) (*Bag, error) {
	if err := settings.Validate(); err != nil {
		return nil, err
	}
	b := &Bag{settings: settings, seen: make(marks, len(pieces))}
	b.pieces = weights.New(weights.Spec{Name: "bag.pieces", Shape: []int{len(pieces), settings.Dim},
		Init: weights.Normal, Scale: settings.Deviation}, seed)
	if settings.NGrams.Max > 0 {
		b.parts = settings.NGrams.of(pieces)
		b.ngrams = weights.New(weights.Spec{Name: "bag.ngrams", Shape: []int{max(1, b.parts.distinct), settings.Dim},
			Init: weights.Normal, Scale: settings.NGrams.Deviation}, seed)
		b.seenPart = make(marks, b.ngrams.Rows())
	}
	return b, nil
}

// Dim is the length of a vector.
func (b *Bag) Dim() int { return b.settings.Dim }

// Weights are the table of pieces and, if there is one, that of n-grams.
func (b *Bag) Weights() []*weights.Tensor {
	if b.ngrams == nil {
		return []*weights.Tensor{b.pieces}
	}
	return []*weights.Tensor{b.pieces, b.ngrams}
}

// Forward returns the means [n, dim].
func (b *Bag) Forward(_ context.Context, side data.Side, seed uint64) ([]float32, error) {
	read := b.read(side, seed)
	rows := b.compose(read.ids)
	out := make([]float32, side.N*b.Dim())
	dim := b.Dim()
	parallel.Ranges(side.N, b.Dim(), func(from, to int) {
		for i := from; i < to; i++ {
			sum := out[i*dim : (i+1)*dim]
			for _, p := range read.sentence(i) {
				axpy(sum, rows[int(p)*dim:(int(p)+1)*dim], read.weight[i])
			}
		}
	})
	return out, nil
}

// Backward adds the gradients of the means to those of the rows that they were computed from.
func (b *Bag) Backward(_ context.Context, side data.Side, seed uint64, gradients []float32) error {
	read := b.read(side, seed)
	dim := b.Dim()
	rows := make([]float32, len(read.ids)*dim)
	byPiece := read.invert()
	parallel.Ranges(len(read.ids), b.Dim(), func(from, to int) {
		for p := from; p < to; p++ {
			for _, i := range byPiece.of(p) {
				axpy(rows[p*dim:(p+1)*dim], gradients[int(i)*dim:(int(i)+1)*dim], read.weight[i])
			}
		}
	})
	b.pieces.NeedGrad()
	parallel.Ranges(len(read.ids), b.Dim(), func(from, to int) {
		for p := from; p < to; p++ {
			axpy(b.pieces.GradRow(int(read.ids[p])), rows[p*dim:(p+1)*dim], 1)
		}
	})
	b.pieces.Touched = b.seen.add(b.pieces.Touched, read.ids)
	if b.ngrams != nil {
		b.backwardParts(read.ids, rows)
	}
	return nil
}

// backwardParts adds the gradients [len(ids), dim] of composed rows to those of their n-grams.
func (b *Bag) backwardParts(ids []int32, gradients []float32) {
	dim := b.Dim()
	var owners, used []int32
	for p, id := range ids {
		for _, g := range b.parts.of(int(id)) {
			owners, used = append(owners, int32(p)), append(used, g)
		}
	}
	distinct, place := number(used, b.ngrams.Rows())
	byPart := group(place, len(distinct), func(k int) int32 { return owners[k] })
	b.ngrams.NeedGrad()
	parallel.Ranges(len(distinct), b.Dim(), func(from, to int) {
		for q := from; q < to; q++ {
			sum := b.ngrams.GradRow(int(distinct[q]))
			for _, p := range byPart.of(q) {
				axpy(sum, gradients[int(p)*dim:(int(p)+1)*dim], b.parts.weight(int(ids[p])))
			}
		}
	})
	b.ngrams.Touched = b.seenPart.add(b.ngrams.Touched, distinct)
}

// compose returns the vectors [len(ids), dim] of pieces: the sums of their own and their n-grams'.
func (b *Bag) compose(ids []int32) []float32 {
	dim := b.Dim()
	rows := make([]float32, len(ids)*dim)
	parallel.Ranges(len(ids), b.Dim(), func(from, to int) {
		for p := from; p < to; p++ {
			row := rows[p*dim : (p+1)*dim]
			copy(row, b.pieces.Row(int(ids[p])))
			if b.round != nil {
				b.round(row)
			}
			if b.ngrams == nil {
				continue
			}
			for _, g := range b.parts.of(int(ids[p])) {
				axpy(row, b.ngrams.Row(int(g)), b.parts.weight(int(ids[p])))
			}
		}
	})
	return rows
}

// Table is the composed vector of every piece, [vocabulary, dim], which is exported.
func (b *Bag) Table() []float32 {
	ids := make([]int32, b.pieces.Rows())
	for i := range ids {
		ids[i] = int32(i)
	}
	return b.compose(ids)
}

// Rounded returns the table with one byte per value and a scale [vocabulary] per row. value x scale is off by at most
// half the scale.
func (b *Bag) Rounded() (numbers []int8, scales []float32) {
	table, dim := b.Table(), b.Dim()
	numbers, scales = make([]int8, len(table)), make([]float32, len(table)/dim)
	for r := range scales {
		var largest float32
		for _, x := range table[r*dim : (r+1)*dim] {
			largest = max(largest, float32(math.Abs(float64(x))))
		}
		if scales[r] = largest / 127; largest == 0 {
			continue
		}
		for i, x := range table[r*dim : (r+1)*dim] {
			numbers[r*dim+i] = int8(math.RoundToEven(float64(x / scales[r])))
		}
	}
	return numbers, scales
}

// ofTable returns a bag that is only a rounded table: it computes what an exported bag does.
func ofTable(numbers []int8, scales []float32) *Bag {
	dim := len(numbers) / len(scales)
	values := make([]float32, len(numbers))
	for i, n := range numbers {
		values[i] = float32(n) * scales[i/dim]
	}
	return NewTable("bag.pieces", dim, values, nil)
}

// NewTable returns a bag of the rows of a table. The means are of rows that round, unless it is nil, has changed to
// their exported form; training changes the table itself.
func NewTable(name string, dim int, values []float32, round func(row []float32)) *Bag {
	rows := len(values) / dim
	t := &weights.Tensor{Name: name, Shape: []int{rows, dim}, Data: values}
	return &Bag{settings: BagSettings{Dim: dim}, pieces: t, seen: make(marks, rows), round: round}
}

// reading lists the rows of the table that a side reads.
type reading struct {
	ids    []int32   // distinct pieces, ascending
	places []int32   // index in ids of the piece of every token that is not dropped, sentence after sentence
	ends   []int     // [n], in places
	weight []float32 // [n], 1 / number of tokens that are not dropped
}

func (r *reading) sentence(i int) []int32 {
	if i == 0 {
		return r.places[:r.ends[0]]
	}
	return r.places[r.ends[i-1]:r.ends[i]]
}

// invert lists, for each piece, the sentences that it occurs in, once per occurrence, in order.
func (r *reading) invert() groups {
	sentences := make([]int32, len(r.places))
	k := 0
	for i := range r.ends {
		for range r.sentence(i) {
			sentences[k] = int32(i)
			k++
		}
	}
	return group(r.places, len(r.ids), func(k int) int32 { return sentences[k] })
}

// read lists a side's tokens except those that the seed drops. At least the first token of a sentence stays.
func (b *Bag) read(side data.Side, seed uint64) *reading {
	r := &reading{ends: make([]int, side.N), weight: make([]float32, side.N)}
	tokens := make([]int32, 0, side.N*side.Length)
	drop := uint64(b.settings.WordDropout * (1 << 32))
	for i := range side.N {
		start := len(tokens)
		for j := range int(side.Lengths[i]) {
			if seed != 0 && drop > 0 && layers.Mix(seed+uint64(i*side.Length+j))>>32 < drop {
				continue
			}
			tokens = append(tokens, side.IDs[i*side.Length+j])
		}
		if len(tokens) == start {
			tokens = append(tokens, side.IDs[i*side.Length])
		}
		r.ends[i] = len(tokens)
		r.weight[i] = 1 / float32(len(tokens)-start)
	}
	r.ids, r.places = number(tokens, b.pieces.Rows())
	return r
}

// marks are the rows of a table that were touched since its gradient was cleared.
type marks []bool

// add adds rows to touched. Both and the result are ascending.
func (m marks) add(touched, rows []int32) []int32 {
	if len(touched) == 0 {
		clear(m)
		if touched == nil {
			touched = []int32{}
		}
	}
	for _, r := range rows {
		if !m[r] {
			m[r] = true
			touched = append(touched, r)
		}
	}
	slices.Sort(touched)
	return touched
}
