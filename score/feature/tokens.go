package feature

import (
	"fmt"
	"math"
	"slices"
)

// tokenScale is the length of every stored token vector. The inner product of two is their cosine times its square and
// fits in an int32.
const tokenScale = 1 << 14

// TokenVectors are the directions [n, dim] of token vectors in fixed point, so that sums over them are exact.
type TokenVectors struct {
	values []int16 // [n, width]
	width  int     // dim, padded to a multiple of dotWidth
	dim    int
}

// NewTokenVectors returns an empty table of vectors of dim values.
func NewTokenVectors(dim int) TokenVectors {
	return TokenVectors{dim: dim, width: (dim + dotWidth - 1) / dotWidth * dotWidth}
}

// Len returns n.
func (v *TokenVectors) Len() int {
	if v.width == 0 {
		return 0
	}
	return len(v.values) / v.width
}

// Grow makes room for n more rows.
func (v *TokenVectors) Grow(n int) { v.values = slices.Grow(v.values, n*v.width) }

// Append adds rows [m, dim] of any length. A zero row stays zero, so all its cosines are 0.
func (v *TokenVectors) Append(rows []float32) error {
	if v.dim == 0 || len(rows)%v.dim != 0 {
		return fmt.Errorf("token vectors: %d values are not rows of %d", len(rows), v.dim)
	}
	for ; len(rows) > 0; rows = rows[v.dim:] {
		sum := 0.0
		for _, x := range rows[:v.dim] {
			sum += float64(x) * float64(x)
		}
		if math.IsNaN(sum) || math.IsInf(sum, 0) {
			return fmt.Errorf("token vectors: row %d is not finite", v.Len())
		}
		// Rounding may lengthen a row by up to half a step in each value.
		scale := (tokenScale - math.Sqrt(float64(v.dim))/2) / math.Sqrt(sum)
		for _, x := range rows[:v.dim] {
			value := int16(0)
			if sum > 0 {
				value = int16(math.RoundToEven(float64(x) * scale))
			}
			v.values = append(v.values, value)
		}
		v.values = append(v.values, make([]int16, v.width-v.dim)...)
	}
	return nil
}

func (v *TokenVectors) row(i int32) []int16 { return v.values[int(i)*v.width:][:v.width] }

// maxDocumentFrequency is the share of sentences above which a token is left out: articles, commas, full stops. Such
// tokens are more than half of the work and have almost no weight.
const maxDocumentFrequency = 0.05

// alwaysKept is the number of sentences up to which a token is never left out, even if they are a large share.
const alwaysKept = 5

// frequent is the weight of a token that is left out.
const frequent = -1

// weigh finds the most frequent tokens and weighs the others by inverse document frequency, log((n+1) / (df+1/2)) over
// the n sentences of the side that have tokens, divided by the weight of a token that occurs in one sentence. So no
// weight is above 1 for any n.
func (s *Side) weigh() {
	n := s.tokenised
	maxFrequency := int32(max(alwaysKept, maxDocumentFrequency*float64(n)))
	once := math.Log(float64(n+1) / 1.5)
	s.weights = make([]float32, len(s.frequencies))
	for id, df := range s.frequencies {
		if df > maxFrequency {
			s.weights[id] = frequent
		} else {
			s.weights[id] = float32(math.Log(float64(n+1)/(float64(max(1, df))+0.5)) / once)
		}
	}
}
