package train

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"bitextmine/internal/pjrt/pjrttest"
	"bitextmine/train/checkpoint"
	"bitextmine/train/encoder"

	"bitextmine/train/layers"
	"bitextmine/train/traintest"
	"bitextmine/train/weights"
)

// partlyFrozen is a preset that starts from a training of two layers, and freezes some of it.
func partlyFrozen(t *testing.T, freeze encoder.FrozenSettings, change func(*Config)) (Config, Options) {
	t.Helper()
	_, next, o := follows(t, all(transformer, func(c *Config) {
		c.Encoder.Transformer.Layers, c.Encoder.Transformer.Norm = 2, layers.PostNorm
	}))
	next.Encoder.Freeze, next.Steps = freeze, 4
	by("contrastive", nil)(&next)
	if change != nil {
		change(&next)
	}
	return next, o
}

func stored(t *testing.T, dir, file string) map[string]*weights.Tensor {
	t.Helper()
	tensors, _, err := weights.ReadFile(filepath.Join(dir, file), nil)
	if err != nil {
		t.Fatal(err)
	}
	return byName(tensors)
}

func byName(tensors []*weights.Tensor) map[string]*weights.Tensor {
	all := map[string]*weights.Tensor{}
	for _, w := range tensors {
		all[w.Name] = w
	}
	return all
}

// TestFrozenWeights: they keep their bytes, and neither they nor their moments are in checkpoints. Everything else
// learns as it does with nothing frozen. Run compares the export, which has all weights, with the trainer's vectors.
func TestFrozenWeights(t *testing.T) {
	for name, c := range map[string]struct {
		freeze   encoder.FrozenSettings
		prefixes []string
		change   func(*Config)
	}{
		"embeddings":                  {encoder.FrozenSettings{Embeddings: true}, []string{"embeddings."}, nil},
		"a layer":                     {encoder.FrozenSettings{Layers: 1}, []string{"layers.0."}, nil},
		"both":                        {encoder.FrozenSettings{Embeddings: true, Layers: 1}, []string{"embeddings.", "layers.0."}, nil},
		"all but a projection":        {encoder.FrozenSettings{Embeddings: true, Layers: 2}, []string{"embeddings.", "layers."}, func(c *Config) { c.Encoder.Transformer.Projection = 24 }},
		"a table that the loss reads": {encoder.FrozenSettings{Embeddings: true}, []string{"embeddings."}, by("ems", set{"shared_embedding": true})},
		"both, in small chunks":       {encoder.FrozenSettings{Embeddings: true, Layers: 1}, []string{"embeddings.", "layers.0."}, func(c *Config) { c.Chunk = 8 }},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := limited(t)
			config, o := partlyFrozen(t, c.freeze, c.change)
			config.Steps, config.Optimiser.Schedule = 1, "constant"
			free, other := config, o
			free.Encoder.Freeze = encoder.FrozenSettings{}
			other.Out += "-free"
			for _, run := range []func() error{
				func() error { _, err := Run(ctx, config, o); return err },
				func() error { _, err := Run(ctx, free, other); return err },
			} {
				if err := run(); err != nil {
					t.Fatal(err)
				}
			}
			last := func(o Options) string { return checkpoint.Dir{Path: filepath.Join(o.Out, checkpointsDir)}.At(1) }
			before, learned, moments := stored(t, config.Encoder.Start, checkpoint.Encoder), stored(t, last(o), checkpoint.Encoder), stored(t, last(o), checkpoint.Optimiser)
			unfrozen := stored(t, last(other), checkpoint.Encoder)
			complete, _, err := encoder.ReadFrozen(last(o))
			if err != nil {
				t.Fatal(err)
			}
			after := byName(complete)
			if len(after) != len(unfrozen) || len(learned) == len(after) {
				t.Errorf("%d weights, of which %d are in the checkpoint; with nothing frozen there are %d", len(after), len(learned), len(unfrozen))
			}
			for name, w := range after {
				kept := false
				for _, prefix := range c.prefixes {
					kept = kept || strings.HasPrefix(name, prefix)
				}
				if !kept {
					if learned[name] == nil || moments["adam.m/"+name] == nil {
						t.Errorf("%s is not in the checkpoint, or its moments are not", name)
					}
					if !strings.HasSuffix(name, ".key.bias") { // whose gradient is rounding alone
						traintest.Near(t, name, w.Data, unfrozen[name].Data, 1e-5)
					}
					continue
				}
				if learned[name] != nil || moments["adam.m/"+name] != nil {
					t.Errorf("%s is in the checkpoint, or its moments are", name)
				}
				if !reflect.DeepEqual(w.Data, before[name].Data) {
					t.Errorf("%s changed", name)
				}
				if reflect.DeepEqual(unfrozen[name].Data, before[name].Data) && !strings.HasSuffix(name, ".key.bias") {
					t.Errorf("%s does not learn when it is not frozen", name)
				}
			}
		})
	}
}

