package distil

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"bitextmine/distil/fit"
	"bitextmine/distil/student"
	"bitextmine/distil/teacher"
	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/encode/onnxgraph"
	"bitextmine/internal/badinput"
)

// source is an encoder that a student learns from: the teacher, or the second encoder.
type source struct {
	model   *model.Model
	encoder *encode.Encoder  // computes the features of sentences
	cached  *teacher.Teacher // the encoder with the features that it has computed before
	tensor  string           // the features' tensor; empty: the pooled output
	head    *student.Head    // the teacher's graph after the features; nil for a second encoder
}

// encodeOptions are the options of every encoder that a distillation opens.
func (o Options) encodeOptions() encode.Options {
	return encode.Options{Threads: o.Threads, Library: o.Library}
}

// openTeacher finds the teacher's features and opens their cache.
func openTeacher(o Options, m *model.Model) (*source, error) {
	t, err := openFeatures(o, m)
	if err != nil {
		return nil, err
	}
	if o.Epochs > 0 { // refuse it before anything is read
		if _, err := t.head.Network(); err != nil {
			err = badinput.Errorf("--epochs: the head of %s %w: leave the flag out, or name a later tensor with --features", m.Name, err)
			return nil, errors.Join(err, t.encoder.Close())
		}
	}
	return withCache(t, cacheOf(o))
}

// withCache opens the cache of a source's features. It closes the encoder if that fails.
func withCache(s *source, dir string) (_ *source, err error) {
	if s.cached, err = teacher.New(packedEncoder{s.encoder}, dir, false); err != nil {
		return nil, errors.Join(err, s.encoder.Close())
	}
	return s, nil
}

// openFeatures opens the encoder of the teacher's features: the named tensor, or the first, from the inputs on, that
// has one row a sentence and that everything passes through; the rest of the graph is the head. A graph that ends with
// its tokens' vectors has no head.
func openFeatures(o Options, m *model.Model) (*source, error) {
	if m.Pooling != model.None {
		if o.Features != "" {
			return nil, badinput.Errorf("--features %s: the graph of %s ends with its tokens' vectors and has no head: leave the flag out", o.Features, m.Name)
		}
		e, err := encode.OpenInner(m, "", o.encodeOptions())
		if err != nil {
			return nil, err
		}
		return &source{model: m, encoder: e,
			head: &student.Head{From: "vectors", To: "vectors", Opset: 17, Dim: e.Dim()}}, nil
	}
	graph, err := graphOf(m)
	if err != nil {
		return nil, err
	}
	if graph.Functions {
		return nil, badinput.Errorf("the graph of %s defines operators of its own, which a student's graph cannot take over: export it with them inlined", m.Name)
	}
	waists := graph.Waists(m.Output)
	if o.Features != "" {
		if !slices.Contains(waists, o.Features) {
			return nil, badinput.Errorf("--features %s: not all that %s of %s is made of passes through it; these would do: %s",
				o.Features, m.Output, m.Name, strings.Join(waists, ", "))
		}
		waists = []string{o.Features}
	}
	for _, name := range waists {
		var e *encode.Encoder
		if e, err = encode.OpenInner(m, name, o.encodeOptions()); err != nil {
			continue
		}
		head, err := headOf(m, graph, name)
		if err != nil {
			return nil, errors.Join(err, e.Close())
		}
		return &source{model: m, encoder: e, tensor: name, head: head}, nil
	}
	return nil, err
}

// headOf cuts the head out of the teacher's graph. Its weights that are in files beside the graph are read into it, as
// a student is one file.
func headOf(m *model.Model, graph *onnxgraph.Graph, from string) (_ *student.Head, err error) {
	external := m.OpenExternal()
	defer func() { err = errors.Join(err, external.Close()) }()
	_, takes := graph.Between(from, m.Output)
	for i, w := range graph.Initializers {
		if !takes[w.Name] {
			continue
		}
		if graph.Initializers[i], err = w.Inside(external.Open); err != nil {
			return nil, badinput.Errorf("%s of encoder %s: %w", m.ONNX, m.Name, err)
		}
	}
	return student.FindHead(graph, from, m.Output, m.Dim)
}

// graphOf reads an encoder's graph.
func graphOf(m *model.Model) (*onnxgraph.Graph, error) {
	data, err := m.ReadFile(m.ONNX)
	if err != nil {
		return nil, err
	}
	graph, err := onnxgraph.Parse(data)
	if err != nil {
		return nil, badinput.Errorf("%s of encoder %s: %w", m.ONNX, m.Name, err)
	}
	return graph, nil
}

// packedEncoder is an encoder whose texts are packed ids. The teacher's cache thus keeps the vectors of sentences that
// have no text.
type packedEncoder struct{ *encode.Encoder }

// Encode gives the features of sentences that are packed ids.
func (f packedEncoder) Encode(ctx context.Context, _ string, texts []string, dst []float32) error {
	sequences := make([][]int32, len(texts))
	for i, text := range texts {
		sequences[i] = unpacked(text)
	}
	return f.EncodeIDs(ctx, sequences, dst)
}

// together is the number of sentences that are cut or encoded at once, between two writes of the cache.
const together = 4096

