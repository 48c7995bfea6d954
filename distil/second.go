package distil

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"bitextmine/distil/fit"
	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/encode/onnxgraph"
	"bitextmine/internal/badinput"
)

// A second encoder, whose vectors are sums over its own tokens, may stand beside the teacher: the same pieces get more
// columns, whose sums stand for that encoder's sums. The two make different mistakes: a bag that was trained on
// translations keeps names and numbers apart, which a teacher of meaning draws together.

// Second describes the columns that stand for a second encoder.
type Second struct {
	Encoder string  `json:"encoder"`
	Digest  string  `json:"digest"`
	Licence string  `json:"licence"`
	Columns int     `json:"columns"`
	Share   float64 `json:"share"`  // share of the square of a vector's length
	Kept    float64 `json:"kept"`   // share of the squares of the encoder's vectors that so many axes hold
	Turned  float64 `json:"turned"` // share of the squares of both in one that the axes of the student's vectors hold
	Fitted  Fitted  `json:"fitted"`
	// Cosine is the mean, of the columns' and the encoder's vectors of held-out sentences.
	Cosine float64 `json:"cosine_held_out"`
}

// secondTable is the table of a second encoder.
type secondTable struct {
	Second
	values  []float32 // [student's ids, columns]
	held    []float32 // the encoder's sums of the first held-out sentences [sentences, columns]
	squares float64   // squares of the fitted sums
}

// openSecond opens the second encoder; nil if the options name none.
func openSecond(o Options, t *source) (*source, error) {
	if o.Beside == "" {
		return nil, nil
	}
	if t.encoder.Vocabulary().Pieces() == nil {
		return nil, badinput.Errorf("--beside %s: the text of the pieces of %s is not known, as its tokenizer is not SentencePiece: leave the flag out", o.Beside, t.model.Name)
	}
	m, err := model.Load(o.Beside)
	if err != nil {
		return nil, err
	}
	sums, err := sumsOf(m)
	if err != nil {
		return nil, err
	}
	e, err := encode.OpenInner(m, sums, o.encodeOptions())
	if err != nil {
		return nil, err
	}
	if o.BesideColumns > e.Dim() {
		return nil, errors.Join(badinput.Errorf("--beside-columns %d: the vectors of %s have %d; ask for no more",
			o.BesideColumns, m.Name, e.Dim()), e.Close())
	}
	return withCache(&source{model: m, encoder: e}, cacheOf(o))
}

// sumsOf finds the sums that an encoder's vectors are made of, as the bags of mine train have them.
func sumsOf(m *model.Model) (tensor string, err error) {
	refused := badinput.Errorf("--beside %s: its vectors are not the sums of its tokens' at length 1: name an encoder that mine train made as a bag", m.Name)
	if m.Pooling != model.None {
		return "", refused
	}
	g, err := graphOf(m)
	if err != nil {
		return "", err
	}
	maker := func(tensor string) (onnxgraph.Node, bool) {
		i := slices.IndexFunc(g.Nodes, func(n onnxgraph.Node) bool { return slices.Contains(n.Outputs, tensor) })
		if i < 0 {
			return onnxgraph.Node{}, false
		}
		return g.Nodes[i], true
	}
	last, ok := maker(m.Output)
	if !ok || last.Op != "LpNormalization" {
		return "", refused
	}
	if sum, ok := maker(last.Inputs[0]); !ok || sum.Op != "ReduceSum" {
		return "", refused
	}
	return last.Inputs[0], nil
}