// TestAdapters: adapters alone learn and are in checkpoints, and a training that starts from one has them merged. Run
// compares the export with the trainer's vectors.
func TestAdapters(t *testing.T) {
	ctx := limited(t)
	config, o := partlyFrozen(t, encoder.FrozenSettings{}, func(c *Config) {
		c.Encoder.Transformer.LoRA, c.Steps, c.EvalEvery = layers.LoRA{Rank: 2, Alpha: 4}, 6, 3
		c.Optimiser.LearningRate = 0.05
	})
	resumesExactly(ctx, t, config, o)
	last := checkpoint.Dir{Path: filepath.Join(o.Out, checkpointsDir)}.At(6)
	before, learned := stored(t, config.Encoder.Start, checkpoint.Encoder), stored(t, last, checkpoint.Encoder)
	for name := range learned {
		if !strings.Contains(name, ".lora.") {
			t.Errorf("%s is in the checkpoint", name)
		}
	}
	if len(learned) != 2*6*2 { // two layers' six matrices
		t.Errorf("the checkpoint has %d tensors", len(learned))
	}
	merged, _, err := encoder.ReadFrozen(last)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range merged {
		matrix := strings.HasPrefix(w.Name, "layers.") && strings.HasSuffix(w.Name, ".weight")
		if same := reflect.DeepEqual(w.Data, before[w.Name].Data); same == matrix {
			t.Errorf("%s: changed is %v, want %v", w.Name, !same, matrix)
		}
	}
	config.Encoder.Start, config.Encoder.Transformer.LoRA = last, layers.LoRA{}
	o.Out += "-next"
	got := byName(takenUp(ctx, t, config, o).encoder.Weights())
	for _, w := range merged {
		if !reflect.DeepEqual(got[w.Name].Data, w.Data) {
			t.Errorf("%s is not the merged one", w.Name)
		}
	}
	config.Encoder.Transformer.LoRA = layers.LoRA{Rank: 3, Alpha: -1}
	refused(t, config.Validate(), "encoder.transformer.lora.alpha is -1")
	config.Encoder.Transformer.LoRA, config.Encoder.Start = layers.LoRA{Rank: 3, Alpha: 3}, ""
	refused(t, config.Validate(), "encoder.transformer.lora needs encoder.start")
}

// TestNegativesFoundAgain: the encoder finds its hard negatives again every few steps, and a resumed training finds the
// same.
func TestNegativesFoundAgain(t *testing.T) {
	ctx := limited(t)
	config, o := partlyFrozen(t, encoder.FrozenSettings{}, by("muse", set{"negatives": 2, "every": 3, "filter": 0.95}))
	config.Steps, config.EvalEvery = 6, 3
	resumesExactly(ctx, t, config, o)
	found := 0
	o.Report = func(what string) {
		if what == "find hard negatives" {
			found++
		}
	}
	o.Out += "-again"
	if _, err := Run(ctx, config, o); err != nil || found != 2 {
		t.Errorf("they were found %d times, %v", found, err)
	}
	config.EvalEvery = 2
	refused(t, config.Validate(), "objective.every is 3 but must divide eval_every, 2")
}

// TestResumeWithFrozenWeights: a resumed training gives the same bytes; if the frozen weights have changed, it is
// refused.
func TestResumeWithFrozenWeights(t *testing.T) {
	ctx := limited(t)
	config, o := partlyFrozen(t, encoder.FrozenSettings{Embeddings: true, Layers: 1}, func(c *Config) { c.Steps, c.EvalEvery = 6, 3 })
	resumesExactly(ctx, t, config, o)
	changeIn(t, config.Encoder.Start, "layers.0.ffn.in.bias")
	o.Resume = true
	_, err := Run(ctx, config, o)
	refused(t, err, config.Encoder.Start+" no longer has the weights that the training of "+o.Out)
}

