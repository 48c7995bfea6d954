package encode

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	ort "github.com/yalue/onnxruntime_go"

	"bitextmine/encode/embedding"
	"bitextmine/encode/model"
	"bitextmine/encode/session"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/badinput"
)

// TokenEncoder computes the vectors of sentences' tokens.
type TokenEncoder struct {
	graph *graph
	// opened when the first text arrives, as it is slow to open; with token files it never is
	vocabulary func() (*tokenizer.Vocabulary, error)
	opened     atomic.Pointer[tokenizer.Vocabulary]
	static     bool
}

// OpenTokens opens the token-level output of a model. Its manifest must name that output (Model.Tokens).
func OpenTokens(m *model.Model, options Options) (*TokenEncoder, error) {
	return OpenLayer(m, m.Tokens.Output, options)
}

// Layers lists the tensors of a model that OpenLayer can open, the nearest to the ids first; the last is or gives its
// token-level output, which the manifest must name.
func Layers(m *model.Model) ([]string, error) {
	if err := noTokens(m); err != nil {
		return nil, err
	}
	layers, err := session.Layers(m, m.Tokens.Output)
	if err == nil && layers == nil {
		layers = []string{m.Tokens.Output}
	}
	return layers, err
}

func noTokens(m *model.Model) error {
	if m.Tokens.Output != "" {
		return nil
	}
	return badinput.Errorf("encoder %s has no token vectors: name the graph's tensor in tokens.output of its %s",
		m.Name, model.FileName)
}

// OpenLayer opens one of a model's Layers as if it were its token-level output.
func OpenLayer(m *model.Model, layer string, options Options) (*TokenEncoder, error) {
	if err := noTokens(m); err != nil {
		return nil, err
	}
	tokens := *m
	tokens.Output, tokens.Pooling, tokens.Centre = layer, session.TokenLevel, model.Centre{}
	if m.Tokens.Dim != 0 {
		tokens.Dim = m.Tokens.Dim
	}
	if err := options.Validate(); err != nil {
		return nil, err
	}
	graph, err := openGraph(&tokens, options.onCPU().withDefaults(), layer != m.Tokens.Output)
	if err != nil {
		return nil, fmt.Errorf("token vectors: %w", err)
	}
	t := &TokenEncoder{graph: graph, static: m.Tokens.Static}
	t.vocabulary = sync.OnceValues(func() (*tokenizer.Vocabulary, error) {
		v, err := tokenizer.Open(&tokens)
		if err != nil {
			return nil, fmt.Errorf("token vectors: %w", err)
		}
		t.opened.Store(v)
		return v, nil
	})
	return t, nil
}

// Close frees what OpenTokens opened.
func (t *TokenEncoder) Close() error {
	if v := t.opened.Load(); v != nil {
		v.Close()
	}
	return t.graph.close()
}

// Dim is the number of values in a token's vector.
func (t *TokenEncoder) Dim() int { return t.graph.model.Dim }

// Static reports whether Vectors may be used. If not, only Contextual gives vectors.
func (t *TokenEncoder) Static() bool { return t.static }

// IDs tokenises normalised sentences of one language. Special tokens and the language's prefix are left out, so a
// sentence may have no token.
func (t *TokenEncoder) IDs(ctx context.Context, language string, texts []string) (tokenizer.Sequences, error) {
	w, own, err := t.tokenize(ctx, language, texts)
	if err != nil {
		return tokenizer.Sequences{}, err
	}
	var all tokenizer.Sequences
	for i := range texts {
		ids, _ := own(w.tokens(i))
		all.Add(ids)
	}
	return all, nil
}

