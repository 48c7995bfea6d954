package train

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode/model"
	"bitextmine/train/encoder"
	"bitextmine/train/layers"
	"bitextmine/train/objective"
	"bitextmine/train/traintest"
)

// onwards is a preset that adapts what a preset's training exported.
func onwards(t *testing.T, change func(*Config)) (Config, Options) {
	t.Helper()
	first, o := tiny(t, all(transformer, func(c *Config) {
		c.Tokenizer.BOS, c.Tokenizer.EOS = &model.Token{Piece: "<s>"}, &model.Token{Piece: "</s>"}
	}))
	if _, err := Run(limited(t), first, o); err != nil {
		t.Fatal(err)
	}
	next := first
	next.Encoder = encoder.Defaults()
	next.Encoder.Kind, next.Encoder.Start = "imported", filepath.Join(o.Out, modelDir)
	next.Tokenizer.File = ""
	if change != nil {
		change(&next)
	}
	o.Out += "-next"
	return next, o
}

// TestImported: adapters of an encoder of the ONNX file alone learn, are merged, and the export is run as its start.
func TestImported(t *testing.T) {
	ctx := limited(t)
	next, o := onwards(t, func(c *Config) {
		c.Encoder.Imported.LoRA = layers.LoRA{Rank: 4, Alpha: 8}
		c.Objective = objective.Default("ems") // it needs tokens
	})
	if _, err := Run(ctx, next, o); err != nil {
		t.Fatal(err)
	}
	was, err := model.Load(next.Encoder.Start)
	if err != nil {
		t.Fatal(err)
	}
	is, err := model.Load(filepath.Join(o.Out, modelDir))
	if err != nil {
		t.Fatal(err)
	}
	if is.Inputs != was.Inputs || is.Output != was.Output || is.Tokens != was.Tokens || is.Dim != was.Dim {
		t.Errorf("the export is run as %+v, %s; its start as %+v, %s", is.Inputs, is.Output, was.Inputs, was.Output)
	}
	before, after := traintest.Open(t, next.Encoder.Start), traintest.Open(t, filepath.Join(o.Out, modelDir))
	texts := english(t)[:4]
	a, b := make([]float32, len(texts)*was.Dim), make([]float32, len(texts)*was.Dim)
	if err := before.Encode(ctx, "en", texts, a); err != nil {
		t.Fatal(err)
	}
	if err := after.Encode(ctx, "en", texts, b); err != nil {
		t.Fatal(err)
	}
	if slices.Equal(a, b) {
		t.Error("training changed no vector")
	}
}

// TestImportedIsNoJudge: the graph of an imported encoder reads one sentence at a time.
func TestImportedIsNoJudge(t *testing.T) {
	next, o := onwards(t, func(c *Config) { c.Objective = objective.Default("judge") })
	_, err := Run(limited(t), next, o)
	refused(t, err, "the objective judge makes a judge, but an encoder of kind imported is exported as it was")
	m, err := model.Load(next.Encoder.Start)
	if err != nil {
		t.Fatal(err)
	}
	m.Tokenizer.BOS = nil
	if err := writeManifest(m.Manifest, next.Encoder.Start); err != nil {
		t.Fatal(err)
	}
	o.Out += "-first"
	_, err = Run(limited(t), next, o)
	refused(t, err, "the tokenizer of encoder.start: the objective judge needs a first token")
}

// TestImportedSettings: what cannot be is refused by name before anything is read.
func TestImportedSettings(t *testing.T) {
	for _, c := range []struct {
		says   string
		change func(*Config)
	}{
		{"encoder.kind imported needs encoder.start", func(c *Config) { c.Encoder.Start = "" }},
		{"tokenizer.file cannot be given with encoder.kind imported", func(c *Config) { c.Tokenizer.File = "spm.model" }},
		{"encoder.imported.lora freezes all other weights", func(c *Config) {
			c.Encoder.Imported.LoRA = layers.LoRA{Rank: 4, Alpha: 8}
			c.Encoder.Freeze.Layers = 1
		}},
		{"encoder.imported: precision is \"float8\"", func(c *Config) { c.Encoder.Imported.Precision = "float8" }},
		{"lora.alpha is 8 but has no effect without lora.rank", func(c *Config) { c.Encoder.Imported.LoRA = layers.LoRA{Alpha: 8} }},
		{"encoder.imported: lora.alpha is 0", func(c *Config) { c.Encoder.Imported.LoRA = layers.LoRA{Rank: 4} }},
	} {
		config, _ := tiny(t, func(config *Config) {
			config.Encoder.Kind, config.Encoder.Start, config.Tokenizer.File = "imported", "somewhere", ""
			c.change(config)
		})
		if err := config.Validate(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
}
