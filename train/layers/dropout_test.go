package layers

import (
	"math"
	"testing"
)

func TestMaskKeepsItsShare(t *testing.T) {
	for _, p := range []float64{0, 0.1, 0.9} {
		mask := make([]uint8, 100_001)
		fillMask(mask, 1, parts(p))
		kept := 0
		for _, m := range mask {
			kept += int(m)
		}
		factor := NewDropout(nil, p).kept
		if share := float64(kept) / float64(len(mask)); math.Abs(share-(1-p)) > 0.004 || math.Abs(factor*(1-p)-1) > 1e-3 {
			t.Errorf("p = %v: %.4f of a mask stayed, times %v", p, share, factor)
		}
	}
}

// TestKeepAttention: no mask is drawn for the shares of attention, and the others stay.
func TestKeepAttention(t *testing.T) {
	s := Shape{Heads: 2, Width: 4}
	all := s.MaskShapes(3, 5)
	s.KeepAttention = true
	if kept := s.MaskShapes(3, 5); len(all) != 3 || len(kept) != 2 || !kept[0].Equal(all[1]) || !kept[1].Equal(all[2]) {
		t.Errorf("%v, then %v", all, kept)
	}
}
