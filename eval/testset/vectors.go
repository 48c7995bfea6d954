package testset

import (
	"context"

	"bitextmine/encode/embedding"
)

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
