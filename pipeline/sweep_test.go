package pipeline

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"bitextmine/pipeline/admin"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/store"
)

// sweeping sweeps the work directory whenever a stage begins.
type sweeping struct {
	t     *testing.T
	work  string
	cells bool           // merged cells too, but for those that the run needs
	kept  map[string]int // number for each stage
}

func (s sweeping) Start(stage string, total int64, unit string) progress.Meter {
	swept, err := sweepWork(s.t, s.work, admin.Sweep{Keep: 1, Cells: s.cells})
	switch {
	case err != nil:
		s.t.Errorf("a sweep before %s: %v", stage, err)
	case len(swept.Outputs)+swept.Leftovers > 0:
		s.t.Errorf("a sweep before %s took %v", stage, swept)
	default:
		s.kept[stage] = swept.Kept
	}
	return progress.Silent.Start(stage, total, unit)
}

// TestSweepDuringARun: whatever is young, a sweep takes nothing that a run under way needs, not even from the first run
// of a work directory, which no history names yet, nor what it found done.
func TestSweepDuringARun(t *testing.T) {
	dir, out := corpora(t, 60), t.TempDir()
	cfg := testConfig(dir, filepath.Join(out, "mined"))
	cfg.Work = filepath.Join(out, "work")
	for i := range 2 {
		opts, by := options(), sweeping{t, cfg.Work, i == 0, map[string]int{}}
		opts.Progress = by
		if _, err := Run(t.Context(), cfg, opts); err != nil {
			t.Fatal(err)
		}
		if by.kept["match"] == 0 {
			t.Errorf("kept %v", by.kept)
		}
		cfg.Out, cfg.K = filepath.Join(out, "other"), 3
	}
	swept, err := sweepWork(t, cfg.Work, admin.Sweep{Keep: 1, Cells: true})
	if err != nil || swept.Outputs["search"] == 0 || swept.Kept > 0 {
		t.Errorf("a sweep after the runs took %v, error %v", swept, err)
	}
	// Whose output directory was deleted keeps nothing, if it is asked for: what the other run has stays.
	for _, left := range []string{filepath.Join(out, "mined"), cfg.Out} {
		if err := os.RemoveAll(left); err != nil {
			t.Fatal(err)
		}
		if swept, err := sweepWork(t, cfg.Work, admin.Sweep{Keep: 1, Cells: true}); err != nil || len(swept.Outputs) > 0 {
			t.Errorf("a sweep took %v, error %v", swept, err)
		}
		swept, err := sweepWork(t, cfg.Work, admin.Sweep{Keep: 1, Cells: true, Deleted: true})
		if err != nil || swept.Outputs["match"] != 1 || (swept.Outputs["encode"] > 0) != (left == cfg.Out) {
			t.Errorf("without %s a sweep took %v, error %v", left, swept, err)
		}
	}
}

// TestSweepOfAReadOnlyDisk: what could not be removed is not counted.
func TestSweepOfAReadOnlyDisk(t *testing.T) {
	disk := smallDisk(t, "64m")
	cfg := testConfig(corpora(t, 40), filepath.Join(t.TempDir(), "out"))
	cfg.Work, cfg.Overwrite = filepath.Join(disk, "work"), true
	for range 2 {
		if _, err := Run(t.Context(), cfg, options()); err != nil {
			t.Fatal(err)
		}
		cfg.K++
	}
	readOnly(t, disk)
	swept, err := sweepWork(t, cfg.Work, admin.Sweep{Keep: 1})
	if err == nil || swept == nil || len(swept.Outputs) > 0 || swept.Notes > 0 || swept.Bytes > 0 {
		t.Errorf("swept %v, error %v", swept, err)
	}
}

// A running task's files stay however old they are; those of a process that is gone are leftovers.
func TestRunningTaskKeepsItsFiles(t *testing.T) {
	st, err := store.Open(t.Context(), t.TempDir(), options().Log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := record.Enter(t.Context(), st, record.Run{Plan: "0123"}); err != nil {
		t.Fatal(err)
	}
	const task = "search-4567"
	file := filepath.Join(st.Local("search"), ".4567.1.tmp")
	ago := func(hours int) time.Time { return time.Now().Add(time.Duration(-hours) * time.Hour) }
	here, gone, elsewhere := record.Self(), record.Self(), record.Self()
	here.Since, gone.Since, gone.PID = ago(2), ago(2), 1<<30
	elsewhere.Host, elsewhere.Since = "elsewhere", ago(30*24)
	for _, c := range []struct {
		name   string
		holder record.Holder
		swept  int
	}{{"running", here, 0}, {"of another machine a month ago", elsewhere, 1}, {"gone", gone, 1}} {
		if err := os.MkdirAll(file, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, ago(1), ago(1)); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(c.holder)
		if err == nil {
			err = st.WriteNote(t.Context(), record.RunningNote, task, data)
		}
		if err != nil {
			t.Fatal(err)
		}
		swept, err := admin.GC(t.Context(), st, admin.Sweep{Keep: 1}, "test", options().Log)
		if err != nil || swept.Leftovers != c.swept {
			t.Errorf("%s: swept %v, error %v", c.name, swept, err)
		}
		notes, err := record.Holders(t.Context(), st, record.RunningNote)
		if err != nil || len(notes) != 1-c.swept {
			t.Errorf("%s: notes %v, error %v", c.name, notes, err)
		}
	}
}
