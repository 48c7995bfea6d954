package train

import (
	"bytes"
	"math"
	"os"
	"testing"

	"bitextmine/internal/pjrt/pjrttest"
	"bitextmine/train/checkpoint"
)

// TestWeightsStayOnTheDevice: a training whose weights stay there has the losses of one on the host within rounding,
// its checkpoints hold what was learned, and a resumed one gives the same bytes.
func TestWeightsStayOnTheDevice(t *testing.T) {
	plugin := "xla:" + pjrttest.Plugin(t)
	for name, change := range map[string]func(*Config){
		"contrastive": all(transformer, func(c *Config) { c.Optimiser.Clip, c.Accumulate = 1, 2 }),
		"mexma":       all(masked, by("mexma", smallHead), func(c *Config) { c.Optimiser.Kind = "adamw"; c.Optimiser.WeightDecay = 0.01 }),
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context() // compiling takes long on a busy machine
			config, o := tiny(t, all(change, func(c *Config) { c.Steps, c.EvalEvery = 6, 3 }))
			host := o
			host.Out += "-host"
			if _, err := Run(ctx, config, host); err != nil {
				t.Fatal(err)
			}
			o.Device = plugin
			if _, err := Run(ctx, config, o); err != nil { // which compares the export with the trainer's vectors
				t.Fatal(err)
			}
			want, got := losses(t, host), losses(t, o)
			for i := range want {
				if off := math.Abs(float64(got[i] - want[i])); !(off <= 1e-3*math.Abs(float64(want[i]))) {
					t.Errorf("step %d: the loss is %v on the device, %v on the host", i+1, got[i], want[i])
				}
			}
			if want[5] == want[0] {
				t.Error("nothing was learned")
			}
			broken := o
			broken.Out += "-broken"
			stopAfter(ctx, t, config, broken, 3)
			broken.Resume = true
			if _, err := Run(ctx, config, broken); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{checkpoint.Encoder, checkpoint.Heads, checkpoint.Optimiser} {
				if !bytes.Equal(lastCheckpoint(t, o, file), lastCheckpoint(t, broken, file)) {
					t.Errorf("%s differs", file)
				}
			}
			if err := os.RemoveAll(broken.Out); err != nil {
				t.Fatal(err)
			}
		})
	}
}