// tokenize returns the texts' sequences, and a function that cuts what is a text's own out of one, as Vocabulary.Own
// does.
func (t *TokenEncoder) tokenize(ctx context.Context, language string,
	texts []string) (w *window, own tokenizer.Own, err error) {
	v, err := t.vocabulary()
	if err != nil {
		return nil, nil, err
	}
	prefix, err := t.graph.model.Prefix(language)
	if err != nil {
		return nil, nil, err
	}
	if own, err = v.Own(prefix); err != nil {
		return nil, nil, err
	}
	w = &window{texts: slices.Clone(texts)}
	return w, own, w.tokenize(ctx, t.graph, v, prefix)
}

// Vectors returns the vectors [len(ids), Dim] of a static output.
func (t *TokenEncoder) Vectors(ctx context.Context, ids []int32) ([]float32, error) {
	g := t.graph
	dim, length := g.model.Dim, min(g.model.MaxTokens, int(g.budget.Load())/minRows)
	vectors := make([]float32, len(ids)*dim)
	err := g.parallel(ctx, (len(ids)+length-1)/length, func(r *runner, i int) error {
		part := ids[i*length : min((i+1)*length, len(ids))]
		out, err := r.tokens([][]int32{part})
		if err != nil {
			return fmt.Errorf("vectors of %d tokens with %s: %w", len(part), g.model.Name, err)
		}
		copy(vectors[i*length*dim:], out)
		return nil
	})
	return vectors, err
}

// Contextual calls emit with the ids and vectors [len(ids), Dim] of each sentence's own tokens, one call at a time, for
// the sentences i in any order. emit must not retain the slices.
func (t *TokenEncoder) Contextual(ctx context.Context, language string, texts []string,
	emit func(i int, ids []int32, vectors []float32) error) error {
	w, own, err := t.tokenize(ctx, language, texts)
	if err != nil {
		return err
	}
	return t.each(ctx, w, func(i int, vectors []float32) error {
		ids, before := own(w.tokens(i))
		return emit(i, ids, vectors[before*t.Dim():][:len(ids)*t.Dim()])
	})
}

// Words calls emit with the vectors [len(sentences[i]), Dim] of each sentence's words, one call at a time, for the
// sentences i in any order. Each has at least one word. The words are tokenised one by one; a word's vector is the sum
// of its tokens' vectors of length 1. A sentence that is longer than the encoder reads is encoded in parts, cut between
// words; of a word that is, the beginning counts. emit must not retain the slice.
func (t *TokenEncoder) Words(ctx context.Context, language string, sentences [][]string,
	emit func(i int, vectors []float32) error) error {
	own, err := t.spell(ctx, sentences)
	if err != nil {
		return err
	}
	v, err := t.vocabulary()
	if err != nil {
		return err
	}
	before, after, err := v.Frame(language)
	if err != nil {
		return err
	}
	parts := partsOf(sentences, own, t.graph.model.MaxTokens-len(before)-len(after))
	w := &window{texts: make([]string, len(parts)),
		chunks: make([]tokenizer.Sequences, (len(parts)+chunk-1)/chunk)}
	left := make([]int, len(sentences)) // parts of a sentence that are yet to come
	for i, part := range parts {
		w.chunks[i/chunk].Add(slices.Concat(before, part.ids, after))
		left[part.sentence]++
	}
	dim, begun := t.Dim(), map[int][]float32{}
	return t.each(ctx, w, func(i int, vectors []float32) error {
		part, at := parts[i], len(before)
		sums, ok := begun[part.sentence]
		if !ok {
			sums = make([]float32, len(sentences[part.sentence])*dim)
		}
		for k := part.from; k < part.to; k++ {
			for range min(len(own(sentences[part.sentence][k])), len(before)+len(part.ids)-at) {
				addUnit(sums[k*dim:][:dim], vectors[at*dim:][:dim])
				at++
			}
		}
		if left[part.sentence]--; left[part.sentence] > 0 {
			begun[part.sentence] = sums
			return nil
		}
		delete(begun, part.sentence)
		return emit(part.sentence, sums)
	})
}