// features gives the features of sentences [s.Len(), dim]. report is called with the number of finished sentences.
func (s *source) features(ctx context.Context, sentences *Sentences, report func(done int)) ([]float32, error) {
	all := make([]float32, 0, sentences.Len()*s.cached.Dim())
	languages := make([]string, together)
	for lo := 0; lo < sentences.Len(); lo += together {
		var texts []string
		for i := lo; i < min(lo+together, sentences.Len()); i++ {
			texts = append(texts, packed(sentences.At(i)))
		}
		rows, err := s.cached.Encode(ctx, languages[:len(texts)], texts)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
		report(lo + len(texts))
	}
	return all, nil
}

// heldOut: one of so many sentences is left out of the fit and measures it.
const heldOut = 50

// Fitted describes a fitted table: its settings, and the shares of the features' squares that are left.
type Fitted struct {
	Power float64         `json:"power"` // a sum is divided by tokens^power
	Ridge float64         `json:"ridge"`
	Prior fit.Unexplained `json:"prior"` // left by the linear map of pieces alone
	Fit   fit.Unexplained `json:"fit"`
}

// table is a fitted table and the head that it was fitted for.
type table struct {
	Fitted
	dim     int       // number of columns of the features
	values  []float32 // [student's ids, dim], padded as the problem's features are until distil ends
	head    *student.Head
	descent fit.Unexplained // the shares that the descent leaves
	losses  [2]float64      // means of the descent's first and last steps
}

// left is the share of the squares of held-out features that the table does not explain.
func (t *table) left(o Options) float64 {
	if o.Epochs > 0 {
		return t.descent.HeldOut
	}
	return t.Fit.HeldOut
}

// features asks the teacher for the features of all sentences that its cache does not have, and sets up the least
// squares.
func features(ctx context.Context, o Options, t *source, p *pieces) (*fit.Problem, error) {
	o.Report("encode with the teacher")
	all, err := t.features(ctx, p.text, func(done int) { o.Progress("sentences", done, p.text.Len()) })
	if err != nil {
		return nil, err
	}
	dim := t.cached.Dim()
	for to, from := range p.kept { // kept rises, so that nothing is written over before it is read
		copy(all[to*dim:(to+1)*dim], all[from*dim:(from+1)*dim])
	}
	weights := make([]float32, len(p.kept))
	for i, from := range p.kept {
		if weights[i] = 1; i%heldOut == 0 && p.text.Languages[from] != NoLanguage {
			weights[i] = 0
		}
	}
	padded, wide := fit.Padded(all[:len(p.kept)*dim], dim)
	return &fit.Problem{Sentences: p.rows, Weights: weights, Features: padded, Dim: wide,
		Pieces: len(p.vocabulary.Teacher), Threads: o.Threads}, nil
}

// fitTeacher fits the table to the teacher's features.
func fitTeacher(ctx context.Context, o Options, t *source, p *pieces, problem *fit.Problem) (*table, error) {
	o.Report("encode each piece with the teacher")
	singles, lengths := p.singles()
	alone, err := t.features(ctx, singles, func(done int) { o.Progress("pieces", done, singles.Len()) })
	if err != nil {
		return nil, err
	}
	o.Report("fit the table")
	out := &table{dim: t.cached.Dim(), head: t.head}
	alone, _ = fit.Padded(alone, out.dim)
	out.values, out.Fitted, err = fitTable(ctx, o, problem, alone, lengths, p.first, 0, 0.5, 1)
	return out, err
}

// fitTable fits a table [pieces, f.Dim]: the linear map of single, the encoder's vectors of single pieces, with the
// best of the powers, then the pieces' own part. lengths are of the pieces, nil if single has sums already. The row of
// first carries the map's constant. f.Features are then the part that the table does not explain.
func fitTable(ctx context.Context, o Options, f *fit.Problem, single []float32, lengths []float64, first int32,
	powers ...float64) (values []float32, s Fitted, err error) {
	f.Total = f.Squares()
	best := math.Inf(1)
	var alone, linear []float32
	for _, power := range powers {
		scales, sums := fit.ScalesOf(f.Sentences, power), undivided(single, lengths, f.Dim, power)
		w, left, err := f.PriorMap(sums, scales)
		if err != nil {
			return nil, s, err
		}
		if left < best {
			best, alone, linear, s.Power, f.Scales = left, sums, w, power, scales
		}
	}
	values = fit.Product(alone, f.Dim, linear[:f.Dim*f.Dim], f.Dim)
	if first != unmapped {
		row := values[int(first)*f.Dim:][:f.Dim]
		for k, x := range linear[f.Dim*f.Dim:] {
			row[k] += x
		}
	}
	if err := f.Explain(ctx, values); err != nil {
		return nil, s, err
	}
	s.Prior = f.Left()
	if s.Ridge, err = f.ChooseRidge(ctx, o.Steps); err != nil {
		return nil, s, err
	}
	if err := f.Solve(ctx, values, s.Ridge, o.Steps, float32(o.Share)); err != nil {
		return nil, s, err
	}
	s.Fit = f.Left()
	return values, s, ctx.Err()
}

// undivided takes back what an encoder that divides sums by lengths^power did to rows of several pieces.
func undivided(rows []float32, lengths []float64, dim int, power float64) []float32 {
	out := slices.Clone(rows)
	for i, length := range lengths {
		factor := float32(math.Pow(length, power))
		for k := range dim {
			out[i*dim+k] *= factor
		}
	}
	return out
}
