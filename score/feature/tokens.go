package feature

import (
	"fmt"
	"math"
	"slices"
)

// tokenScale is the length of every stored token vector. The inner product of two is their cosine times its square and
// fits in an int32.
const tokenScale = 1 << 14

// Tokens holds the tokens of one side's sentences and their vectors. If a token's vector does not depend on its
// sentence, Vectors is a table with one row for each token id. Otherwise it has one row for each token of each
// sentence.
type Tokens struct {
	Vectors TokenVectors
	Rows    []int32 // rows of Vectors: sentence i has Rows[Begins[i]:Ends[i]]
	Begins  []int
	Ends    []int
	IDs     []int32 // [rows of Vectors] the token id of each row, for document frequencies; nil means the row number
}

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

// of returns sentence i's rows.
func (t *Tokens) of(i int32) []int32 { return t.Rows[t.Begins[i]:t.Ends[i]] }

// check reports inconsistencies that would make reading t fail.
func (t *Tokens) check(sentences int) error {
	if len(t.Begins) != sentences || len(t.Ends) != sentences {
		return fmt.Errorf("tokens of %d and %d sentences, of %d", len(t.Begins), len(t.Ends), sentences)
	}
	for i, begin := range t.Begins {
		if end := t.Ends[i]; begin < 0 || begin > end || end > len(t.Rows) {
			return fmt.Errorf("sentence %d has tokens %d to %d of %d", i, begin, end, len(t.Rows))
		}
	}
	if t.IDs != nil && len(t.IDs) != t.Vectors.Len() {
		return fmt.Errorf("%d token ids for %d token vectors", len(t.IDs), t.Vectors.Len())
	}
	for _, row := range t.Rows {
		if row < 0 || int(row) >= t.Vectors.Len() {
			return fmt.Errorf("a token has vector %d of %d", row, t.Vectors.Len())
		}
	}
	return nil
}

// maxDocumentFrequency is the share of sentences above which a token is left out: articles, commas, full stops. Such
// tokens are more than half of the work and have almost no weight.
const maxDocumentFrequency = 0.05

// alwaysKept is the number of sentences up to which a token is never left out, even if they are a large share.
const alwaysKept = 5

// weighted holds the tokens that are not too frequent, with their IDF weights.
type weighted struct {
	*Tokens
	weights []float32 // [rows of Vectors]
}

// weigh removes the most frequent tokens and weights the others by inverse document frequency, log((n+1) / (df+1/2))
// over the n sentences of the side that have tokens, divided by the weight of a token that occurs in one sentence. So
// no weight is above 1 for any n.
func (t *Tokens) weigh() *weighted {
	id := func(row int32) int32 {
		if t.IDs == nil {
			return row
		}
		return t.IDs[row]
	}
	df, n := t.frequencies(id)
	w := &weighted{Tokens: t, weights: make([]float32, t.Vectors.Len())}
	maxFrequency := int32(max(alwaysKept, maxDocumentFrequency*float64(n)))
	frequent := func(row int32) bool { return df[id(row)] > maxFrequency }
	left := 0
	for i := range t.Ends {
		t.Ends[i] = t.Begins[i] + len(slices.DeleteFunc(t.of(int32(i)), frequent))
		left += t.Ends[i] - t.Begins[i]
	}
	rows := make([]int32, 0, left)
	for i := range t.Ends {
		begin := len(rows)
		rows = append(rows, t.of(int32(i))...)
		t.Begins[i], t.Ends[i] = begin, len(rows)
	}
	t.Rows = rows
	once := math.Log(float64(n+1) / 1.5)
	for row := range w.weights {
		w.weights[row] = float32(math.Log(float64(n+1)/(float64(max(1, df[id(int32(row))]))+0.5)) / once)
	}
	return w
}

// frequencies returns the number of sentences of each token id, and the number of sentences that have tokens.
func (t *Tokens) frequencies(id func(row int32) int32) (df []int32, n int) {
	size := int32(t.Vectors.Len())
	for _, one := range t.IDs {
		size = max(size, one+1)
	}
	df = make([]int32, size)
	last := make([]int32, size) // the last sentence that had the token, from 1
	for i := range t.Ends {
		rows := t.of(int32(i))
		if len(rows) > 0 {
			n++
		}
		for _, row := range rows {
			if at := id(row); last[at] != int32(i)+1 {
				last[at] = int32(i) + 1
				df[at]++
			}
		}
	}
	return df, n
}
