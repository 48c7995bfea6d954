// Package contrastive has contrastive learning with hard labels, without and with hard negatives.
package contrastive

import (
	"context"
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/internal/badinput"
	"bitextmine/train/data"
	"bitextmine/train/objective"
	"bitextmine/train/weights"
)

// Ranking is cross-entropy with hard labels over the batch's cosines: a source's own target among all targets, and the
// other way round. With a margin it is additive-margin softmax (Yang et al., 2019; LaBSE).
//
//	forward  = -(1/N) Σ_i log softmax_j((cos(u_i, v_j) - [i = j] margin)/T) at j = i
//	backward = the same with the roles swapped
type Ranking struct {
	Temperature float64 `yaml:"temperature"` // T: cosines are divided by it
	Margin      float64 `yaml:"margin"`      // subtracted from a pair's own cosine in training (LaBSE has 0.3)
}

// Validate reports all problems.
func (r Ranking) Validate(check objective.Check) {
	check(r.Temperature > 0 && r.Temperature <= 100, "objective.temperature is %v but must be above 0 and at most 100",
		r.Temperature)
	check(r.Margin >= 0 && r.Margin < 2,
		"objective.margin is %v but must be from 0 to less than 2, the largest difference of two cosines", r.Margin)
}

// Terms are the terms of Loss.
func (Ranking) Terms() []objective.Term {
	return []objective.Term{{Name: "forward", Weight: objective.Fixed(1)},
		{Name: "backward", Weight: objective.Fixed(1)}}
}

// Loss returns the terms for vectors u and v [n, dim].
func (r Ranking) Loss(u, v *graph.Node) []*graph.Node { return Rank(r.logits(u, v)) }

// Rank returns the terms for logits [n, n].
func Rank(logits *graph.Node) []*graph.Node {
	own := objective.OwnSum(logits)
	return []*graph.Node{objective.Ranking(own, logits, 1), objective.Ranking(own, logits, 0)}
}

// logits are the cosines divided by T [n, n], with the pairs' own cosines lowered by the margin.
func (r Ranking) logits(u, v *graph.Node) *graph.Node {
	return objective.LowerOwn(objective.Cosines(u, v, r.Temperature), r.Margin/r.Temperature)
}

// settings are the settings of contrastive and muse.
type settings struct {
	Ranking `yaml:",inline"`
	OneWay  bool `yaml:"one_way"` // only the forward term
	// each term is the mean of those of the whole vectors and of their first so many numbers (Kusupati et al., 2022)
	Matryoshka []int `yaml:"matryoshka,omitempty"`
	// a candidate is left out, as probably a translation, if it has a greater cosine to the pair's own sentence of its
	// side, or if the sentences that they translate have one to each other; 0: none is
	FalseNegatives float64 `yaml:"false_negatives,omitempty"`
}

// Validate reports all problems.
func (s settings) Validate(check objective.Check) {
	s.Ranking.Validate(check)
	check(s.FalseNegatives >= 0 && s.FalseNegatives < 1,
		"objective.false_negatives is %v but must be a cosine above 0 and below 1, or 0 for none", s.FalseNegatives)
	check(slices.IsSorted(s.Matryoshka) && len(slices.Compact(slices.Clone(s.Matryoshka))) == len(s.Matryoshka) &&
		(len(s.Matryoshka) == 0 || s.Matryoshka[0] > 0),
		"objective.matryoshka is %v but must be numbers of values in ascending order", s.Matryoshka)
}

// fits refuses parts of vectors that are no shorter than the vectors.
func (s settings) fits(dim int) error {
	if n := len(s.Matryoshka); n > 0 && s.Matryoshka[n-1] >= dim {
		return badinput.Errorf("objective.matryoshka has %d, but the encoder's vectors have %d values: name fewer", s.Matryoshka[n-1], dim)
	}
	return nil
}

