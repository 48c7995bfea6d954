package statistic

import "testing"

func TestMeter(t *testing.T) {
	if m := (&Meter{}).Median(); m != 0 {
		t.Errorf("no line gives %v", m)
	}
	if m := (&Meter{each: []float64{9, 1, 2}}).Median(); m != 2 {
		t.Errorf("got %v", m)
	}
}
