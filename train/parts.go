package train

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/gomlx/compute"

	"bitextmine/corpus"
	"bitextmine/encode"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/badinput"
	"bitextmine/internal/pjrt"
	"bitextmine/train/checkpoint"
	"bitextmine/train/data"

	"bitextmine/train/encoder"

	"bitextmine/distil/teacher"
	"bitextmine/train/objective"
	"bitextmine/train/optimiser"
	"bitextmine/train/step"
	"bitextmine/train/weights"
)

// parts are the parts of a training, made from its preset in this order.
type parts struct {
	config  Config
	options Options

	vocabulary   *tokenizer.Vocabulary
	tokens       data.Options
	dev          map[corpus.Key]struct{} // the dev sets' texts
	set          *data.Set
	encoder      encoder.Encoder
	architecture map[string]string // the encoder's, as metadata of its weights
	teacher      *teacher.Teacher  // nil unless the preset names one
	batches      *data.Batches
	objective    objective.Objective
	heads        []*weights.Tensor // the objective's own weights
	steps        *step.Step
	optimiser    *optimiser.Optimiser
	resident     *optimiser.Resident // weights on the device; nil: all are on the host
}

// read opens the vocabulary and reads the bitext.
func (p *parts) read(ctx context.Context) (err error) {
	c := &p.config
	if p.vocabulary, err = openVocabulary(ctx, c, p.options.Out, p.options.report); err != nil {
		return err
	}
	for language, prefix := range c.Prefixes {
		for _, id := range prefix.Tokens {
			if int(id) >= p.vocabulary.Rows() {
				return badinput.Errorf("prefixes.%s has the token %d, but the vocabulary's last is %d: correct it",
					language, id, p.vocabulary.Rows()-1)
			}
		}
	}
	p.options.report("read the bitext")
	p.tokens = tokenOptions(c, p.vocabulary, c.Objective.Needs().Teacher != "")
	if c.Objective.Needs().Words {
		p.tokens.Texts, p.tokens.Pieces = true, p.vocabulary.Pieces()
	}
	p.tokens.Watched = p.dev
	p.set, err = data.Read(ctx, c.Bitext, p.tokens)
	return err
}

// make creates everything that learns, and the batches.
func (p *parts) make(ctx context.Context, backend compute.Backend) (err error) {
	c := &p.config
	preset := c.encoderPreset(p.options.Out)
	if p.encoder, err = c.Encoder.Of().New(preset, p.vocabulary, backend); err != nil {
		return err
	}
	if longest := p.encoder.Longest(); longest > 0 && c.Export.MaxTokens > longest {
		return badinput.Errorf("export.max_tokens is %d, but the encoder has positions for %d tokens: give at most as many", c.Export.MaxTokens, longest)
	}
	if p.architecture, err = encoder.Metadata(preset, p.encoder); err != nil {
		return err
	}
	if err := p.openTeacher(); err != nil {
		return err
	}
	negatives, err := p.mineNegatives(ctx, false)
	if err != nil {
		return err
	}
	if p.batches, err = p.set.Batches(negatives); err != nil {
		return err
	}
	if p.objective, err = p.newObjective(); err != nil {
		return err
	}
	if _, judge := p.objective.(objective.Judge); judge && !c.Encoder.Of().Judges {
		return badinput.Errorf("the objective %s makes a judge, but an encoder of kind %s is exported as it was: set encoder.kind to transformer",
			c.Objective.Name, c.Encoder.Kind)
	}
	if p.heads, err = c.startHeads(p.objective); err != nil {
		return err
	}
	heads := p.heads
	if c.Objective.Needs().Table {
		heads = append(slices.Clone(heads), p.encoder.Weights()[0])
	}
	if p.optimiser, err = optimiser.New(c.Optimiser,
		slices.Concat(weights.Learned(p.encoder.Weights()), p.heads)); err != nil {
		return err
	}
	options := step.Options{Chunk: c.Chunk, Accumulate: c.Accumulate}
	if inner := step.Inner(p.encoder, c.Chunk); inner != nil && pjrt.Is(p.options.Device) && c.Optimiser.Keeps() &&
		!c.Objective.Needs().Table {
		p.resident = p.optimiser.Keep(backend, slices.Concat(inner, p.heads))
		options.Resident = p.resident
	}
	p.steps = step.New(p.encoder, p.objective, heads, backend, options)
	return nil
}

