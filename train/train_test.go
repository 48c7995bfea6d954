package train

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/train/device"
	"bitextmine/train/encoder"
)

// TestTinyTraining: the loss falls, held-out sentences find their translations, and mining opens what was exported.
func TestTinyTraining(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Config)
		floor  float64 // % of the held-out sentences that find their translation; by chance it is 1
	}{
		{"bag", func(c *Config) { // has a vocabulary of its own
			c.Steps, c.Tokenizer.File, c.Vocabulary.Size, c.Vocabulary.Threads = 100, "", 900, 2
		}, 80},
		{"transformer", all(transformer, func(c *Config) { c.Steps = 160 }), 50},
		{"transformer with a pooler and a projection", all(transformer, func(c *Config) {
			c.Steps, c.Encoder.Transformer.Pooling, c.Encoder.Transformer.Projection = 160, encoder.Pooler, 48
		}), 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := limited(t)
			config, o := tiny(t, all(c.change, evaluated))
			summary, err := Run(ctx, config, o)
			if err != nil {
				t.Fatal(err)
			}
			lines, err := readJournal(o.Out)
			if err != nil {
				t.Fatal(err)
			}
			if first, last := lines[0].Loss, lines[config.Steps-1].Loss; !(last < first/2) {
				t.Errorf("the loss went from %v to %v", first, last)
			}
			if accuracy := summary.Dev["tatoeba epo accuracy"]; accuracy < c.floor {
				t.Errorf("held-out sentences: %v, want %v%% or more", summary.Dev, c.floor)
			}
			for _, file := range []string{configFile, journalFile, "spm.model", "model/README.md"} {
				if _, err := os.Stat(filepath.Join(o.Out, file)); err != nil {
					t.Error(err)
				}
			}
			compare(ctx, t, config, o, summary.Model)
		})
	}
}

// compare holds the exported encoder against the one of the training's last checkpoint.
func compare(ctx context.Context, t *testing.T, config Config, o Options, dir string) {
	t.Helper()
	model, err := model.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	exported, err := encode.Open(model, encode.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = exported.Close() }()
	tr := takenUp(ctx, t, config, o)
	// Scorers and calibration read the tokens of an encoder.
	tokens, err := encode.OpenTokens(model, encode.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tokens.Close() }()
	if tokens.Dim() != tr.encoder.Weights()[0].Shape[1] || tokens.Static() != (config.Encoder.Kind == "bag") {
		t.Errorf("its tokens have %d dimensions, static %v", tokens.Dim(), tokens.Static())
	}
	x, err := newExport(&tr.parts)
	if err != nil {
		t.Fatal(err)
	}
	exact := x.exact
	texts := slices.Concat(english(t)[:20], []string{"x", "Zürich, 2024!"})
	want, got := make([]float32, len(texts)*exported.Dim()), make([]float32, len(texts)*exported.Dim())
	if err := errors.Join(exact.Encode(ctx, "en", texts, want), exported.Encode(ctx, "en", texts, got)); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if d := math.Abs(float64(want[i] - got[i])); !(d <= agreement) {
			t.Fatalf("the exported vector of %q is off by %v", texts[i/exported.Dim()], d)
		}
	}
}

// takenUp is a training as Run has it before its next step.
func takenUp(ctx context.Context, t *testing.T, config Config, o Options) *trainer {
	t.Helper()
	o.Resume = true
	tr := newTrainer(config, o)
	var err error
	if tr.state, err = openDirectory(&tr.config, &tr.options, tr.checkpoints); err != nil {
		t.Fatal(err)
	}
	backend, err := device.Open(o.Device, o.Library)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(backend.Finalize)
	t.Cleanup(func() { _ = tr.close() })
	if err := tr.prepare(ctx, backend); err != nil {
		t.Fatal(err)
	}
	return tr
}
