package eval

import (
	"cmp"
	"context"
	"math"
	"slices"

	"bitextmine/corpus"
	"bitextmine/encode/embedding"
	"bitextmine/eval/testset"
	"bitextmine/index"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
)

// Correlation is Pearson's r and Spearman's rho in percent over n pairs.
type Correlation struct {
	Pearson, Spearman float64
	Pairs             int
}

// CorrelationOf is the correlation of two lists of figures, which have the same length.
func CorrelationOf(gold, figures []float64) Correlation {
	return Correlation{
		Pearson:  100 * pearson(gold, figures),
		Spearman: 100 * pearson(ranks(gold), ranks(figures)),
		Pairs:    len(gold),
	}
}

// WeightedMean averages correlations weighted by their numbers of pairs. This is SemEval's figure for a year.
func WeightedMean(sets []Correlation) Correlation {
	var mean Correlation
	for _, c := range sets {
		mean.Pearson += c.Pearson * float64(c.Pairs)
		mean.Spearman += c.Spearman * float64(c.Pairs)
		mean.Pairs += c.Pairs
	}
	if mean.Pairs > 0 {
		mean.Pearson /= float64(mean.Pairs)
		mean.Spearman /= float64(mean.Pairs)
	}
	return mean
}

// pearson returns the correlation of x and y, or 0 if one of them is constant.
func pearson(x, y []float64) float64 {
	var mx, my float64
	for i := range x {
		mx += x[i]
		my += y[i]
	}
	n := float64(len(x))
	mx, my = mx/n, my/n
	var xy, xx, yy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xy += dx * dy
		xx += dx * dx
		yy += dy * dy
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}

// ranks returns the rank of each value, from 1. Equal values get the mean of their ranks.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	out := make([]float64, len(values))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && values[order[j]] == values[order[i]] {
			j++
		}
		for _, at := range order[i:j] {
			out[at] = float64(i+1+j) / 2
		}
		i = j
	}
	return out
}

// Pool is the distinct sentences of two languages with their neighbourhoods: what a margin is measured against.
// Sentences are the same when their normalised texts are, as in a run, and are encoded normalised.
type Pool struct {
	Lists          *mine.Lists
	source, target poolSide
}

type poolSide struct {
	arranged
	texts []string // text by row
	rowOf map[string]int32
}

// NewPool encodes the texts of both sides and searches them. A text that holds no sentence once normalised is left out.
func NewPool(ctx context.Context, provider testset.VectorSource, searcher index.Searcher, source, target testset.Side,
	k int, margin mine.Margin) (*Pool, error) {
	var p Pool
	var err error
	role := testset.Role{Pair: testset.LanguagePair{Source: source.Language, Target: target.Language}}
	if p.source, err = newPoolSide(ctx, provider, source, role); err != nil {
		return nil, err
	}
	role.Target = true
	if p.target, err = newPoolSide(ctx, provider, target, role); err != nil {
		return nil, err
	}
	p.Lists, err = neighbours(ctx, searcher, p.source.rows, p.target.rows, k, margin)
	return &p, err
}

func newPoolSide(ctx context.Context, provider testset.VectorSource, side testset.Side,
	role testset.Role) (poolSide, error) {
	distinct := testset.Side{Language: side.Language}
	seen := make(map[string]bool, len(side.Texts))
	for _, text := range side.Texts {
		if normal := corpus.Normalise(text); normal != "" && !seen[normal] {
			seen[normal] = true
			distinct.Texts = append(distinct.Texts, normal)
		}
	}
	if len(distinct.Texts) == 0 {
		return poolSide{}, badinput.Errorf("no %s text holds a sentence: check the files and their columns",
			side.Language)
	}
	v, err := provider.Vectors(ctx, distinct, role)
	if err != nil {
		return poolSide{}, err
	}
	out := poolSide{arranged: arrange(v, true), rowOf: make(map[string]int32, len(distinct.Texts))}
	for row, s := range out.sentence {
		out.texts = append(out.texts, distinct.Texts[s])
		out.rowOf[distinct.Texts[s]] = int32(row)
	}
	return out, nil
}

// Score scores a pair; ok is false when one of its sentences is not in the pool.
func (p *Pool) Score(source, target string) (_ mine.Candidate, ok bool) {
	x, okX := p.source.rowOf[corpus.Normalise(source)]
	y, okY := p.target.rowOf[corpus.Normalise(target)]
	if !okX || !okY {
		return mine.Candidate{}, false
	}
	return p.Lists.Candidate(x, y, rowCosine(p.source.rows, x, p.target.rows, y)), true
}

// rowCosine is the cosine of a row of a and a row of b, as a search computes it.
func rowCosine(a embedding.Matrix, i int32, b embedding.Matrix, j int32) float32 {
	x, y := make([]float32, a.Dim), make([]float32, b.Dim)
	a.Float32(x, int(i), int(i)+1)
	b.Float32(y, int(j), int(j)+1)
	return embedding.Dot(x, y)
}
