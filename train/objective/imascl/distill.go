package imascl

import (
	"context"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/objective"
	"bitextmine/train/weights"
)

// distillSettings are the settings of the objective mse-distill.
type distillSettings struct {
	anchored `yaml:",inline"`
}

func init() {
	objective.Register(objective.Descriptor{Name: "mse-distill",
		Settings: func() objective.Settings { return &distillSettings{paperAnchors()} }})
}

func (s *distillSettings) Needs() objective.Needs {
	return objective.Needs{Teacher: s.Teacher, SameDim: true}
}

func (s *distillSettings) Build(t objective.Training) (objective.Objective, error) {
	return distill{*s, t}, nil
}

// distill trains both sides towards the teacher's vector g of the anchor side (Reimers and Gurevych, 2020). Vectors are
// compared without normalisation.
//
//	source = mean over pairs and numbers of (u - g)²;  target = the same of v
type distill struct {
	distillSettings
	training objective.Training
}

func (distill) Heads() []weights.Spec { return nil }

func (distill) Terms() []objective.Term {
	return []objective.Term{{Name: "source", Weight: objective.Fixed(1)}, {Name: "target", Weight: objective.Fixed(1)}}
}

func (distill) Views(b *data.Batch) ([]data.Side, error) { return b.Views[:2], nil }

// Inputs is the teacher's vectors [n, dim] of the anchors.
func (d distill) Inputs(ctx context.Context, b *data.Batch, _ []data.Side) ([]*tensors.Tensor, error) {
	anchor, _, _ := d.split(d.training, b)
	taught, err := anchor.taught(ctx, d.training)
	if err != nil {
		return nil, err
	}
	return []*tensors.Tensor{taught}, nil
}

func (distill) Loss(s objective.Step) []*graph.Node {
	distance := func(x *graph.Node) *graph.Node {
		away := graph.Sub(x, s.Inputs[0])
		return graph.MulScalar(graph.ReduceAllSum(graph.Mul(away, away)), 1/float64(x.Shape().Size()))
	}
	return []*graph.Node{distance(s.Vectors(data.SourceView)), distance(s.Vectors(data.TargetView))}
}
