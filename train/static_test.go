package train

import (
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/train/traintest"
)

// ofStatic turns a tiny preset into one of a static encoder.
func ofStatic(t *testing.T) func(*Config) {
	return func(c *Config) {
		dir := filepath.Join(t.TempDir(), "start")
		traintest.WriteStatic(t, dir, c.Tokenizer.File, 4)
		c.Encoder.Kind, c.Encoder.Start, c.Encoder.Static.Bits, c.Tokenizer.File = "static", dir, 8, ""
	}
}

// TestStaticEncoder trains a static encoder, with its own tokenizer, and its export again. With so small a rate that
// nothing moves, the export is the start.
func TestStaticEncoder(t *testing.T) {
	ctx := limited(t)
	c, o := tiny(t, ofStatic(t))
	c.Steps, c.Optimiser.LearningRate, c.Optimiser.Schedule = 1, 1e-12, "constant"
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(ctx, c, o); err != nil {
		t.Fatal(err)
	}
	texts := english(t)[:20]
	vectors := func(ref string) (*model.Model, []float32) {
		m, err := model.Load(ref)
		if err != nil {
			t.Fatal(err)
		}
		e := traintest.OpenModel(t, m)
		out := make([]float32, len(texts)*e.Dim())
		if err := e.Encode(ctx, "en", texts, out); err != nil {
			t.Fatal(err)
		}
		return m, out
	}
	start, want := vectors(c.Encoder.Start)
	m, got := vectors(filepath.Join(o.Out, modelDir))
	for i := range want {
		if d := got[i] - want[i]; d > 1e-2 || d < -1e-2 {
			t.Fatalf("number %d is off by %g from the start's", i, d)
		}
	}
	if m.Licence != start.Licence || len(m.TrainedOn) < len(start.TrainedOn) || m.Tokenizer.BOS == nil || !m.Tokens.Static {
		t.Errorf("the manifest is %+v", m.Manifest)
	}
	again, next := c, o
	again.Encoder.Start, next.Out = filepath.Join(o.Out, modelDir), o.Out+"-again"
	again.Steps, again.Optimiser.LearningRate = 20, 2e-2
	if _, err := Run(ctx, again, next); err != nil {
		t.Error(err)
	}
	log := losses(t, next)
	first, last := 0.0, 0.0
	for i := range 5 {
		first, last = first+log[i], last+log[len(log)-1-i]
	}
	if last > 0.9*first {
		t.Errorf("the loss does not fall: %v", log)
	}
}

func TestStaticEncodersThatAreNone(t *testing.T) {
	for says, change := range map[string]func(*Config){
		"needs encoder.start":            func(c *Config) { c.Encoder.Start = "" },
		"tokenizer.file cannot":          func(c *Config) { c.Tokenizer.File = "spm.model" },
		"bits is 5":                      func(c *Config) { c.Encoder.Static.Bits = 5 },
		"shared_embedding does not":      by("ems", set{"shared_embedding": true}),
		"is no static encoder":           func(c *Config) { c.Encoder.Start = encodetest.Bag() },
		"encoder.start: no encoder":      func(c *Config) { c.Encoder.Start = filepath.Join(t.TempDir(), "none") },
		"which are available only with ": func(c *Config) { by("wacse", nil)(c) },
	} {
		c, o := tiny(t, all(ofStatic(t), change))
		err := c.Validate()
		if err == nil {
			_, err = Run(limited(t), c, o)
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
}
