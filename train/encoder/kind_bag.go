package encoder

import (
	"github.com/gomlx/compute"

	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/badinput"
	"bitextmine/train/export"
	"bitextmine/train/weights"
)

func init() {
	Register(Kind{
		Name: "bag",
		Validate: func(p Preset, check Check) []func() error {
			check(!p.Shared || p.Bag.NGrams.Max == 0,
				"objective.shared_embedding needs a single embedding table: remove encoder.bag.ngrams")
			return []func() error{p.Bag.Validate}
		},
		Dim: func(p Preset) (int, error) { return p.Bag.Dim, nil },
		New: startBag,
	})
}

// startBag makes the preset's bag, with new weights or those of a checkpoint.
func startBag(p Preset, v *tokenizer.Vocabulary, _ compute.Backend) (Encoder, error) {
	pieces := v.Pieces()
	if pieces == nil {
		pieces = make([]string, v.Rows())
		if p.Bag.NGrams.Max > 0 {
			return nil, badinput.Errorf("encoder.bag.ngrams needs a SentencePiece vocabulary, and tokenizer.kind is %s",
				p.Tokenizer.Kind)
		}
	}
	bag, err := NewBag(p.Bag, pieces, p.Seed)
	if err != nil || p.Start == "" {
		return bag, err
	}
	path := p.checkpointFile()
	if found, err := p.hasCheckpoint(); err != nil {
		return nil, err
	} else if !found {
		return nil, badinput.Errorf("encoder.start: %s is missing: name a checkpoint of a training, OUT/checkpoints/step-N", path)
	}
	stored, was, err := p.readCheckpoint()
	if err != nil {
		return nil, err
	}
	if ngrams := bag.Architecture().NGrams; was.NGrams != ngrams {
		return nil, badinput.Errorf("%s has n-grams of %d to %d characters, but encoder.bag.ngrams are of %d to %d: write the same",
			path, was.NGrams[0], was.NGrams[1], ngrams[0], ngrams[1])
	}
	var specs []weights.Spec
	for _, w := range bag.Weights() {
		specs = append(specs, weights.Spec{Name: w.Name, Shape: w.Shape, NoDecay: w.NoDecay})
	}
	tensors, err := weights.Arrange(specs, stored)
	if err != nil {
		return nil, badinput.Errorf("%s: %w", path, err)
	}
	for i, w := range bag.Weights() {
		copy(w.Data, tensors[i].Data)
	}
	return bag, nil
}

// Longest is 0.
func (b *Bag) Longest() int { return 0 }

// Architecture has the lengths of the n-grams.
func (b *Bag) Architecture() (a Architecture) {
	if n := b.settings.NGrams; n.Max > 0 {
		a.NGrams = [2]int{n.Min, n.Max}
	}
	return a
}

// Describe says that a token's vector depends on the token alone.
func (b *Bag) Describe(m *model.Manifest) { m.Tokens.Static = true }

// Export rounds the table to bytes: each row [dim] has a scale. The mean has the direction of the sum, so the graph
// only divides by the norm. The token vectors are inner tensors, which a manifest may name.
func (b *Bag) Export(name string) (*export.Graph, Encoder, error) {
	numbers, scales := b.Rounded()
	rows, dim := len(scales), b.Dim()
	g := export.NewGraph(name)
	g.Input(export.IDs, export.Int64, "batch", "tokens")
	g.Input(export.Mask, export.Int64, "batch", "tokens")
	g.Initializer("table", []int{rows, dim}, numbers)
	g.Initializer("scales", []int{rows, 1}, scales)
	g.Initializer("axis_tokens", []int{1}, []int64{1})
	g.Initializer("axis_dim", []int{1}, []int64{2})
	g.Node("Gather", []string{"table", export.IDs}, []string{"bytes"}, attr("axis", 0))
	g.Node("Cast", []string{"bytes"}, []string{"numbers"}, attr("to", int(export.Float32)))
	g.Node("Gather", []string{"scales", export.IDs}, []string{"scale"}, attr("axis", 0))
	g.Node("Mul", []string{"numbers", "scale"}, []string{export.Tokens})
	g.Node("Cast", []string{export.Mask}, []string{"present"}, attr("to", int(export.Float32)))
	g.Node("Unsqueeze", []string{"present", "axis_dim"}, []string{"presence"})
	g.Node("Mul", []string{export.Tokens, "presence"}, []string{"kept"})
	g.Node("ReduceSum", []string{"kept", "axis_tokens"}, []string{"sum"}, attr("keepdims", 0))
	g.Node("LpNormalization", []string{"sum"}, []string{export.Vectors}, attr("axis", 1), attr("p", 2))
	g.Output(export.Vectors, export.Float32, "batch", dim)
	return g, ofTable(numbers, scales), nil
}
