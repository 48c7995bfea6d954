package train

import (
	"math"
	"testing"

	"bitextmine/train/layers"
)

// bfloat16 turns a tiny preset into one of a transformer whose products are in bfloat16, where there are such products.
func bfloat16(c *Config) {
	transformer(c)
	c.Encoder.Transformer.Precision = layers.BFloat16
}

// TestLossesInBFloat16: over 40 steps they stay within 2% of float32's (seen: 0.6%), and fall; the exported encoder is
// float32's arithmetic, or the export were refused.
func TestLossesInBFloat16(t *testing.T) {
	var curves [2][]float64
	for i, change := range []func(*Config){transformer, bfloat16} {
		config, o := tiny(t, all(change, func(c *Config) { c.Steps = 40 }))
		o.Device = "go"
		if _, err := Run(limited(t), config, o); err != nil {
			t.Fatal(err)
		}
		curves[i] = losses(t, o)
	}
	want, got := curves[0], curves[1]
	if len(got) != 40 || !(got[39] < got[0]/1.5) {
		t.Fatalf("%d losses, %v", len(got), got)
	}
	worst := 0.0
	for i := range want {
		worst = max(worst, math.Abs(got[i]-want[i])/want[i])
	}
	if !(worst <= 0.02) || worst == 0 {
		t.Errorf("the losses are off by up to %.4f of float32's, want more than 0 and at most 0.02", worst)
	}
}
