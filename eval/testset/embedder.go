package testset

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"bitextmine/encode/embedding"
	"bitextmine/internal/badinput"
)

// Encoder turns sentences into L2-normalised vectors. *encode.Encoder implements it.
type Encoder interface {
	Name() string
	Dim() int
	Encode(ctx context.Context, language string, texts []string, dst []float32) error
}

// Embedder encodes sides. It caches the vectors of every text of a language until Forget, so English is encoded once
// for all pairs that share it. Texts are encoded as they are in the test set, as the reference programs do, and not
// normalised as in a run. It may be used by one goroutine.
type Embedder struct {
	Encoder Encoder
	// Narrow rounds vectors to float16, the type in a run's embedding files.
	Narrow bool
	// MaxMemory is the number of bytes that vectors may take; 0: any number.
	MaxMemory int64

	known map[string]*lexicon
	asked map[string]struct{} // languages since the last Asked
}

// lexicon holds the vectors of the texts of one language.
type lexicon struct {
	row  map[string]int32
	rows []float32 // [len(row), dim]
}

// Name is the name of the encoder.
func (e *Embedder) Name() string { return e.Encoder.Name() }

// Vectors encodes the texts of side that are not cached.
func (e *Embedder) Vectors(ctx context.Context, side Side, _ Role) (EncodedSide, error) {
	if e.asked == nil {
		e.asked = map[string]struct{}{}
	}
	e.asked[side.Language] = struct{}{}
	lex, err := e.learn(ctx, side)
	if err != nil {
		return EncodedSide{}, fmt.Errorf("encode %d %s sentences: %w", len(side.Texts), side.Language, err)
	}
	rows := make([]int32, len(side.Texts))
	for i, text := range side.Texts {
		rows[i] = lex.row[text]
	}
	m := Gather(embedding.FromFloat32(lex.rows, e.Encoder.Dim()), rows)
	if e.Narrow {
		m = embedding.Narrow(m)
	}
	return EncodedSide{Side: side, Rows: m}, nil
}

// Asked returns the languages of which vectors were asked for since it was called last, sorted.
func (e *Embedder) Asked() []string {
	asked := slices.Sorted(maps.Keys(e.asked))
	clear(e.asked)
	return asked
}

// Forget removes the cached vectors of a language.
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
	if err := e.fits(len(fresh), len(side.Texts)); err != nil {
		e.Forget(side.Language)
		return nil, err
	}
	known := len(lex.rows)
	lex.rows = append(lex.rows, make([]float32, len(fresh)*dim)...)
	if err := e.Encoder.Encode(ctx, side.Language, fresh, lex.rows[known:]); err != nil {
		e.Forget(side.Language) // its rows may be incomplete
		return nil, err
	}
	return lex, nil
}

// fits checks that the vectors of a side's new texts, and those of both sides of a set line by line, fit into memory.
func (e *Embedder) fits(fresh, lines int) error {
	values := int64(fresh+2*lines) * int64(e.Encoder.Dim())
	for _, lex := range e.known {
		values += int64(len(lex.rows))
	}
	return fits(values, e.MaxMemory)
}

// fits refuses so many float32 values if they take more bytes than are allowed; 0: any number is.
func fits(values, allowed int64) error {
	if allowed == 0 || 4*values <= allowed {
		return nil
	}
	return badinput.Errorf("the vectors take %d MiB where %d are allowed: raise --max-memory, or evaluate a part of the set",
		4*values>>20, allowed>>20)
}

// EncodedSide is a side with its L2-normalised vectors; row i is the vector of sentence i.
type EncodedSide struct {
	Side
	Rows embedding.Matrix // [n, dim]
}

// Role says which vectors are wanted, for a Source that reads them from files.
type Role struct {
	Pair   LanguagePair
	Half   string // "train"; empty if the set has no halves
	File   string // path of the text
	Target bool
}

// VectorSource returns the vectors of a side; row i is the vector of sentence i.
type VectorSource interface {
	Name() string // name of the encoder, for the report
	Vectors(ctx context.Context, side Side, role Role) (EncodedSide, error)
}

// Gather copies the given rows of m, in the given order.
func Gather(m embedding.Matrix, rows []int32) embedding.Matrix {
	out := embedding.Matrix{N: len(rows), Dim: m.Dim}
	if m.F16 != nil {
		out.F16 = make([]uint16, 0, len(rows)*m.Dim)
		for _, r := range rows {
			out.F16 = append(out.F16, m.F16[int(r)*m.Dim:][:m.Dim]...)
		}
		return out
	}
	out.F32 = make([]float32, 0, len(rows)*m.Dim)
	for _, r := range rows {
		out.F32 = append(out.F32, m.F32[int(r)*m.Dim:][:m.Dim]...)
	}
	return out
}
