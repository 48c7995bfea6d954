package engine

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
	"bitextmine/internal/lockfile"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
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

// elsewhere is an engine whose tasks do nothing but leave a note, or nothing at all.
type elsewhere struct{ note func() error }

func (elsewhere) Check(string, string) error { return nil }

func (e elsewhere) Run(context.Context, Job) error {
	if e.note == nil {
		return nil
	}
	return e.note()
}

// TestFailuresOfEarlierRuns: what a task noted in an earlier run is not why it has no output now.
func TestFailuresOfEarlierRuns(t *testing.T) {
	st, err := store.Open(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	j := job(1)
	j.Plan.Waves[0].Tasks[0].Key = "abc"
	note := func() error {
		data, err := json.Marshal(record.Holder{Process: lockfile.Self(), Error: "the text is a PDF", Permanent: true})
		return errors.Join(err, st.WriteNote(t.Context(), record.FailedNote, "encode-abc", data))
	}
	if err := note(); err != nil {
		t.Fatal(err)
	}
	env := &stage.Env{Files: view.NewFiles(st, j.Plan, "work"), Log: slog.New(slog.DiscardHandler)}
	for _, c := range []struct {
		engine  elsewhere
		says    string
		forGood bool
	}{{elsewhere{}, "exited without a result", false}, {elsewhere{note}, "the text is a PDF", true}} {
		_, err := Execute(t.Context(), c.engine, j, env, progress.Silent, false)
		if err == nil || badinput.Is(err) != c.forGood || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v, want one with %q, for good: %v", err, c.says, c.forGood)
		}
	}
}
