package imascl

import (
	"context"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/corpus"
	"bitextmine/train/data"
	"bitextmine/train/objective"
)

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
	for i, code := range a.Anchors {
		_, err := corpus.ParseLanguage(code)
		check(err == nil, "objective.anchors[%d]: %v", i, err)
		check(!slices.Contains(a.Anchors[:i], code), "objective.anchors names %s twice", code)
	}
}

// half is one sentence of each pair with its language.
type half struct{ languages, texts []string }

// split returns the pairs' anchors and their other sides, and for each pair 1 if its anchor is the target, otherwise 0.
func (a anchored) split(t objective.Training, b *data.Batch) (anchor, other half, swapped []float32) {
	source, target := b.Views[data.SourceView], b.Views[data.TargetView]
	anchor = half{codes(t, source), slices.Clone(source.Texts)}
	other = half{codes(t, target), slices.Clone(target.Texts)}
	swapped = make([]float32, source.N)
	for i := range swapped {
		if before(a.Anchors, other.languages[i], anchor.languages[i]) {
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

// before reports whether language a is preferred to b as the anchor: first the listed languages in their order, then
// the others by code, so that swapped sides have the same anchor.
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
