package distil

import (
	"context"
	"errors"
	"slices"
	"strings"

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
		head, err := student.FindHead(graph, name, m.Output, m.Dim)
		if err != nil {
			return nil, errors.Join(err, e.Close())
		}
		return &source{model: m, encoder: e, tensor: name, head: head}, nil
	}
	return nil, err
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