// spell returns a function that gives the tokens of a word of the sentences.
func (t *TokenEncoder) spell(ctx context.Context, sentences [][]string) (own func(word string) []int32, err error) {
	v, err := t.vocabulary()
	if err != nil {
		return nil, err
	}
	number, distinct := map[string]int{}, []string{}
	for _, word := range slices.Concat(sentences...) {
		if _, known := number[word]; !known {
			number[word], distinct = len(distinct), append(distinct, word)
		}
	}
	cut, err := v.Own(model.Prefix{})
	if err != nil {
		return nil, err
	}
	spelt := &window{texts: distinct}
	return func(word string) []int32 {
		ids, _ := cut(spelt.tokens(number[word]))
		return ids
	}, spelt.tokenize(ctx, t.graph, v, model.Prefix{})
}

// stretch is the words of a sentence, from one to before another, that are encoded together.
type stretch struct {
	sentence, from, to int
	ids                []int32
}

// partsOf cuts sentences into parts of at most so many tokens.
func partsOf(sentences [][]string, own func(word string) []int32, most int) (parts []stretch) {
	for i, words := range sentences {
		now := stretch{sentence: i}
		for k, word := range words {
			ids := own(word)
			ids = ids[:min(len(ids), most)]
			if len(now.ids)+len(ids) > most {
				parts = append(parts, now)
				now = stretch{sentence: i, from: k}
			}
			now.to, now.ids = k+1, append(now.ids, ids...)
		}
		parts = append(parts, now)
	}
	return parts
}

// addUnit adds a vector, divided by its length.
func addUnit(to, vector []float32) {
	if square := embedding.Dot(vector, vector); square > 0 {
		scale := float32(1 / math.Sqrt(float64(square)))
		for d, x := range vector {
			to[d] += x * scale
		}
	}
}

// each calls emit with the vectors of each sequence's tokens, one call at a time.
func (t *TokenEncoder) each(ctx context.Context, w *window, emit func(i int, vectors []float32) error) error {
	g, dim := t.graph, t.Dim()
	all := batches(w, int(g.budget.Load()), 0, g.session.Single)
	var mu sync.Mutex
	return g.parallel(ctx, len(all), func(r *runner, n int) error {
		b := all[n]
		sequences := make([][]int32, b.size)
		for i, row := range b.rows[:b.size] {
			sequences[i] = w.tokens(int(row))
		}
		out, err := r.tokens(sequences)
		if err != nil {
			return fmt.Errorf("token vectors of %d sentences with %s: %w", b.size, g.model.Name, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for i := range sequences {
			if err := emit(int(b.rows[i]), out[i*b.length*dim:][:b.length*dim]); err != nil {
				return err
			}
		}
		return nil
	})
}

// tokens runs the graph on sequences of equal length and returns [len(sequences), length, Dim], valid until the
// runner's next call. It repeats the last sequence to give the graph at least minRows.
func (r *runner) tokens(sequences [][]int32) ([]float32, error) {
	n, length := max(minRows, len(sequences)), len(sequences[0])
	r.out = resized(r.out, n*length*r.model.Dim)
	if r.session.Rows {
		return r.rows(slices.Concat(sequences...))
	}
	r.ids = r.ids[:0]
	for i := range n {
		for _, id := range sequences[min(i, len(sequences)-1)] {
			r.ids = append(r.ids, int64(id))
		}
	}
	if err := r.call(ort.NewShape(int64(n), int64(length)),
		ort.NewShape(int64(n), int64(length), int64(r.model.Dim)), len(sequences)); err != nil {
		return nil, err
	}
	return r.out[:len(sequences)*length*r.model.Dim], nil
}

// rows returns the table's rows of ids, which r.out must have room for.
func (r *runner) rows(ids []int32) ([]float32, error) {
	dim := r.model.Dim
	for i, id := range ids {
		if id < 0 || int(id) >= r.session.Table.Rows() {
			return nil, errNoToken
		}
		r.session.Table.Row(id, r.out[i*dim:][:dim])
	}
	return r.out[:len(ids)*dim], nil
}
