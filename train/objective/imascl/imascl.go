// Package imascl has soft contrastive learning from a monolingual teacher, and distillation by mean squared error, the
// baseline in its paper.
package imascl

import (
	"cmp"
	"context"
	"slices"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/corpus"
	"bitextmine/train/data"
	"bitextmine/train/objective"
	"bitextmine/train/weights"
)

// Label is the target distribution of the softmax.
type Label string

// Priority is the teacher's similarities in the language of the pair that is preferred as the anchor. Average is the
// mean over both languages.
const (
	Priority Label = "priority"
	Average  Label = "average"
)

// Settings are the settings of the objective imascl.
type Settings struct {
	anchored    `yaml:",inline"`
	Temperature float64 `yaml:"temperature"` // τ: the cosines of the student and of the teacher are divided by it
	// the teacher's τ, if it is another; 0: the same
	TeacherTemperature float64 `yaml:"teacher_temperature,omitempty"`
	Label              Label   `yaml:"label"`        // priority or average
	TCM                bool    `yaml:"tcm"`          // also train the monolingual spaces
	CrossWeight        float64 `yaml:"cross_weight"` // λ, the weight of the cross-lingual terms, of tcm
}

func init() {
	objective.Register(objective.Descriptor{Name: "imascl", Settings: func() objective.Settings {
		return &Settings{anchored: paperAnchors(), Temperature: 0.1, Label: Priority}
	}})
}

// Validate reports all problems.
func (s *Settings) Validate(check objective.Check) {
	s.anchored.Validate(check)
	check(s.Temperature > 0 && s.Temperature <= 100, "objective.temperature is %v but must be above 0 and at most 100",
		s.Temperature)
	check(s.TeacherTemperature >= 0 && s.TeacherTemperature <= 100,
		"objective.teacher_temperature is %v but must be above 0 and at most 100, or 0 for that of the student",
		s.TeacherTemperature)
	check(s.Label == Priority || s.Label == Average, "objective.label is %q but must be priority or average", s.Label)
	check(!s.TCM || s.CrossWeight > 0, "objective.cross_weight is %v but with tcm it must be above 0: the paper has 0.1", s.CrossWeight)
	check(s.TCM || s.CrossWeight == 0, "objective.cross_weight is only for tcm: remove it or set tcm")
}

// Needs is the teacher.
func (s *Settings) Needs() objective.Needs { return objective.Needs{Pairs: 2, Teacher: s.Teacher} }

// Build returns the objective.
func (s *Settings) Build(t objective.Training) (objective.Objective, error) {
	return imascl{*s, t}, nil
}

// imascl is contrastive learning whose labels are the similarities that a teacher computes within one language (Park et
// al., IMASCL, 2024). In each pair, s is the anchor, the side with the preferred language, and t is the other side,
// whichever of them is the source in the batch: w is not symmetric. sim_f is the student's cosine divided by the
// temperature, sim_g the teacher's:
//
//	w(i, j) = softmax_j sim_g(s_i, s_j); with average labels softmax_j (sim_g(s_i, s_j) + sim_g(t_i, t_j))/2
//	row     = -(1/N) Σ_ij w(i, j) log(softmax over j of sim_f(s_i, t_j))
//	column  = -(1/N) Σ_ij w(i, j) log(softmax over i of sim_f(s_i, t_j))
//	L       = row + column; with TCM λ (row + column) + mono-anchor + mono-other, the column loss on (s, s) and on (t, t)
type imascl struct {
	Settings
	training objective.Training
}

func (imascl) Heads() []weights.Spec { return nil }

func (m imascl) Terms() []objective.Term {
	if !m.TCM {
		return []objective.Term{{Name: "row", Weight: objective.Fixed(1)}, {Name: "column", Weight: objective.Fixed(1)}}
	}
	cross := objective.Fixed(m.CrossWeight)
	return []objective.Term{{Name: "row", Weight: cross}, {Name: "column", Weight: cross},
		{Name: "mono-anchor", Weight: objective.Fixed(1)}, {Name: "mono-other", Weight: objective.Fixed(1)}}
}

func (imascl) Views(b *data.Batch) ([]data.Side, error) { return b.Views[:2], nil }

// Inputs are [n, 1], 1 if the anchor is the target and otherwise 0; the teacher's vectors [n, teacher dim] of the
// anchors; and with average labels those of the other sides.
func (m imascl) Inputs(ctx context.Context, b *data.Batch, _ []data.Side) ([]*tensors.Tensor, error) {
	anchor, other, swapped := m.split(m.training, b)
	halves := []half{anchor}
	if m.Label == Average {
		halves = append(halves, other)
	}
	inputs := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(swapped, len(swapped), 1)}
	for _, h := range halves {
		taught, err := h.taught(ctx, m.training)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, taught)
	}
	return inputs, nil
}