// startHeads makes an objective's own weights: new ones, or those of the checkpoint that encoder.start names.
func (c *Config) startHeads(o objective.Objective) ([]*weights.Tensor, error) {
	heads := encoder.NewTensors(o.Heads(), c.Seed)
	if !c.Encoder.StartHeads {
		return heads, nil
	}
	if err := checkpoint.Load(c.Encoder.Start, checkpoint.Heads, heads); err != nil {
		return nil, badinput.Errorf("encoder.start_heads needs a checkpoint of a training whose objective has the same heads as %s: %w", c.Objective.Name, err)
	}
	return heads, nil
}

// openTeacher opens the teacher that the preset names, if any.
func (p *parts) openTeacher() (err error) {
	name := p.config.Objective.Needs().Teacher
	if name == "" {
		return nil
	}
	p.options.report("open the teacher " + name)
	dir := cmp.Or(p.options.Teacher, filepath.Join(p.options.Out, teacherDir))
	p.teacher, err = teacher.Open(name, dir, encode.Options{Library: p.options.Library})
	return err
}

// maskPiece stands for a masked token.
const maskPiece = "<mask>"

// newObjective builds the preset's objective for this training.
func (p *parts) newObjective() (objective.Objective, error) {
	needs, table := p.config.Objective.Needs(), p.encoder.Weights()[0]
	t := objective.Training{Dim: p.encoder.Dim(), Width: table.Shape[1], Vocabulary: table.Rows(),
		Longest: p.config.Bitext.MaxTokens, Languages: p.set.Languages, Seed: p.config.Seed}
	t.Special = slices.Concat(p.tokens.BOS, p.tokens.EOS)
	for _, language := range slices.Sorted(maps.Keys(p.tokens.Prefixes)) {
		t.Special = append(t.Special, p.tokens.Prefixes[language].Tokens...)
	}
	if needs.Table {
		t.Table = table.Name
	}
	if needs.Mask {
		mask, err := maskToken(&p.config, p.vocabulary, table.Rows())
		if err != nil {
			return nil, err
		}
		t.Mask = mask
		t.Special = append(t.Special, mask)
	}
	if needs.Pieces {
		t.Pieces = p.vocabulary.Pieces()
	}
	if p.teacher != nil { // a nil *Teacher must not become a Teacher
		t.Teacher = p.teacher
	}
	return p.config.Objective.Build(t)
}

// maskToken is the id of the preset's mask, below the rows of the encoder's table: the mask of a published encoder may
// be no piece of its tokenizer's file.
func maskToken(c *Config, v *tokenizer.Vocabulary, rows int) (int32, error) {
	piece := maskPiece
	if mask := c.Mask; mask != nil && mask.Piece == "" {
		if mask.ID < 0 || int(mask.ID) >= rows {
			return 0, badinput.Errorf("mask is %d, but the encoder's last token is %d: correct it", mask.ID, rows-1)
		}
		return mask.ID, nil
	} else if mask != nil {
		piece = mask.Piece
	}
	id := slices.Index(v.Pieces(), piece)
	if id < 0 {
		return 0, badinput.Errorf("the objective masks words, but the vocabulary has no piece %s: write vocabulary.control: [%s], or the mask's id as mask", piece, piece)
	}
	return int32(id), nil
}

// files are the tensors of a checkpoint, by file.
func (p *parts) files() map[string][]*weights.Tensor {
	return map[string][]*weights.Tensor{checkpoint.Encoder: weights.Learned(p.encoder.Weights()),
		checkpoint.Heads: p.heads, checkpoint.Optimiser: p.optimiser.State()}
}

// resume loads a checkpoint and skips the batches before it.
func (p *parts) resume(checkpoints checkpoint.Dir, step int) error {
	if step == 0 {
		return nil
	}
	if every := p.config.Objective.Needs().Every; every > 0 && step%every != 0 {
		return badinput.Errorf("the checkpoint of step %d lies between two searches for hard negatives, which are %d steps apart: set eval_every to a multiple of objective.every", step, every)
	}
	p.options.report(fmt.Sprintf("resume at step %d", step))
	if err := encoder.FrozenUnchanged(checkpoints.At(step),
		encoder.OriginOf(p.config.Encoder.Start, p.encoder.Weights())); err != nil {
		return err
	}
	for file, tensors := range p.files() {
		if err := checkpoints.Load(step, file, tensors); err != nil {
			return err
		}
	}
	p.batches.Seek(step * p.config.Accumulate)
	return nil
}

// live makes the encoder available to evaluation.
func (p *parts) live() liveEncoder {
	return liveEncoder{Label: p.config.Name, Encoder: p.encoder, Bitext: p.config.Bitext, Options: p.tokens}
}

// close closes the teacher and the vocabulary.
func (p *parts) close() (err error) {
	if p.teacher != nil {
		err = p.teacher.Close()
	}
	if p.vocabulary != nil {
		p.vocabulary.Close()
	}
	return err
}
