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

	"bitextmine/distil/student"
	"bitextmine/distil/teacher"
)

// A second encoder, whose vectors are sums over its own tokens, may stand beside the teacher: the same pieces get more
// columns, whose sums stand for that encoder's sums. What one is wrong about the other often knows: a bag that was
// trained on translations keeps names and numbers apart, which a teacher of meaning draws together.

// Second says what the columns that stand for a second encoder are.
type Second struct {
	Encoder string  `json:"encoder"`
	Digest  string  `json:"digest"`
	Licence string  `json:"licence"`
	Columns int     `json:"columns"`
	Share   float64 `json:"share"`  // of the square of a vector's length
	Kept    float64 `json:"kept"`   // of the squares of the encoder's vectors, by that many axes
	Turned  float64 `json:"turned"` // of the squares of both in one, by the axes of the student's vectors
	Fitted  Fitted  `json:"fitted"`
	// Cosine is the mean, of the columns' and the encoder's vectors of held-out sentences.
	Cosine float64 `json:"cosine_held_out"`
}

// beside is the second encoder, and what is fitted for it.
type beside struct {
	model   *model.Model
	encoder *encode.Encoder // gives its sums
	teacher *teacher.Teacher
	table   []float32 // [student's ids, columns]
	held    []float32 // what it says of the first held-out sentences [sentences, columns]
	squares float64   // of the sums that are fitted
}

// openBeside opens the second encoder, if there is one.
func (r *run) openBeside(cache string) error {
	if r.Beside == "" {
		return nil
	}
	if r.encoder.Vocabulary().Pieces() == nil {
		return badinput.Errorf("--beside %s: the text of the pieces of %s is not known, as its tokenizer is not SentencePiece: leave the flag out", r.Beside, r.model.Name)
	}
	m, err := model.Load(r.Beside)
	if err != nil {
		return err
	}
	sums, err := sumsOf(m)
	if err != nil {
		return err
	}
	b := &beside{model: m}
	if b.encoder, err = encode.OpenInner(m, sums, encode.Options{Threads: r.Threads, Library: r.Library}); err != nil {
		return err
	}
	if columns := r.BesideColumns; columns > b.encoder.Dim() {
		return errors.Join(badinput.Errorf("--beside-columns %d: the vectors of %s have %d; ask for no more", columns, m.Name, b.encoder.Dim()), b.encoder.Close())
	}
	if b.teacher, err = teacher.New(Features{Encoder: b.encoder}, cache, false); err != nil {
		return errors.Join(err, b.encoder.Close())
	}
	r.beside = b
	return nil
}

// sumsOf is the tensor of an encoder's graph that its vectors are of, but for their length: that of a bag of mine
// train.
func sumsOf(m *model.Model) (string, error) {
	refused := badinput.Errorf("--beside %s: its vectors are not the sums of its tokens' at length 1: name an encoder that mine train made as a bag, such as bag-ngram", m.Name)
	if m.Pooling != model.None {
		return "", refused
	}
	data, err := m.ReadFile(m.ONNX)
	if err != nil {
		return "", err
	}
	g, err := onnxgraph.Parse(data)
	if err != nil {
		return "", badinput.Errorf("%s of encoder %s: %w", m.ONNX, m.Name, err)
	}
	last := slices.IndexFunc(g.Nodes, func(n onnxgraph.Node) bool { return slices.Contains(n.Outputs, m.Output) })
	if last < 0 || g.Nodes[last].Op != "LpNormalization" {
		return "", refused
	}
	sums := g.Nodes[last].Inputs[0]
	if made := slices.IndexFunc(g.Nodes, func(n onnxgraph.Node) bool { return slices.Contains(n.Outputs, sums) }); made < 0 || g.Nodes[made].Op != "ReduceSum" {
		return "", refused
	}
	return sums, nil
}