func (m imascl) Loss(s objective.Step) []*graph.Node {
	within := func(vectors *graph.Node, temperature float64) *graph.Node {
		return objective.Cosines(vectors, vectors, temperature)
	}
	teachers := cmp.Or(m.TeacherTemperature, m.Temperature)
	taught := within(s.Inputs[1], teachers)
	if m.Label == Average {
		taught = graph.MulScalar(graph.Add(taught, within(s.Inputs[2], teachers)), 0.5)
	}
	swapped := s.Inputs[0]
	straight := graph.OneMinus(swapped)
	u, v := s.Vectors(data.SourceView), s.Vectors(data.TargetView)
	anchor := graph.Add(graph.Mul(u, straight), graph.Mul(v, swapped))
	other := graph.Add(graph.Mul(v, straight), graph.Mul(u, swapped))
	w := graph.Exp(graph.Sub(taught, objective.LogSumExp(taught, 1)))
	cross := objective.Cosines(anchor, other, m.Temperature)
	values := []*graph.Node{objective.CrossEntropy(w, cross, 1), objective.CrossEntropy(w, cross, 0)}
	if m.TCM {
		values = append(values, objective.CrossEntropy(w, within(anchor, m.Temperature), 0),
			objective.CrossEntropy(w, within(other, m.Temperature), 0))
	}
	return values
}

// anchored are the settings of an objective that uses a teacher's vectors of one side of each pair, the anchor.
type anchored struct {
	// languages, with the one for which the teacher is best first; those not listed are last
	Anchors []string `yaml:"anchors"`
	Teacher string   `yaml:"teacher"` // an encoder's name, manifest or directory
}

// paperAnchors are the anchors of IMASCL's paper.
func paperAnchors() anchored { return anchored{Anchors: []string{"en", "ru", "ja", "fr", "ko"}} }

// Validate reports all problems.
func (a anchored) Validate(check objective.Check) {
	check(a.Teacher != "", "objective.teacher is empty: name an encoder or its manifest")
	languages := a.languages()
	for i, code := range a.Anchors {
		_, err := corpus.ParseLanguage(code)
		check(err == nil, "objective.anchors[%d]: %v", i, err)
		check(!slices.Contains(languages[:i], languages[i]), "objective.anchors names %s twice", languages[i])
	}
}

// languages are the anchors in the codes that pairs have: en for eng and eng_Latn. An unknown code stays as it is.
func (a anchored) languages() []string {
	languages := slices.Clone(a.Anchors)
	for i, code := range languages {
		if language, err := corpus.ParseLanguage(code); err == nil {
			languages[i] = language
		}
	}
	return languages
}

// half is one sentence of each pair with its language.
type half struct{ languages, texts []string }

// split returns the pairs' anchors and their other sides, and for each pair 1 if its anchor is the target, otherwise 0.
func (a anchored) split(t objective.Training, b *data.Batch) (anchor, other half, swapped []float32) {
	source, target := b.Views[data.SourceView], b.Views[data.TargetView]
	anchor = half{codes(t, source), slices.Clone(source.Texts)}
	other = half{codes(t, target), slices.Clone(target.Texts)}
	swapped = make([]float32, source.N)
	anchors := a.languages()
	for i := range swapped {
		if before(anchors, other.languages[i], anchor.languages[i]) {
			anchor.languages[i], other.languages[i] = other.languages[i], anchor.languages[i]
			anchor.texts[i], other.texts[i] = other.texts[i], anchor.texts[i]
			swapped[i] = 1
		}
	}
	return anchor, other, swapped
}

// taught returns the teacher's vectors [n, teacher dim] of a half.
func (h half) taught(ctx context.Context, t objective.Training) (*tensors.Tensor, error) {
	vectors, err := t.Teacher.Encode(ctx, h.languages, h.texts)
	if err != nil {
		return nil, err
	}
	return tensors.FromFlatDataAndDimensions(vectors, len(h.texts), t.Teacher.Dim()), nil
}

// before reports whether language a is preferred to b as the anchor: first those of anchored.languages in their order,
// then the others by code, so that swapped sides have the same anchor.
func before(anchors []string, a, b string) bool {
	place := func(code string) int {
		if at := slices.Index(anchors, code); at >= 0 {
			return at
		}
		return len(anchors)
	}
	if x, y := place(a), place(b); x != y {
		return x < y
	}
	return a < b
}

// codes are the language codes of a side's sentences.
func codes(t objective.Training, side data.Side) []string {
	out := make([]string, side.N)
	for i, at := range side.Languages {
		out[i] = t.Languages[at]
	}
	return out
}

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
