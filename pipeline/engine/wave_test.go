package engine

import (
	"testing"

	"bitextmine/internal/badinput"
	"bitextmine/internal/lockfile"
	"bitextmine/pipeline/record"
)

// TestWhatIsSaidOfTasksThatAreNotDone: how many of which stage and which, and the reason; without one, the memory that
// the first of them needs.
func TestWhatIsSaidOfTasksThatAreNotDone(t *testing.T) {
	wave := &job(9).Plan.Waves[0]
	wave.Tasks[2].Memory = 300 << 20
	failed := &record.Holder{Process: lockfile.Process{Host: "node7"}, Error: "no room"}
	forGood := *failed
	forGood.Permanent = true
	for name, c := range map[string]struct {
		missing []int
		why     *record.Holder
		says    string
	}{
		"no result and no error": {[]int{12, 13}, nil, "2 of 9 encode tasks (12, 13) exited without a result or an error message, as those that are killed " +
			"for memory do (a task's estimate is 300.0 MiB); look into the engine's logs; run again to go on"},
		"many":          {[]int{12, 13, 14, 15, 16, 17}, failed, "6 of 9 encode tasks (12, 13, 14, 15, 16, ...) failed, one on node7: no room; run again to go on"},
		"worth a retry": {[]int{12}, failed, "1 of 9 encode tasks (12) failed, one on node7: no room; run again to go on"},
		"for good":      {[]int{12}, &forGood, "1 of 9 encode tasks (12) failed, one on node7: no room"},
	} {
		err := notDone(wave, c.missing, c.missing[0]-10, c.why)
		if err.Error() != c.says || badinput.Is(err) != (c.why == &forGood) {
			t.Errorf("%s: got %q, want %q", name, err, c.says)
		}
	}
}
