package feature

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"bitextmine/internal/parallel"
)

// minCovered is the smallest best cosine of a covered token.
const minCovered = 0.4

// coverage measures how well two sentences' tokens cover each other. Its buffers are reused for each pair.
type coverage struct {
	ahead        ahead
	a, b         loaded // the source, the target
	block        Values // values of as many pairs as a thread takes at a time
	means        [][means]float32
	padded       []int32 // the target's rows, padded to a multiple of dotBlock
	dots         []int32 // [source tokens, made even, padded target tokens]
	source, best []int32 // best dot product of each source and each target token
	matched      []bool  // target tokens
	names        names
}

func newCoverage() *coverage {
	return &coverage{block: make(Values, candidateBlock*Count), means: make([][means]float32, candidateBlock)}
}

// covered is the token coverage of one side.
type covered struct {
	mean, cubes, mutual float32 // weighted means of the best cosines, of their cubes and of those of mutual matches
	uncovered           float32 // share of the weight without a best cosine of minCovered
	missing             float32 // mean of the three largest weighted losses
}

// fetch fetches the sentences of n pairs that are loaded next.
func (m *coverage) fetch(d *describer, n int, pair func(i int) (source, target int32)) {
	m.ahead.fetch(d.source, n, func(i int) int32 { source, _ := pair(i); return source })
	m.ahead.fetch(d.target, n, func(i int) int32 { _, target := pair(i); return target })
}

// load reads both sentences of a pair.
func (m *coverage) load(d *describer, source, target int32) error {
	return errors.Join(m.a.load(d.source, source), m.b.load(d.target, target))
}

// measure measures the tokens.
func (m *coverage) measure(p *pair) {
	rows, columns := m.a.tokens, m.b.tokens
	if len(rows) == 0 || len(columns) == 0 {
		return
	}
	m.padded = append(m.padded[:0], columns...)
	for len(m.padded)%dotBlock != 0 {
		m.padded = append(m.padded, columns[0])
	}
	wide := len(m.padded)
	m.best = slices.Grow(m.best[:0], wide)[:wide]
	m.dots = slices.Grow(m.dots[:0], (len(rows)+1)*wide)[:(len(rows)+1)*wide]
	best := m.best
	for j := range best {
		best[j] = math.MinInt32
	}
	m.source = m.source[:0]
	for i := 0; i < len(rows); i += 2 {
		next := min(i+1, len(rows)-1) // the last of an odd number is computed twice
		one, two := m.dots[i*wide:][:len(best)], m.dots[(i+1)*wide:][:len(best)]
		dotRows(one, two, m.a.table.row(rows[i]), m.a.table.row(rows[next]), m.b.table.values, m.padded)
		top, other := int32(math.MinInt32), int32(math.MinInt32)
		for j := range best {
			x, y := one[j], two[j]
			top, other = max(top, x), max(other, y)
			best[j] = max(best[j], x, y)
		}
		m.source = append(m.source, top, other)
	}
	m.source = m.source[:len(rows)]
	p.tokens[source] = coverageOf(m.source, m.a.weights)
	p.tokens[target] = coverageOf(best[:len(columns)], m.b.weights)
	p.tokens[source].mutual, p.tokens[target].mutual = m.match(wide)
	p.shorter = float32(math.Log(float64(1 + min(len(rows), len(columns)))))
}

// coverageOf returns, for one side's tokens, the weighted means of their best cosines and of the cubes of these, the
// share of the weight that is not covered, and the mean of the three largest weighted losses. With both means a scorer,
// which is linear, can weigh a step from 0.3 to 0.5, which chance makes, otherwise than one from 0.8 to 1.
func coverageOf(best []int32, weights []float32) (c covered) {
	var sum, cubed, low, all float32
	var worst [3]float32
	for i, w := range weights {
		cosine := float32(best[i]) / (tokenScale * tokenScale)
		all += w
		sum += w * cosine
		positive := max(0, cosine)
		cubed += w * positive * positive * positive
		if cosine < minCovered {
			low += w
		}
		loss := w * (1 - cosine)
		switch {
		case loss > worst[0]:
			worst[0], worst[1], worst[2] = loss, worst[0], worst[1]
		case loss > worst[1]:
			worst[1], worst[2] = loss, worst[1]
		case loss > worst[2]:
			worst[2] = loss
		}
	}
	if all == 0 {
		return c
	}
	c.mean, c.cubes, c.uncovered = sum/all, cubed/all, low/all
	c.missing = (worst[0] + worst[1] + worst[2]) / float32(min(3, len(weights)))
	return c
}

// match returns the weighted means of the cosines of mutual matches, tokens that are each other's best ones, over one
// side's tokens and over the other's; other tokens count as 0. Of tokens with equal products the first counts. measure
// has set dots, whose rows are wide, source and best.
func (m *coverage) match(wide int) (source, target float32) {
	columns := len(m.b.tokens)
	m.matched = append(m.matched[:0], make([]bool, columns)...)
	var all, other float32
	for _, w := range m.b.weights {
		other += w
	}
	for i, top := range m.source {
		all += m.a.weights[i]
		j := slices.Index(m.dots[i*wide:][:columns], top)
		if m.best[j] != top || m.matched[j] {
			continue
		}
		m.matched[j] = true
		cosine := float32(top) / (tokenScale * tokenScale)
		source += m.a.weights[i] * cosine
		target += m.b.weights[j] * cosine
	}
	if all == 0 || other == 0 {
		return 0, 0
	}
	return source / all, target / other
}

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
	first, n := v.Len(), len(rows)/v.dim
	v.values = slices.Grow(v.values, n*v.width)[:(first+n)*v.width]
	var mu sync.Mutex
	wrong := n // the first row that is not finite
	parallel.Ranges(n, v.width, func(from, to int) {
		for i := from; i < to; i++ {
			if !v.set(first+i, rows[i*v.dim:][:v.dim]) {
				mu.Lock()
				wrong = min(wrong, i)
				mu.Unlock()
			}
		}
	})
	if wrong < n {
		return fmt.Errorf("token vectors: row %d is not finite", first+wrong)
	}
	return nil
}

// set stores a row, and reports whether it is finite.
func (v *TokenVectors) set(i int, values []float32) bool {
	row, sum := v.row(int32(i)), 0.0
	for _, x := range values {
		sum += float64(x) * float64(x)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return false
	}
	if sum == 0 {
		clear(row)
		return true
	}
	// Rounding may lengthen a row by up to half a step in each value.
	scale := (tokenScale - math.Sqrt(float64(v.dim))/2) / math.Sqrt(sum)
	for k, x := range values {
		row[k] = int16(math.RoundToEven(float64(x) * scale))
	}
	clear(row[v.dim:])
	return true
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
