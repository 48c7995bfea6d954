package encode

import (
	"testing"
	"time"
)

// TestRateOf: the rate is that of the sentences, whatever a file costs and though a sample waits for something else.
func TestRateOf(t *testing.T) {
	for name, c := range map[string]struct {
		rows           int
		file, sentence time.Duration
		stalled        int // the sample that takes longer, counted from 0
	}{
		"fast":                          {1_000_000, 0, 100 * time.Microsecond, -1},
		"slow":                          {1000, 0, 20 * time.Millisecond, -1},
		"a disk that is slow":           {1_000_000, 500 * time.Millisecond, 100 * time.Microsecond, -1},
		"the first sample waits":        {1_000_000, time.Millisecond, 100 * time.Microsecond, 2},
		"a later one waits":             {1_000_000, time.Millisecond, 100 * time.Microsecond, 5},
		"a shard of two sentences":      {2, 0, 100 * time.Microsecond, -1},
		"one sentence, all is its cost": {1, 0, 100 * time.Microsecond, -1},
	} {
		samples := 0
		rate, err := rateOf(c.rows, func(n int) (time.Duration, error) {
			spent := c.file + time.Duration(n)*c.sentence
			if samples == c.stalled {
				spent += time.Second
			}
			samples++
			return spent, nil
		})
		if want := 1 / c.sentence.Seconds(); err != nil || rate < want/1.1 || rate > want*1.1 {
			t.Errorf("%s: %v sentences a second, want %v: %v", name, rate, want, err)
		}
	}
}
