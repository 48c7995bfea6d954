package train

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"bitextmine/encode/model"
	"bitextmine/train/checkpoint"
	"bitextmine/train/encoder"
	"bitextmine/train/objective"
	"bitextmine/train/traintest"
	"bitextmine/train/weights"
	"bitextmine/train/words"
)

// follows trains a tiny preset for a few steps, and gives a preset of another objective that starts from its
// checkpoint.
func follows(t *testing.T, change func(*Config)) (first, next Config, o Options) {
	t.Helper()
	first, o = tiny(t, change)
	if _, err := Run(limited(t), first, o); err != nil {
		t.Fatal(err)
	}
	next = first
	next.Objective = objective.Default("ems")
	next.Encoder.Start = checkpoint.Dir{Path: filepath.Join(o.Out, checkpointsDir)}.At(first.Steps)
	o.Out += "-next"
	return first, next, o
}

// TestHeadsGoOn: with encoder.start_heads the objective's own weights are those of the checkpoint; a checkpoint of an
// objective without them, and a training without a checkpoint, are refused.
func TestHeadsGoOn(t *testing.T) {
	first, next, o := follows(t, by("ems", nil))
	next.Encoder.StartHeads, next.Steps, next.Optimiser.LearningRate = true, 1, 1e-12
	if _, err := Run(limited(t), next, o); err != nil {
		t.Fatal(err)
	}
	was, is := stored(t, next.Encoder.Start, checkpoint.Heads), stored(t, checkpoint.Dir{Path: filepath.Join(o.Out, checkpointsDir)}.At(1), checkpoint.Heads)
	if len(was) == 0 || len(is) != len(was) {
		t.Fatalf("%d weights are of %d", len(is), len(was))
	}
	for name, w := range was {
		traintest.Near(t, name, is[name].Data, w.Data, 1e-6)
	}
	first.Encoder.StartHeads = true
	refused(t, first.Validate(), "encoder.start_heads needs encoder.start")
	_, next, o = follows(t, by("contrastive", nil))
	next.Encoder.StartHeads = true
	_, err := Run(limited(t), next, o)
	refused(t, err, "a training whose objective has the same heads as ems")
}

var startKinds = map[string]func(*Config){
	"bag":              nil,
	"bag with n-grams": func(c *Config) { c.Encoder.Bag.NGrams = encoder.NGrams{Min: 3, Max: 4, Deviation: 0.02} },
	"transformer":      transformer,
}

// TestStartFromATraining: the weights are those of the checkpoint, and another objective trains them on.
func TestStartFromATraining(t *testing.T) {
	for name, change := range startKinds {
		t.Run(name, func(t *testing.T) {
			ctx := limited(t)
			_, next, o := follows(t, change)
			want, _, err := weights.ReadFile(filepath.Join(next.Encoder.Start, checkpoint.Encoder), nil)
			if err != nil {
				t.Fatal(err)
			}
			layers := next.Encoder.Transformer.Layers
			next.Encoder.Transformer.Layers = encoder.DefaultSettings().Layers // the shape is the checkpoint's
			got := takenUp(ctx, t, next, o).encoder.Weights()
			if len(got) != len(want) {
				t.Fatalf("%d tensors, want %d", len(got), len(want))
			}
			byName := map[string]*weights.Tensor{}
			for _, w := range want {
				byName[w.Name] = w
			}
			for _, w := range got {
				if !reflect.DeepEqual(w.Data, byName[w.Name].Data) {
					t.Errorf("%s is not the checkpoint's", w.Name)
				}
			}
			o.Out += "-run"
			if _, err := Run(ctx, next, o); err != nil {
				t.Error(err)
			}
			card, err := os.ReadFile(filepath.Join(o.Out, "model", "README.md"))
			if err != nil || !strings.Contains(string(card), "from the weights of "+next.Encoder.Start) {
				t.Errorf("the model card does not say what it started from: %v", err)
			}
			if next.Encoder.Kind == "transformer" && !strings.Contains(string(card), fmt.Sprintf("layers: %d\n", layers)) {
				t.Error("the model card has another number of layers than the encoder")
			}
		})
	}
}

// TestStartWithAProjection: a checkpoint without one gets the preset's, drawn anew; one that has it keeps its own.
func TestStartWithAProjection(t *testing.T) {
	ctx := limited(t)
	projected := func(dim int) func(*Config) {
		return all(transformer, func(c *Config) { c.Encoder.Transformer.Projection = dim })
	}
	_, next, o := follows(t, transformer)
	projected(40)(&next)
	tr := takenUp(ctx, t, next, o)
	if tr.encoder.Dim() != 40 {
		t.Errorf("a start without a projection gives vectors of %d numbers, want 40", tr.encoder.Dim())
	}
	_, next, o = follows(t, projected(40))
	next.Encoder.Transformer.Projection = 0
	tr = takenUp(ctx, t, next, o)
	stored, _, err := weights.ReadFile(filepath.Join(next.Encoder.Start, checkpoint.Encoder), func(name string) bool { return name == "projection.weight" })
	if err != nil {
		t.Fatal(err)
	}
	own := tr.encoder.Weights()[len(tr.encoder.Weights())-2]
	if own.Name != "projection.weight" || !reflect.DeepEqual(own.Data, stored[0].Data) {
		t.Errorf("%s is not the checkpoint's projection", own.Name)
	}
	next.Encoder.Transformer.Projection = 41
	o.Out += "-other"
	_, err = Run(ctx, next, o)
	refused(t, err, "has a projection to 40 numbers, but encoder.transformer.projection is 41")
}

