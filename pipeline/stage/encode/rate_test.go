package encode

import (
	"slices"
	"testing"
	"time"
)

// TestRateOf: the rate is that of the sentences, whatever a file costs and though a sample waits for something else.
func TestRateOf(t *testing.T) {
	for name, c := range map[string]struct {
		rows           int
		file, sentence time.Duration
		stalled        []int // the samples that take longer, counted from 0
	}{
		"fast":                          {1_000_000, 0, 100 * time.Microsecond, nil},
		"slow":                          {1000, 0, 20 * time.Millisecond, nil},
		"a disk that is slow":           {1_000_000, 500 * time.Millisecond, 100 * time.Microsecond, nil},
		"the first sample waits":        {1_000_000, time.Millisecond, 100 * time.Microsecond, []int{2}},
		"a later one waits":             {1_000_000, time.Millisecond, 100 * time.Microsecond, []int{5}},
		"both of a size wait":           {1_000_000, time.Millisecond, 100 * time.Microsecond, []int{2, 3}},
		"a shard of two sentences":      {2, 0, 100 * time.Microsecond, nil},
		"one sentence, all is its cost": {1, 0, 100 * time.Microsecond, nil},
	} {
		samples := 0
		rate, err := rateOf(c.rows, func(n int) (time.Duration, error) {
			spent := c.file + time.Duration(n)*c.sentence
			if slices.Contains(c.stalled, samples) {
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
