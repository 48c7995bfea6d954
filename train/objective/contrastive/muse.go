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