// TestStartFromFrozenWeights: a training goes on from one with frozen weights, which are read from where that one read
// them; if they have changed there, it is refused.
func TestStartFromFrozenWeights(t *testing.T) {
	ctx := limited(t)
	config, o := partlyFrozen(t, encoder.FrozenSettings{Embeddings: true, Layers: 1}, nil)
	if _, err := Run(ctx, config, o); err != nil {
		t.Fatal(err)
	}
	var starts []string
	// Each training starts from the one before.
	for i, freeze := range []encoder.FrozenSettings{{}, {Embeddings: true}, {Layers: 1}} {
		config.Encoder.Start = checkpoint.Dir{Path: filepath.Join(o.Out, checkpointsDir)}.At(config.Steps)
		starts = append(starts, config.Encoder.Start)
		want, _, err := encoder.ReadFrozen(config.Encoder.Start)
		if err != nil {
			t.Fatal(err)
		}
		config.Encoder.Freeze = freeze
		o.Out = fmt.Sprintf("%s-%d", o.Out, i)
		begun := o
		begun.Out += "-begun"
		got := byName(takenUp(ctx, t, config, begun).encoder.Weights())
		for _, w := range want {
			if !reflect.DeepEqual(got[w.Name].Data, w.Data) {
				t.Errorf("%s is not the checkpoint's", w.Name)
			}
		}
		if _, err := Run(ctx, config, o); err != nil {
			t.Fatal(err)
		}
	}
	config.Encoder.Start = checkpoint.Dir{Path: filepath.Join(o.Out, checkpointsDir)}.At(config.Steps)
	o.Out += "-last"
	changeIn(t, starts[2], "layers.0.ffn.in.bias")
	_, err := Run(ctx, config, o)
	refused(t, err, starts[2]+" no longer has the weights that the training of "+config.Encoder.Start)
}

// changeIn changes a number of a checkpoint, and removes the digest that would tell.
func changeIn(t *testing.T, dir, name string) {
	t.Helper()
	path := filepath.Join(dir, checkpoint.Encoder)
	tensors, metadata, err := weights.ReadFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	byName(tensors)[name].Data[0]++
	if err := weights.WriteFile(path, tensors, metadata); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "state.json")); err != nil {
		t.Fatal(err)
	}
}

// TestFreezeIsRefused: what cannot be frozen is named before anything is read.
func TestFreezeIsRefused(t *testing.T) {
	start := func(c *Config) {
		c.Encoder.Start, c.Encoder.Transformer = "encoder/testdata/bert", encoder.DefaultSettings()
	}
	freeze := func(s encoder.FrozenSettings) func(*Config) { return func(c *Config) { c.Encoder.Freeze = s } }
	words := freeze(encoder.FrozenSettings{Embeddings: true})
	for want, change := range map[string]func(*Config){
		"encoder.freeze needs encoder.start":                    all(transformer, words),
		"encoder.freeze is for encoder.kind transformer":        all(start, words),
		"encoder.freeze.layers is -1":                           all(transformer, start, freeze(encoder.FrozenSettings{Layers: -1})),
		"encoder.freeze.layers is 3: it must be from 0 to 2":    all(transformer, start, freeze(encoder.FrozenSettings{Layers: 3})),
		"encoder.freeze leaves nothing of the encoder to learn": all(transformer, start, freeze(encoder.FrozenSettings{Embeddings: true, Layers: 2})),
		"gone/config.json is missing":                           all(transformer, words, func(c *Config) { c.Encoder.Start = "gone" }),
	} {
		config, o := tiny(t, change)
		config.Bitext.Sources[0].Files = []string{"nowhere.tsv"}
		err := config.Validate()
		if err == nil {
			_, err = Run(limited(t), config, o)
		}
		refused(t, err, want)
	}
}

// TestFrozenWeightsStayOnTheDevice: a training whose weights stay there has the losses of one on the host within
// rounding, and a resumed one gives the same bytes.
func TestFrozenWeightsStayOnTheDevice(t *testing.T) {
	plugin := "xla:" + pjrttest.Plugin(t)
	for _, freeze := range []encoder.FrozenSettings{{Layers: 1}, {Embeddings: true, Layers: 1}} {
		config, o := partlyFrozen(t, freeze, func(c *Config) { c.Steps, c.EvalEvery = 6, 3 })
		host := o
		host.Out += "-host"
		if _, err := Run(t.Context(), config, host); err != nil {
			t.Fatal(err)
		}
		o.Device = plugin
		resumesExactly(t.Context(), t, config, o)
		sameLosses(t, losses(t, o), losses(t, host))
		before := stored(t, config.Encoder.Start, checkpoint.Encoder)
		if file := lastCheckpoint(t, o, checkpoint.Encoder); bytes.Contains(file, []byte(`"layers.0.`)) || bytes.Contains(file, []byte(`"embeddings.words"`)) == freeze.Embeddings {
			t.Errorf("with %+v the checkpoint has other weights: %d before", freeze, len(before))
		}
	}
}
