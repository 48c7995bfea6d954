package eval

import (
	"context"
	"fmt"

	"bitextmine/encode/embedding"
)

// Encoder turns sentences into L2-normalised vectors; *encode.Encoder is one.
type Encoder interface {
	Name() string
	Dim() int
	Encode(ctx context.Context, language string, texts []string, dst []float32) error
}

// Role says which vectors are asked for, for sources that keep them in files.
type Role struct {
	Pair   LanguagePair
	Half   string // "train"; empty where a set has no halves
	Target bool
}

// VectorSource gives a side its vectors, row i being sentence i's.
type VectorSource interface {
	Name() string // of the encoder, for the report
	Vectors(ctx context.Context, side Side, role Role) (Vectors, error)
}

// Embedder encodes sides and remembers, until Forget, the vectors of every text of a language: English is encoded once
// for all pairs that share it. Texts are encoded as they stand in the test set, as the reference programs do, not as a run
// normalises them. It is used by one goroutine.
type Embedder struct {
	Encoder Encoder
	// Narrow rounds vectors to float16, the type of a run's embedding files.
	Narrow bool

	known map[string]*lexicon
}

// lexicon holds the vectors of a language's texts.
type lexicon struct {
	row  map[string]int32
	rows []float32 // [len(row), dim]
}

// Name is the encoder's.
func (e *Embedder) Name() string { return e.Encoder.Name() }

// Vectors encodes what of side is not yet known.
func (e *Embedder) Vectors(ctx context.Context, side Side, _ Role) (Vectors, error) {
	lex, err := e.learn(ctx, side)
	if err != nil {
		return Vectors{}, fmt.Errorf("encode %d %s sentences: %w", len(side.Texts), side.Language, err)
	}
	rows := make([]int32, len(side.Texts))
	for i, text := range side.Texts {
		rows[i] = lex.row[text]
	}
	m := gather(embedding.FromFloat32(lex.rows, e.Encoder.Dim()), rows)
	if e.Narrow {
		m = embedding.Narrow(m)
	}
	return Vectors{Side: side, Rows: m}, nil
}

// Forget drops a language's vectors.
func (e *Embedder) Forget(language string) { delete(e.known, language) }

func (e *Embedder) learn(ctx context.Context, side Side) (*lexicon, error) {
	if e.known == nil {
		e.known = make(map[string]*lexicon)
	}
	lex := e.known[side.Language]
	if lex == nil {
		lex = &lexicon{row: make(map[string]int32)}
		e.known[side.Language] = lex
	}
	var fresh []string
	for _, text := range side.Texts {
		if _, ok := lex.row[text]; !ok {
			lex.row[text] = int32(len(lex.row))
			fresh = append(fresh, text)
		}
	}
	if len(fresh) == 0 {
		return lex, nil
	}
	dim := e.Encoder.Dim()
	known := len(lex.rows)
	lex.rows = append(lex.rows, make([]float32, len(fresh)*dim)...)
	if err := e.Encoder.Encode(ctx, side.Language, fresh, lex.rows[known:]); err != nil {
		e.Forget(side.Language) // its rows are not to be trusted
		return nil, err
	}
	return lex, nil
}
