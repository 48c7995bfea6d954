package train

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"bitextmine/train/layers"
)

// TestResumeIsExact: six steps, and three and then three more by a Run of its own, give the same losses and the same
// bytes.
func TestResumeIsExact(t *testing.T) {
	adafactor := func(c *Config) {
		c.Optimiser.Kind, c.Optimiser.Schedule, c.Optimiser.Warmup, c.Optimiser.Clip = "adafactor", "inverse_sqrt", 2, 1
	}
	for name, change := range map[string]func(*Config){
		"transformer, bfloat16":  bfloat16,
		"bag, adam":              func(c *Config) { c.Encoder.Bag.WordDropout = 0.1 },
		"bag, adafactor":         adafactor,
		"bag, hard negatives":    by("muse", nil),
		"transformer, adam":      transformer,
		"transformer, adafactor": all(transformer, adafactor),
		"transformer, chunks":    all(transformer, func(c *Config) { c.Chunk, c.Accumulate = 8, 2 }),
		"transformer, masks":     all(transformer, by("ems", set{"reconstruction": "ugt"})),
	} {
		t.Run(name, func(t *testing.T) {
			ctx := limited(t)
			config, o := tiny(t, all(change, func(c *Config) { c.Steps, c.EvalEvery = 6, 3 }))
			if config.Encoder.Transformer.Precision == layers.BFloat16 {
				o.Device = "go" // which has it
			}
			if _, err := Run(ctx, config, o); err != nil {
				t.Fatal(err)
			}
			broken := o
			broken.Out += "-broken"
			stopAfter(ctx, t, config, broken, 3)
			broken.Resume = true
			if _, err := Run(ctx, config, broken); err != nil {
				t.Fatal(err)
			}
			want, got := losses(t, o), losses(t, broken)
			if len(want) != 6 || len(got) != 6 {
				t.Fatalf("%d and %d losses", len(want), len(got))
			}
			for i := range want {
				if want[i] != got[i] {
					t.Errorf("step %d: %v in one go, %v resumed", i+1, want[i], got[i])
				}
			}
			for _, file := range []string{encoderFile, headsFile, optimiserFile} {
				if !bytes.Equal(lastCheckpoint(t, o, file), lastCheckpoint(t, broken, file)) {
					t.Errorf("%s differs", file)
				}
			}
		})
	}
}

// stopAfter runs until the judgement after some steps, and then one step more, as a training that is stopped does.
func stopAfter(ctx context.Context, t *testing.T, config Config, o Options, steps int) {
	t.Helper()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	o.Progress = func(l Line, _ time.Duration) {
		if l.Step == steps+1 {
			stop()
		}
	}
	if _, err := Run(ctx, config, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("a stopped training ended with %v", err)
	}
}

func losses(t *testing.T, o Options) (all []float64) {
	t.Helper()
	lines, err := readJournal(filepath.Join(o.Out, logFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		if l.Terms != nil {
			all = append(all, l.Loss)
		}
	}
	return all
}

func lastCheckpoint(t *testing.T, o Options, file string) []byte {
	t.Helper()
	c := checkpoints{filepath.Join(o.Out, checkpointsDir)}
	all, err := c.list()
	if err != nil || len(all) == 0 {
		t.Fatalf("%d checkpoints, %v", len(all), err)
	}
	text, err := os.ReadFile(filepath.Join(c.path(all[len(all)-1].Step), file))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
