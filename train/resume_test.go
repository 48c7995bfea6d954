package train

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bitextmine/internal/lockfile"
	"bitextmine/train/checkpoint"

	"bitextmine/train/layers"
)

// TestResumeIsExact: six steps, and three and then three more by a Run of its own, give the same losses and the same
// bytes.
func TestResumeIsExact(t *testing.T) {
	adafactor := func(c *Config) {
		c.Optimiser.Kind, c.Optimiser.Schedule, c.Optimiser.Warmup, c.Optimiser.Clip = "adafactor", "inverse_sqrt", 2, 1
	}
	for name, change := range map[string]func(*Config){
		"transformer, bfloat16": bfloat16,
		"bag, adam":             func(c *Config) { c.Encoder.Bag.WordDropout = 0.1 },
		"bag, adafactor":        adafactor,
		"bag, amsgrad": func(c *Config) {
			c.Optimiser.Kind, c.Optimiser.Schedule, c.Optimiser.Cycles = "amsgrad", "cosine_restarts", 2
		},
		"bag, hard negatives":    by("muse", nil),
		"static":                 all(ofStatic(t), by("muse", nil)),
		"transformer, adam":      transformer,
		"transformer, adafactor": all(transformer, adafactor),
		"transformer, chunks":    all(transformer, func(c *Config) { c.Chunk, c.Accumulate = 8, 2 }),
		"transformer, masks":     all(transformer, by("ems", set{"reconstruction": "ugt"})),
		"mexma":                  all(masked, by("mexma", smallHead)),
		"vmsst":                  all(transformer, adafactor, by("vmsst", smallDecoder), func(c *Config) { c.Encoder.Transformer.Projection = 24 }),
		"wacse":                  all(masked, by("wacse", nil), func(c *Config) { c.Bitext.BothWays = true }),
	} {
		t.Run(name, func(t *testing.T) {
			ctx := limited(t)
			config, o := tiny(t, all(change, func(c *Config) { c.Steps, c.EvalEvery = 6, 3 }))
			if config.Encoder.Transformer.Precision == layers.BFloat16 {
				o.Device = "go" // which has it
			}
			resumesExactly(ctx, t, config, o)
		})
	}
}

// resumesExactly trains six steps, and three and then three more, and compares losses and checkpoints.
func resumesExactly(ctx context.Context, t *testing.T, config Config, o Options) {
	t.Helper()
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
	for _, file := range []string{checkpoint.Encoder, checkpoint.Heads, checkpoint.Optimiser} {
		if !bytes.Equal(lastCheckpoint(t, o, file), lastCheckpoint(t, broken, file)) {
			t.Errorf("%s differs", file)
		}
	}
}

// TestResumeAfterPatience: a training that its metric ended is over, so going on with it only exports again.
func TestResumeAfterPatience(t *testing.T) {
	ctx := limited(t)
	config, o := tiny(t, all(evaluated, func(c *Config) {
		c.Steps, c.EvalEvery, c.Optimiser.LearningRate = 40, 1, 1e-9 // so that nothing grows
		c.Stop.Metric, c.Stop.Patience = "tatoeba epo accuracy", 2
	}))
	first, err := Run(ctx, config, o)
	if err != nil || first.Reason == "" || first.Steps == config.Steps {
		t.Fatalf("%+v, %v", first, err)
	}
	o.Resume = true
	again, err := Run(ctx, config, o)
	if err != nil || again.Steps != first.Steps || again.Best != first.Best || again.Reason != first.Reason {
		t.Errorf("%+v after %+v, %v", again, first, err)
	}
	config.Stop.Metric = "tatoeba epo accuracy_forward" // of which the kept checkpoints say that it has not grown once
	if other, err := Run(ctx, config, o); err != nil || other.Steps != first.Steps+1 {
		t.Errorf("by another metric it ended at step %d, after %d, %v", other.Steps, first.Steps, err)
	}
}

// TestResumeBesideABrokenCheckpoint: an older one that is half removed is named and ignored, one whose content changed
// is refused.
func TestResumeBesideABrokenCheckpoint(t *testing.T) {
	ctx := limited(t)
	config, o := tiny(t, all(evaluated, func(c *Config) {
		c.Steps, c.EvalEvery, c.Stop.Metric, c.Stop.Keep = 6, 2, "tatoeba epo accuracy", 5
	}))
	if _, err := Run(ctx, config, o); err != nil {
		t.Fatal(err)
	}
	want := lastCheckpoint(t, o, checkpoint.Encoder)
	d := newTrainer(config, o).checkpoints
	for _, path := range []string{filepath.Join(d.At(2), "state.json"), filepath.Join(d.At(2), checkpoint.Heads), d.At(6)} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	o.Resume = true
	told := ""
	o.Report = func(what string) { told += what + "\n" }
	if _, err := Run(ctx, config, o); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(told, "the checkpoint "+d.At(2)+" is incomplete") || !strings.Contains(told, "resume at step 4") {
		t.Errorf("it told\n%s", told)
	}
	if !bytes.Equal(lastCheckpoint(t, o, checkpoint.Encoder), want) {
		t.Error("the resumed training has other weights")
	}
	path := filepath.Join(d.At(6), checkpoint.Optimiser)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Run(ctx, config, o)
	refused(t, err, path+" is damaged")
	for _, step := range []int{4, 6} {
		if err := os.RemoveAll(d.At(step)); err != nil {
			t.Fatal(err)
		}
	}
	_, err = Run(ctx, config, o)
	refused(t, err, "and there is no other: remove it to begin again")
}

// TestOneTrainingInADirectory: a second one is refused by the lock, before it reads or writes anything.
func TestOneTrainingInADirectory(t *testing.T) {
	config, o := tiny(t, nil)
	release, err := Lock(o.Out)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = release() }()
	_, err = Run(limited(t), config, o)
	if locked := (*lockfile.Locked)(nil); !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Errorf("a second training gave %v", err)
	}
	if entries, err := os.ReadDir(o.Out); err != nil || len(entries) != 1 {
		t.Errorf("it left %v, %v", entries, err)
	}
}

// stopAfter runs until the evaluation after some steps and one step more, as a training that is stopped does.
func stopAfter(ctx context.Context, t *testing.T, config Config, o Options, steps int) {
	t.Helper()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	o.Progress = func(l JournalLine, _ time.Duration) {
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
	lines, err := readJournal(o.Out)
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
	c := checkpoint.Dir{Path: filepath.Join(o.Out, checkpointsDir)}
	all, _, err := c.List()
	if err != nil || len(all) == 0 {
		t.Fatalf("%d checkpoints, %v", len(all), err)
	}
	text, err := os.ReadFile(filepath.Join(c.At(all[len(all)-1].Step), file))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
