package train

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"bitextmine/encode"
	"bitextmine/index/exact"
	"bitextmine/internal/badinput"
	"bitextmine/train/data"
	"bitextmine/train/negatives"
	"bitextmine/train/objective"
	"bitextmine/train/teacher"
)

// teacherDir is where a training keeps its teacher's vectors, unless it is told another place.
const teacherDir = "teacher"

// maskPiece is what stands for a masked token.
const maskPiece = "<mask>"

// newObjective fills in what the loss must know of its surroundings.
func (t *trainer) newObjective(tokens data.Options) (objective.Objective, error) {
	needs, table := t.config.Objective.Needs(), t.encoder.Weights()[0]
	s := objective.Training{Dim: t.encoder.Dim(), Width: table.Shape[1], Vocabulary: t.vocabulary.Rows(), Languages: t.set.Languages, Seed: t.config.Seed}
	s.Special = append(append([]int32{}, tokens.BOS...), tokens.EOS...)
	if needs.Table {
		s.Table = table.Name
	}
	if needs.Mask {
		mask := slices.Index(t.vocabulary.Pieces(), maskPiece)
		if mask < 0 {
			return nil, badinput.Errorf("the objective masks words, but the vocabulary has no piece %s: write vocabulary.control: [%s]", maskPiece, maskPiece)
		}
		s.Mask = int32(mask)
		s.Special = append(s.Special, s.Mask)
	}
	if t.teacher != nil { // a nil *Teacher must not become a Teacher
		s.Teacher = t.teacher
	}
	return t.config.Objective.Build(s)
}

// openTeacher opens the encoder that the preset names as its teacher, if it names one.
func (t *trainer) openTeacher() (err error) {
	name := t.config.Objective.Needs().Teacher
	if name == "" {
		return nil
	}
	t.report("open the teacher " + name)
	dir := cmp.Or(t.options.Teacher, filepath.Join(t.options.Out, teacherDir))
	t.teacher, err = teacher.Open(name, dir, encode.Options{Library: t.options.Library})
	return err
}

// mineNegatives finds the hard negatives of the preset's objective: by its teacher if it names one, else by the encoder
// as it starts, so that a training that is taken up again has the same ones.
func (t *trainer) mineNegatives(ctx context.Context) (*data.HardNegatives, error) {
	if t.config.Objective.Needs().Negatives == 0 {
		return nil, nil
	}
	t.report("find hard negatives")
	source, target, dim, err := t.vectorsOfPairs(ctx)
	if err != nil {
		return nil, err
	}
	searcher := t.options.Searcher
	if searcher == nil {
		if searcher, err = exact.Open(exact.Options{}); err != nil {
			return nil, err
		}
	}
	tenths := 0
	return negatives.Mine(ctx, searcher, t.set, source, target, dim, t.config.Objective.Needs().Negatives, func(fraction float64) {
		if now := int(10 * fraction); now > tenths { // it can take as long as many steps
			tenths = now
			t.report(fmt.Sprintf("find hard negatives: %d%%", 10*now))
		}
	})
}

// vectorsOfPairs are those of the sources and of the targets [pairs, dim].
func (t *trainer) vectorsOfPairs(ctx context.Context) (source, target []float32, dim int, err error) {
	vectors := t.started
	dim = t.encoder.Dim()
	if t.teacher != nil {
		vectors, dim = t.taught, t.teacher.Dim()
	}
	if source, err = vectors(ctx, false); err != nil {
		return nil, nil, 0, err
	}
	target, err = vectors(ctx, true)
	return source, target, dim, err
}

// started are the vectors that the encoder gives one side of all pairs as it starts.
func (t *trainer) started(ctx context.Context, target bool) ([]float32, error) {
	dim := t.encoder.Dim()
	out := make([]float32, t.set.Len()*dim)
	for part := range t.set.Parts(target, together) {
		vectors, err := t.encoder.Forward(ctx, part.Side, 0)
		if err != nil {
			return nil, err
		}
		for i, row := range part.Rows {
			copy(out[row*dim:(row+1)*dim], vectors[i*dim:])
		}
	}
	return out, nil
}

// taught are the teacher's vectors of one side of all pairs.
func (t *trainer) taught(ctx context.Context, target bool) ([]float32, error) {
	texts, languages := make([]string, t.set.Len()), make([]string, t.set.Len())
	for i := range texts {
		pair := t.set.Groups[t.set.Group(i)]
		source, other := t.set.Texts(i)
		texts[i], languages[i] = source, t.set.Languages[pair.Source]
		if target {
			texts[i], languages[i] = other, t.set.Languages[pair.Target]
		}
	}
	return t.teacher.Encode(ctx, languages, texts)
}