// fitBeside fits the columns of the second encoder: on the axes that hold most of its vectors.
func (r *run) fitBeside(ctx context.Context) error {
	b := r.beside
	if b == nil {
		return nil
	}
	r.Report("encode with " + b.model.Name)
	dim, columns := b.teacher.Dim(), r.BesideColumns
	own := make([][]int32, r.rows.Rows())
	for i := range own {
		own[i] = r.rows.At(i)
	}
	sums, err := r.besideSums(ctx, own)
	if err != nil {
		return err
	}
	axes, kept, err := fit.Axes(unitSample(sums, dim), dim, columns)
	if err != nil {
		return err
	}
	turn := fit.Transposed(axes, dim)
	sums = fit.Product(sums, dim, turn, columns)
	for i, scale := range r.fit.Scales { // the student's own sums have it
		for k := range columns {
			sums[i*columns+k] *= scale
		}
	}
	for i, w := range r.fit.Weights {
		if w == 0 && len(b.held) < compared*columns {
			b.held = append(b.held, sums[i*columns:(i+1)*columns]...)
		}
	}
	pieces := make([][]int32, r.Rows)
	for i := range pieces {
		pieces[i] = []int32{int32(i)}
	}
	alone, err := r.besideSums(ctx, pieces)
	if err != nil {
		return err
	}
	r.Report("fit the table for " + b.model.Name)
	f := &fit.Problem{Sentences: r.rows, Weights: r.fit.Weights, Pieces: r.Rows, Threads: r.Threads}
	f.Features, f.Dim = fit.Padded(sums, columns)
	alone, _ = fit.Padded(fit.Product(alone, dim, turn, columns), columns)
	table, fitted, err := r.fitTable(ctx, f, alone, r.Power)
	if err != nil {
		return err
	}
	b.table, b.squares = fit.Cut(table, f.Dim, columns), f.Total[0]
	r.Second = &Second{Encoder: b.model.Name, Digest: b.model.Digest, Licence: b.model.Licence, Columns: columns, Share: r.BesideShare, Kept: kept, Fitted: fitted}
	return nil
}

// besideSums gives the second encoder's sums [sentences, dim] of what the pieces of sentences of the student's ids
// spell, without its special tokens' pieces.
func (r *run) besideSums(ctx context.Context, own [][]int32) ([]float32, error) {
	b := r.beside
	spellings := r.encoder.Vocabulary().Pieces()
	bos, eos := r.encoder.Vocabulary().Ends()
	for _, id := range slices.Concat(bos, eos) {
		spellings[id] = ""
	}
	const batch = 4096
	theirs := &Sentences{}
	for lo := 0; lo < len(own); lo += batch {
		var texts []string
		for _, ids := range own[lo:min(lo+batch, len(own))] {
			var text strings.Builder
			for _, id := range ids {
				text.WriteString(spellings[r.vocab.Teacher[id]])
			}
			texts = append(texts, strings.TrimSpace(strings.ReplaceAll(text.String(), "\u2581", " ")))
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
	return Vectors(ctx, b.teacher, theirs, func(done int) { r.Progress("sentences", done, theirs.Len()) })
}

// unitSample takes rows [n, dim] evenly, at most sampled, at length 1.
func unitSample(rows []float32, dim int) []float32 {
	const sampled = 50_000
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

// wide is the number of the features' columns, and of those of the second encoder.
func (r *run) wide() int {
	if r.beside == nil {
		return r.teacher.Dim()
	}
	return r.teacher.Dim() + r.BesideColumns
}

// join puts the columns of both encoders into one table [rows, dim of the features and columns], those of the second
// times a factor with which they have their share of the squares of what is fitted: an axis that is cut off then loses
// as much of a vector, whosever it is.
func (r *run) join() (table []float32, factor float32) {
	b, dim, columns := r.beside, r.teacher.Dim(), r.BesideColumns
	share := r.BesideShare / (1 - r.BesideShare)
	factor = float32(math.Sqrt(share * r.fit.Total[0] / max(b.squares, math.SmallestNonzeroFloat64)))
	for i := range r.Rows {
		table = append(table, r.table[i*dim:(i+1)*dim]...)
		for _, x := range b.table[i*columns : (i+1)*columns] {
			table = append(table, x*factor)
		}
	}
	return table, factor
}

// turnBeside chooses the axes of the student's vectors, those that hold most of the vectors that the student in dir
// gives of sentences of the text, and writes it again.
func (r *run) turnBeside(ctx context.Context, dir string, s *student.Student) error {
	written, err := model.Load(dir)
	if err != nil {
		return err
	}
	const sampled = 50_000
	var own [][]int32
	for i := 0; i < len(r.kept); i += (len(r.kept) + sampled - 1) / sampled {
		if r.text.Languages[r.kept[i]] != NoLanguage {
			own = append(own, r.rows.At(i))
		}
	}
	rows, err := r.vectorsOf(ctx, written, written.Output, own)
	if err != nil {
		return err
	}
	if s.Beside.Axes, r.Second.Turned, err = fit.Axes(rows, s.VectorDim(), r.head.Dim); err != nil {
		return err
	}
	return r.write(dir, s)
}
