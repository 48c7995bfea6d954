package encode

import (
	"context"
	"fmt"
	"slices"
	"sync"

	ort "github.com/yalue/onnxruntime_go"

	"bitextmine/internal/badinput"
)

// TokenOutput names the tensor of a graph that holds the vectors of the tokens, float32 [batch, tokens, dim]. It need
// not be one of the graph's outputs. It is read in a session of its own, so it changes no sentence vector and is not
// part of Model.Digest.
type TokenOutput struct {
	Output string `yaml:"output"`
	Dim    int    `yaml:"dim,omitempty"`    // 0 means the dim of the sentence vectors
	Static bool   `yaml:"static,omitempty"` // a token's vector depends on its id alone, not on the sentence
}

// TokenEncoder computes the vectors of sentences' tokens.
type TokenEncoder struct {
	encoder  *Encoder
	openOnce func() error // opens the tokenizer when the first text arrives; with token files it is never opened
	static   bool
}

// OpenTokens opens the token-level output of a model. Its manifest must name that output (Model.Tokens).
func OpenTokens(model *Model, options Options) (*TokenEncoder, error) {
	if model.Tokens.Output == "" {
		return nil, badinput.Errorf("encoder %s has no token vectors: name the graph's tensor in tokens.output of its %s", model.Name, ManifestName)
	}
	tokens := *model
	tokens.Output, tokens.Pooling = model.Tokens.Output, tokenLevel
	if model.Tokens.Dim != 0 {
		tokens.Dim = model.Tokens.Dim
	}
	if err := options.Validate(); err != nil {
		return nil, err
	}
	encoder := &Encoder{model: &tokens, options: options.withDefaults()}
	if err := encoder.openGraph(); err != nil {
		return nil, fmt.Errorf("token vectors: %w", err)
	}
	return &TokenEncoder{encoder, sync.OnceValue(encoder.openTokenizer), model.Tokens.Static}, nil
}

// Close frees what OpenTokens opened.
func (t *TokenEncoder) Close() error { return t.encoder.Close() }

// Dim is the number of values in a token's vector.
func (t *TokenEncoder) Dim() int { return t.encoder.Dim() }

// Static reports whether Vectors may be used. If not, only Contextual gives vectors.
func (t *TokenEncoder) Static() bool { return t.static }

// TokenIDs are the token ids of sentences in one slice: sentence i has IDs[Ends[i-1]:Ends[i]].
type TokenIDs struct {
	IDs  []int32
	Ends []int
}

// IDs tokenises normalised sentences of one language. Special tokens and the language's prefix are left out, so a
// sentence may have no token.
func (t *TokenEncoder) IDs(ctx context.Context, language string, texts []string) (TokenIDs, error) {
	w, prefix, err := t.tokenize(ctx, language, texts)
	if err != nil {
		return TokenIDs{}, err
	}
	var ids TokenIDs
	for i := range texts {
		ids.IDs = append(ids.IDs, t.encoder.textIDs(w.tokens(i), prefix)...)
		ids.Ends = append(ids.Ends, len(ids.IDs))
	}
	return ids, nil
}

func (t *TokenEncoder) tokenize(ctx context.Context, language string, texts []string) (*window, Prefix, error) {
	if err := t.openOnce(); err != nil {
		return nil, Prefix{}, fmt.Errorf("token vectors: %w", err)
	}
	prefix, err := t.encoder.model.prefix(language)
	if err != nil {
		return nil, prefix, err
	}
	w := &window{texts: slices.Clone(texts)}
	return w, prefix, t.encoder.tokenizeWindow(ctx, prefix, w)
}

// textIDs returns ids without what tokenize put before and after a text's own ids.
func (e *Encoder) textIDs(ids []int32, prefix Prefix) []int32 {
	n := e.ids
	return ids[len(n.bos)+len(prefix.Tokens) : len(ids)-len(n.eos)]
}

// Vectors returns the vectors [len(ids), Dim] of a static output.
func (t *TokenEncoder) Vectors(ctx context.Context, ids []int32) ([]float32, error) {
	e := t.encoder
	dim, length := e.model.Dim, min(e.model.MaxTokens, e.options.TokenBudget/minRows)
	vectors := make([]float32, len(ids)*dim)
	err := e.parallel(ctx, (len(ids)+length-1)/length, func(r *runner, i int) error {
		part := ids[i*length : min((i+1)*length, len(ids))]
		out, err := r.tokens([][]int32{part})
		if err != nil {
			return fmt.Errorf("vectors of %d tokens with %s: %w", len(part), e.model.Name, err)
		}
		copy(vectors[i*length*dim:], out)
		return nil
	})
	return vectors, err
}

// Contextual calls emit with the ids and vectors [len(ids), Dim] of each sentence's own tokens, one call at a time, for
// the sentences i in any order. emit must not retain the slices.
func (t *TokenEncoder) Contextual(ctx context.Context, language string, texts []string, emit func(i int, ids []int32, vectors []float32) error) error {
	w, prefix, err := t.tokenize(ctx, language, texts)
	if err != nil {
		return err
	}
	e, dim := t.encoder, t.encoder.model.Dim
	all := batches(w, e.options.TokenBudget, e.graph.single)
	var mu sync.Mutex
	return e.parallel(ctx, len(all), func(r *runner, n int) error {
		b := all[n]
		sequences := make([][]int32, b.size)
		for i, row := range b.rows[:b.size] {
			sequences[i] = w.tokens(int(row))
		}
		out, err := r.tokens(sequences)
		if err != nil {
			return fmt.Errorf("token vectors of %d sentences with %s: %w", b.size, e.model.Name, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for i, ids := range sequences {
			own := e.textIDs(ids, prefix)
			before := len(e.ids.bos) + len(prefix.Tokens)
			vectors := out[(i*b.length+before)*dim:][:len(own)*dim]
			if err := emit(int(b.rows[i]), own, vectors); err != nil {
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
	r.ids = r.ids[:0]
	for i := range n {
		for _, id := range sequences[min(i, len(sequences)-1)] {
			r.ids = append(r.ids, int64(id))
		}
	}
	r.out = resized(r.out, n*length*r.model.Dim)
	if err := r.call(ort.NewShape(int64(n), int64(length)), ort.NewShape(int64(n), int64(length), int64(r.model.Dim))); err != nil {
		return nil, err
	}
	return r.out[:len(sequences)*length*r.model.Dim], nil
}

// tokenLevel is the pooling of a token-level output, which is not pooled.
const tokenLevel Pooling = "tokens"
