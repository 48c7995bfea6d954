package statistic

import "testing"

func TestMeter(t *testing.T) {
	if m := (&Meter{}).Median(); m != 0 {
		t.Errorf("no line gives %v", m)
	}
	for want, each := range map[float64][]float64{2: {9, 1, 2}, 3: {4, 9, 1, 2}, 5: {5}} {
		if m := (&Meter{each: each}).Median(); m != want {
			t.Errorf("got %v, want %v", m, want)
		}
	}
}