// parts gives the mean of the terms of whole vectors and of their first numbers. terms computes them of vectors of
// which first keeps the numbers that count.
func (s settings) parts(dim int, terms func(first func(x *graph.Node) *graph.Node) []*graph.Node) []*graph.Node {
	sum := terms(func(x *graph.Node) *graph.Node { return x })
	for _, size := range s.Matryoshka {
		counts := make([]float32, dim)
		for i := range size {
			counts[i] = 1
		}
		part := terms(func(x *graph.Node) *graph.Node {
			return graph.Mul(x, graph.Reshape(graph.Const(x.Graph(), counts), 1, dim))
		})
		for i := range sum {
			sum[i] = graph.Add(sum[i], part[i])
		}
	}
	for i := range sum {
		sum[i] = graph.MulScalar(sum[i], 1/float64(1+len(s.Matryoshka)))
	}
	return sum
}

// hide lowers logits [n, n] of candidates that are probably translations, given the vectors of both sides.
func (s settings) hide(logits, u, v *graph.Node) *graph.Node {
	if s.FalseNegatives == 0 {
		return logits
	}
	near := func(x *graph.Node) *graph.Node {
		return objective.Cosines(graph.StopGradient(x), graph.StopGradient(x), 1)
	}
	return objective.Hide(logits, graph.Max(near(u), near(v)), s.FalseNegatives, true)
}

// Similarity is the measure that compares the vectors of a pair.
type Similarity string

// Cosine is the default, also of an empty setting. Dot is the product of the vectors as they are (VMSST's baseline).
const (
	Cosine Similarity = "cosine"
	Dot    Similarity = "dot"
)

// contrastiveSettings are the settings of the objective contrastive.
type contrastiveSettings struct {
	settings   `yaml:",inline"`
	Similarity Similarity `yaml:"similarity,omitempty"`
}

// Validate reports all problems.
func (s *contrastiveSettings) Validate(check objective.Check) {
	s.settings.Validate(check)
	check(s.Similarity != Dot || len(s.Matryoshka) == 0 && s.FalseNegatives == 0,
		"objective.matryoshka and objective.false_negatives compare cosines: remove objective.similarity")
	check(s.Similarity == "" || s.Similarity == Cosine || s.Similarity == Dot,
		"objective.similarity is %q but must be cosine or dot", s.Similarity)
}

func init() {
	objective.Register(objective.Descriptor{Name: "contrastive", Settings: func() objective.Settings {
		// the usual value for sentence encoders; not from one of the papers
		return &contrastiveSettings{settings: settings{Ranking: Ranking{Temperature: 0.05}}}
	}})
}

func (*contrastiveSettings) Needs() objective.Needs { return objective.Needs{Pairs: 2} }

func (s *contrastiveSettings) Build(t objective.Training) (objective.Objective, error) {
	return contrastive{*s}, s.fits(t.Dim)
}

// Terms are forward and, unless one way, backward.
func (s settings) Terms() []objective.Term { return firstIf(s.OneWay, s.Ranking.Terms()) }

// firstIf returns only the first of all if one is true.
func firstIf[T any](one bool, all []T) []T {
	if one {
		return all[:1]
	}
	return all
}

type contrastive struct{ contrastiveSettings }

func (contrastive) Heads() []weights.Spec { return nil }

func (contrastive) Views(b *data.Batch) ([]data.Side, error) { return b.Views[:2], nil }

func (contrastive) Inputs(context.Context, *data.Batch, []data.Side) ([]*tensors.Tensor, error) {
	return nil, nil
}

func (c contrastive) Loss(s objective.Step) []*graph.Node {
	u, v := s.Vectors(data.SourceView), s.Vectors(data.TargetView)
	if c.Similarity == Dot {
		return firstIf(c.OneWay, Rank(objective.LowerOwn(objective.Products(u, v, c.Temperature),
			c.Margin/c.Temperature)))
	}
	if len(c.Matryoshka) == 0 && c.FalseNegatives == 0 {
		return firstIf(c.OneWay, c.Ranking.Loss(u, v))
	}
	return firstIf(c.OneWay, c.parts(u.Shape().Dimensions[1], func(first func(*graph.Node) *graph.Node) []*graph.Node {
		return Rank(c.hide(c.logits(first(u), first(v)), u, v))
	}))
}

