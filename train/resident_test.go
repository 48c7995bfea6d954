package train

import (
	"math"
	"testing"

	"bitextmine/internal/pjrt/pjrttest"
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
			resumesExactly(ctx, t, config, o) // each run compares the export with the trainer's vectors
			sameLosses(t, losses(t, o), losses(t, host))
		})
	}
}

// sameLosses compares those of a device with those of the host.
func sameLosses(t *testing.T, got, want []float64) {
	t.Helper()
	for i := range want {
		if off := math.Abs(got[i] - want[i]); !(off <= 1e-3*math.Abs(want[i])) {
			t.Errorf("step %d: the loss is %v on the device, %v on the host", i+1, got[i], want[i])
		}
	}
	if want[5] == want[0] {
		t.Error("nothing was learned")
	}
}
