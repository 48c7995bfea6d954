// Package contrastive has contrastive learning with hard labels, without and with hard negatives.
package contrastive

import (
	"context"
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

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
	s.Ranking.Validate(check)
	check(s.Similarity == "" || s.Similarity == Cosine || s.Similarity == Dot,
		"objective.similarity is %q but must be cosine or dot", s.Similarity)
}

func init() {
	objective.Register(objective.Descriptor{Name: "contrastive", Settings: func() objective.Settings {
		// the usual value for sentence encoders; not from one of the papers
		return &contrastiveSettings{settings: settings{Ranking: Ranking{Temperature: 0.05}}}
	}})
}

func (*contrastiveSettings) Needs() objective.Needs { return objective.Needs{} }

func (s *contrastiveSettings) Build(objective.Training) (objective.Objective, error) {
	return contrastive{*s}, nil
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
	return firstIf(c.OneWay, c.Ranking.Loss(u, v))
}

// museSettings are the settings of the objective muse.
type museSettings struct {
	settings `yaml:",inline"`
	// the encoder that finds hard negatives: a name, manifest or directory; if empty, the encoder in training, before
	// the first step
	Teacher   string `yaml:"teacher"`
	Negatives int    `yaml:"negatives"` // hard negatives per pair
}

func init() {
	objective.Register(objective.Descriptor{Name: "muse", Settings: func() objective.Settings {
		return &museSettings{settings: settings{Ranking: Ranking{Temperature: 0.1}}, Negatives: 3}
	}})
}

func (s *museSettings) Validate(check objective.Check) {
	s.Ranking.Validate(check)
	check(s.Negatives >= 1 && s.Negatives <= 63, "objective.negatives is %d but must be from 1 to 63", s.Negatives)
}

func (s *museSettings) Needs() objective.Needs {
	return objective.Needs{Teacher: s.Teacher, Negatives: s.Negatives}
}

func (s *museSettings) Build(objective.Training) (objective.Objective, error) { return muse{*s}, nil }

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
	u := s.Vectors(data.SourceView)
	logits := m.logits(u, s.Vectors(data.TargetView))
	own := objective.OwnSum(logits)
	n, dim := u.Shape().Dimensions[0], u.Shape().Dimensions[1]
	negatives := graph.Reshape(objective.Normalise(s.Vectors(data.NegativesView)), n, m.Negatives, dim)
	sources := graph.MulScalar(objective.Normalise(u), 1/m.Temperature)
	hard := graph.DotGeneral(sources, []int{1}, []int{0}, negatives, []int{2}, []int{0}) // [n, h]
	candidates := graph.Concatenate([]*graph.Node{logits, hard}, 1)
	return firstIf(m.OneWay, []*graph.Node{objective.Ranking(own, candidates, 1), objective.Ranking(own, logits, 0)})
}