// museSettings are the settings of the objective muse.
type museSettings struct {
	settings `yaml:",inline"`
	// the encoder that finds hard negatives: a name, manifest or directory; if empty, the encoder in training, before
	// the first step
	Teacher   string `yaml:"teacher"`
	Negatives int    `yaml:"negatives"` // hard negatives per pair
	// steps after which the encoder in training finds them again; 0: they stay
	Every int `yaml:"every,omitempty"`
	// a candidate is no negative if its cosine to the source, by the teacher or else by the encoder that finds it, is
	// above this share of that of the pair's own target; 0: none is left out (Moreira et al., 2024, have 0.95)
	Filter float64 `yaml:"filter,omitempty"`
}

func init() {
	objective.Register(objective.Descriptor{Name: "muse", Settings: func() objective.Settings {
		return &museSettings{settings: settings{Ranking: Ranking{Temperature: 0.1}}, Negatives: 3}
	}})
}

func (s *museSettings) Validate(check objective.Check) {
	s.settings.Validate(check)
	check(s.Every >= 0, "objective.every is %d: it cannot be negative", s.Every)
	check(s.Filter >= 0 && s.Filter <= 1, "objective.filter is %v but must be a share above 0 and at most 1, or 0 for none", s.Filter)
	check(s.Negatives >= 1 && s.Negatives <= 63, "objective.negatives is %d but must be from 1 to 63", s.Negatives)
}

func (s *museSettings) Needs() objective.Needs {
	return objective.Needs{Teacher: s.Teacher, Negatives: s.Negatives, Every: s.Every, Filter: s.Filter}
}

func (s *museSettings) Build(t objective.Training) (objective.Objective, error) {
	return muse{*s}, s.fits(t.Dim)
}

// muse is contrastive with hard negatives: besides the batch's targets, each source has h wrong targets of its own that
// are near it (Yang et al., mUSE, 2019; Guo et al., 2018). They are not candidates for other sources, because one of
// them may be another pair's translation.
//
//	forward  = -(1/N) Σ_i log softmax over the N targets and source i's h negatives of cos/T, at target i
//	backward = as contrastive
type muse struct{ museSettings }

func (muse) Heads() []weights.Spec { return nil }

func (m muse) Views(b *data.Batch) ([]data.Side, error) {
	if len(b.Views) != 3 || b.Views[data.NegativesView].N != b.Views[data.SourceView].N*m.Negatives {
		return nil, fmt.Errorf("objective muse: step %d's batch does not have %d hard negatives for each pair", b.Step,
			m.Negatives)
	}
	return b.Views, nil
}

func (muse) Inputs(context.Context, *data.Batch, []data.Side) ([]*tensors.Tensor, error) {
	return nil, nil
}

func (m muse) Loss(s objective.Step) []*graph.Node {
	u, v, negatives := s.Vectors(data.SourceView), s.Vectors(data.TargetView), s.Vectors(data.NegativesView)
	n, dim := u.Shape().Dimensions[0], u.Shape().Dimensions[1]
	// ofEach are the cosines of each of n rows with its own negatives, divided by the temperature, [n, h].
	ofEach := func(x, negatives *graph.Node, temperature float64) *graph.Node {
		rows := graph.MulScalar(objective.Normalise(x), 1/temperature)
		return graph.DotGeneral(rows, []int{1}, []int{0},
			graph.Reshape(objective.Normalise(negatives), n, m.Negatives, dim), []int{2}, []int{0})
	}
	return firstIf(m.OneWay, m.parts(dim, func(first func(*graph.Node) *graph.Node) []*graph.Node {
		logits := m.logits(first(u), first(v))
		own := objective.OwnSum(logits)
		logits = m.hide(logits, u, v)
		hard := ofEach(first(u), first(negatives), m.Temperature)
		if m.FalseNegatives > 0 {
			hard = objective.Hide(hard, ofEach(graph.StopGradient(v), graph.StopGradient(negatives), 1), m.FalseNegatives, false)
		}
		candidates := graph.Concatenate([]*graph.Node{logits, hard}, 1)
		return []*graph.Node{objective.Ranking(own, candidates, 1), objective.Ranking(own, logits, 0)}
	}))
}