// TestExportOfLongerSentences: an encoder that was trained on short sentences reads as long ones as its start, if the
// preset says so, and no longer ones.
func TestExportOfLongerSentences(t *testing.T) {
	ctx := limited(t)
	first, next, o := follows(t, transformer)
	next.Bitext.MaxTokens, next.Bitext.Buckets, next.Export.MaxTokens = 6, nil, first.Bitext.MaxTokens
	if _, err := Run(ctx, next, o); err != nil {
		t.Fatal(err)
	}
	m, err := model.Load(filepath.Join(o.Out, modelDir))
	if err != nil || m.MaxTokens != first.Bitext.MaxTokens {
		t.Errorf("the exported encoder reads %d tokens, its start %d: %v", m.MaxTokens, first.Bitext.MaxTokens, err)
	}
	next.Export.MaxTokens++
	o.Out += "-longer"
	_, err = Run(ctx, next, o)
	refused(t, err, "export.max_tokens is "+strconv.Itoa(next.Export.MaxTokens))
}

// TestStartsThatAreRefused: each is one sentence that says what to give.
func TestStartsThatAreRefused(t *testing.T) {
	rewritten := func(change func([]*weights.Tensor, map[string]string) []*weights.Tensor) func(*testing.T, *Config) {
		return func(t *testing.T, c *Config) {
			path := filepath.Join(c.Encoder.Start, checkpoint.Encoder)
			tensors, metadata, err := weights.ReadFile(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := weights.WriteFile(path, change(tensors, metadata), metadata); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(c.Encoder.Start, "state.json")); err != nil { // it has the digest
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name, want string
		kind       string
		change     func(*testing.T, *Config)
	}{
		{"no such directory", "name a checkpoint of a training", "bag", func(_ *testing.T, c *Config) { c.Encoder.Start += "-gone" }},
		{"the training in place of its checkpoint", "name a checkpoint of a training", "bag", func(_ *testing.T, c *Config) {
			c.Encoder.Start = filepath.Dir(filepath.Dir(c.Encoder.Start))
		}},
		{"other dimensions", "bag.pieces has the shape", "bag", func(_ *testing.T, c *Config) { c.Encoder.Bag.Dim++ }},
		{"other n-grams", "n-grams of 3 to 4 characters, but encoder.bag.ngrams are of 3 to 5", "bag with n-grams", func(_ *testing.T, c *Config) { c.Encoder.Bag.NGrams.Max = 5 }},
		{"n-grams where there were none", "n-grams of 0 to 0", "bag", func(_ *testing.T, c *Config) { c.Encoder.Bag.NGrams = encoder.NGrams{Min: 3, Max: 4} }},
		{"another kind", "is of a transformer, but encoder.kind is bag", "transformer", func(_ *testing.T, c *Config) { c.Encoder.Kind = "bag" }},
		{"another vocabulary", "another vocabulary", "bag", func(t *testing.T, c *Config) {
			c.Tokenizer.File = filepath.Join(t.TempDir(), "other.model")
			options := words.DefaultVocabularyOptions()
			options.Size, options.Threads = 300, 2
			err := words.TrainVocabulary(c.Tokenizer.File, options, func(yield func(string, error) bool) {
				for _, s := range english(t) {
					if !yield(s, nil) {
						return
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}},
		{"a tensor too few", "layers.0.attention.query.bias is missing", "transformer", rewritten(func(all []*weights.Tensor, _ map[string]string) []*weights.Tensor {
			var kept []*weights.Tensor
			for _, w := range all {
				if w.Name != "layers.0.attention.query.bias" {
					kept = append(kept, w)
				}
			}
			return kept
		})},
		{"a tensor of another shape", "has the shape [32] instead of", "transformer", rewritten(func(all []*weights.Tensor, _ map[string]string) []*weights.Tensor {
			for _, w := range all {
				if w.Name == "layers.0.ffn.in.bias" {
					w.Shape, w.Data = []int{32}, w.Data[:32]
				}
			}
			return all
		})},
		{"no word of what it is of", "does not say what encoder it is of", "bag", rewritten(func(all []*weights.Tensor, metadata map[string]string) []*weights.Tensor {
			clear(metadata)
			return all
		})},
		{"weights cut short", "is damaged, its digest is not that of state.json: remove the checkpoint", "transformer", func(t *testing.T, c *Config) {
			if err := os.Truncate(filepath.Join(c.Encoder.Start, checkpoint.Encoder), 100); err != nil {
				t.Fatal(err)
			}
		}},
		{"another shape", "encoder.transformer.width is", "transformer", func(_ *testing.T, c *Config) { c.Encoder.Transformer.Width++ }},
		{"a first token that is no piece", "the training preset: tokenizer.bos is \"[CLS]\"", "bag", func(_ *testing.T, c *Config) {
			c.Tokenizer.BOS = &model.Token{Piece: "[CLS]"}
		}},
		{"weights that changed", "is damaged, its digest is not that of state.json", "bag", func(t *testing.T, c *Config) {
			traintest.Write(t, filepath.Join(c.Encoder.Start, checkpoint.Encoder), "other weights")
		}},
		{"no safetensors", "cannot be read as safetensors", "bag", func(t *testing.T, c *Config) {
			if err := os.Remove(filepath.Join(c.Encoder.Start, "state.json")); err != nil {
				t.Fatal(err)
			}
			traintest.Write(t, filepath.Join(c.Encoder.Start, checkpoint.Encoder), "no tensors")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, next, o := follows(t, startKinds[c.kind])
			c.change(t, &next)
			_, err := Run(limited(t), next, o)
			refused(t, err, c.want)
		})
	}
}