// fitSecond fits the columns of the second encoder b, on the axes that hold most of its vectors. main is the problem of
// the teacher's table, and power its power.
func fitSecond(ctx context.Context, o Options, t, b *source, p *pieces, main *fit.Problem,
	power float64) (*secondTable, error) {
	o.Report("encode with " + b.model.Name)
	dim, columns := b.cached.Dim(), o.BesideColumns
	own := make([][]int32, p.rows.Rows())
	for i := range own {
		own[i] = p.rows.At(i)
	}
	sums, err := secondSums(ctx, o, t, b, p.vocabulary, own)
	if err != nil {
		return nil, err
	}
	axes, kept, err := fit.Axes(unitSample(sums, dim), dim, columns)
	if err != nil {
		return nil, err
	}
	turn := fit.Transposed(axes, dim)
	sums = fit.Product(sums, dim, turn, columns)
	for i, scale := range main.Scales { // the student's own sums have it
		for k := range columns {
			sums[i*columns+k] *= scale
		}
	}
	out := &secondTable{}
	for i, w := range main.Weights {
		if w == 0 && len(out.held) < compared*columns {
			out.held = append(out.held, sums[i*columns:(i+1)*columns]...)
		}
	}
	singles := make([][]int32, main.Pieces)
	for i := range singles {
		singles[i] = []int32{int32(i)}
	}
	alone, err := secondSums(ctx, o, t, b, p.vocabulary, singles)
	if err != nil {
		return nil, err
	}
	o.Report("fit the table for " + b.model.Name)
	f := &fit.Problem{Sentences: p.rows, Weights: main.Weights, Pieces: main.Pieces, Threads: o.Threads}
	f.Features, f.Dim = fit.Padded(sums, columns)
	alone, _ = fit.Padded(fit.Product(alone, dim, turn, columns), columns)
	values, fitted, err := fitTable(ctx, o, f, alone, nil, p.first, power)
	if err != nil {
		return nil, err
	}
	out.values, out.squares = fit.Cut(values, f.Dim, columns), f.Total[0]
	out.Second = Second{
		Encoder: b.model.Name, Digest: b.model.Digest, Licence: b.model.Licence, Columns: columns, Share: o.BesideShare,
		Kept: kept, Fitted: fitted,
	}
	return out, nil
}

// secondSums gives the second encoder's sums [sentences, dim] of the text that the pieces of sentences of the student's
// ids spell, without the pieces of special tokens.
func secondSums(ctx context.Context, o Options, t, b *source, vocabulary *Vocabulary,
	own [][]int32) ([]float32, error) {
	spellings := t.encoder.Vocabulary().Pieces()
	bos, eos := t.encoder.Vocabulary().Ends()
	for _, id := range slices.Concat(bos, eos) {
		spellings[id] = ""
	}
	theirs := &Sentences{}
	for batch := range slices.Chunk(own, together) {
		var texts []string
		for _, ids := range batch {
			var text strings.Builder
			for _, id := range ids {
				for _, part := range vocabulary.Teacher[id] {
					text.WriteString(spellings[part])
				}
			}
			texts = append(texts, strings.TrimSpace(strings.ReplaceAll(text.String(), wordMark, " ")))
		}
		sequences, err := b.encoder.Sequences(ctx, "", texts)
		if err != nil {
			return nil, err
		}
		for i := range texts {
			theirs.IDs = append(theirs.IDs, sequences.At(i)...)
			theirs.Ends = append(theirs.Ends, len(theirs.IDs))
		}
	}
	return b.features(ctx, theirs, func(done int) { o.Progress("sentences", done, theirs.Len()) })
}

// sampled is the number of rows that axes are computed of, at most.
const sampled = 50_000

// unitSample takes rows [n, dim] evenly, at length 1.
func unitSample(rows []float32, dim int) []float32 {
	n := len(rows) / dim
	var out []float32
	for i := 0; i < n; i += (n + sampled - 1) / sampled {
		row := rows[i*dim : (i+1)*dim]
		square := 0.0
		for _, x := range row {
			square += float64(x) * float64(x)
		}
		scale := float32(1 / math.Sqrt(max(square, math.SmallestNonzeroFloat64)))
		for _, x := range row {
			out = append(out, x*scale)
		}
	}
	return out
}

// join puts the columns of both encoders into one table [rows, dim of the features and columns], those of the second
// times a factor. With the factor they have share of the squares that are fitted, so that an axis that is cut off costs
// either encoder's vectors as much.
func join(first *table, second *secondTable, share, squares float64) (values []float32, factor float32) {
	dim, columns := first.dim, second.Columns
	factor = float32(math.Sqrt(share / (1 - share) * squares / max(second.squares, math.SmallestNonzeroFloat64)))
	for i := range len(first.values) / dim {
		values = append(values, first.values[i*dim:(i+1)*dim]...)
		for _, x := range second.values[i*columns : (i+1)*columns] {
			values = append(values, x*factor)
		}
	}
	return values, factor
}
