package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bitextmine/internal/badinput"
	"bitextmine/internal/usage"
	"bitextmine/pipeline/admin"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/store"
	"bitextmine/score"
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

// dateAhead gives all files of a work directory a moment that is to come.
func dateAhead(t *testing.T, work string) {
	t.Helper()
	ahead := time.Now().Add(1000 * time.Hour)
	err := filepath.WalkDir(work, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, ahead, ahead))
	})
	if err != nil {
		t.Fatal(err)
	}
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

// TestSweepKnowsPlaces: output directories are told apart by where they are and not by how they were named, and a work
// directory that moves with its output directory keeps what it has.
func TestSweepKnowsPlaces(t *testing.T) {
	dir, all := corpora(t, 60), t.TempDir()
	mined := func(project string, k int) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(all, project), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Chdir(filepath.Join(all, project))
		cfg := testConfig(dir, "nightly")
		cfg.Work, cfg.K, cfg.Overwrite = "../work", k, true
		mustRun(t, cfg)
	}
	mined("a", 4)
	mined("b", 3)
	work := filepath.Join(all, "work")
	sweep := admin.Sweep{Keep: 1, Deleted: true, DryRun: true}
	if swept, err := sweepWork(t, work, sweep); err != nil || len(swept.Outputs) > 0 {
		t.Errorf("of two projects a sweep takes %v, error %v", swept, err)
	}
	mined("a", 2)
	if swept, err := sweepWork(t, work, sweep); err != nil || swept.Outputs["match"] != 1 {
		t.Errorf("of a project's earlier run a sweep takes %v, error %v", swept, err)
	}

	cfg := testConfig(dir, filepath.Join(all, "whole"))
	mustRun(t, cfg)
	if err := os.Rename(cfg.Out, filepath.Join(all, "moved")); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(all, "moved", "work")
	if swept, err := sweepWork(t, moved, sweep); err != nil || len(swept.Outputs) > 0 {
		t.Errorf("of a directory that moved a sweep takes %v, error %v", swept, err)
	}
	// Run notes from before places were kept have none.
	err := store.WithExisting(t.Context(), moved, options().Log, func(st *store.Store) error {
		runs, err := record.History(t.Context(), st)
		if err != nil || len(runs) != 1 {
			t.Fatalf("runs %v, error %v", runs, err)
		}
		runs[0].Into, runs[0].Out = "", "whole"
		data, err := json.Marshal(runs[0])
		if err != nil {
			return err
		}
		return st.WriteNote(t.Context(), record.RunsNote, runs[0].Name(), data)
	})
	if err != nil {
		t.Fatal(err)
	}
	if swept, err := sweepWork(t, moved, sweep); err != nil || len(swept.Outputs) > 0 {
		t.Errorf("of a run without a place a sweep takes %v, error %v", swept, err)
	}
	t.Chdir(all)
	cfg.Out, cfg.Work, cfg.K, cfg.Overwrite = "whole", moved, 3, true
	mustRun(t, cfg)
	if swept, err := sweepWork(t, moved, sweep); err != nil || swept.Outputs["match"] != 1 {
		t.Errorf("of a run without a place, and a later one, a sweep takes %v, error %v", swept, err)
	}
}

// TestSweepForgetsOnlyTheDeleted: a directory of many pairs that moved with its work directory, a work directory that
// moved alone, and the directories of another machine were not deleted, and what is there replaces what was before.
func TestSweepForgetsOnlyTheDeleted(t *testing.T) {
	dir, all := corpora(t, 60), t.TempDir()
	cfg := testConfig(dir, filepath.Join(all, "ml", "de-en"))
	cfg.Work = filepath.Join(all, "ml", "work")
	mustRun(t, cfg)
	other := cfg
	other.Out, other.K = filepath.Join(all, "ml", "other"), 3
	mustRun(t, other)
	forgotten := func(what, work string, want int) {
		t.Helper()
		swept, err := sweepWork(t, work, admin.Sweep{Keep: 1, Deleted: true, DryRun: true})
		if err != nil || swept.Outputs["match"] != want {
			t.Errorf("%s: a sweep takes %v, error %v", what, swept, err)
		}
	}
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(filepath.Join(all, from), filepath.Join(all, to)); err != nil {
			t.Fatal(err)
		}
	}
	move("ml/work", "alone")
	forgotten("the work directory moved alone", filepath.Join(all, "alone"), 0)
	move("alone", "ml/work")
	move("ml", "moved")
	work := filepath.Join(all, "moved", "work")
	forgotten("all moved", work, 0)
	if err := os.RemoveAll(filepath.Join(all, "moved", "other")); err != nil {
		t.Fatal(err)
	}
	forgotten("one of two was deleted", work, 1)
	rewrite := func(change func(*record.Run)) {
		t.Helper()
		err := store.WithExisting(t.Context(), work, options().Log, func(st *store.Store) error {
			runs, err := record.History(t.Context(), st)
			for i := range runs {
				change(&runs[i])
				data, failed := json.Marshal(runs[i])
				err = errors.Join(err, failed, st.WriteNote(t.Context(), record.RunsNote, runs[i].Name(), data))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	rewrite(func(r *record.Run) {
		r.Host, r.Into = "elsewhere", filepath.Join(all, "elsewhere", filepath.Base(r.Out))
	})
	forgotten("of another machine", work, 0)
	rewrite(func(r *record.Run) { r.Into = filepath.Join(all, "moved", filepath.Base(r.Out)) }) // as it was written before
	cfg.Out, cfg.Work, cfg.K, cfg.Overwrite = filepath.Join(all, "moved", "de-en"), work, 2, true
	mustRun(t, cfg)
	forgotten("of a later run into the same place", work, 1)
}

// TestSweepOfWhatABitextReplaces: a calibration goes when a bitext was made after it into the same directory, and what
// has a moment to come, of a clock that was wrong, goes as well.
func TestSweepOfWhatABitextReplaces(t *testing.T) {
	cfg := testConfig(corpora(t, 60), filepath.Join(t.TempDir(), "out"))
	cfg.Scorer = score.None
	if _, err := Calibrate(t.Context(), cfg, fixturePairs(t), options()); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(cfg.Out, "work")
	if swept, err := sweepWork(t, work, admin.Sweep{Keep: 1, DryRun: true}); err != nil || len(swept.Outputs) > 0 {
		t.Errorf("of a calibration alone a sweep takes %v, error %v", swept, err)
	}
	mustRun(t, cfg)
	dateAhead(t, work)
	swept, err := sweepWork(t, work, admin.Sweep{Keep: 1, Older: time.Hour})
	if err != nil || swept.Outputs["calibrate"] != 1 || len(swept.Outputs) != 1 {
		t.Errorf("a sweep took %v, error %v", swept, err)
	}
}

// TestSweepAfterARefusedRun: a run that was refused before its first task replaces nothing: all of the last good one is
// there, of whatever age. The next good run then replaces both.
func TestSweepAfterARefusedRun(t *testing.T) {
	cfg := testConfig(corpora(t, 60), filepath.Join(t.TempDir(), "out"))
	good := mustRun(t, cfg)
	cfg.K, cfg.Overwrite = 3, true
	estimate, err := Plan(t.Context(), cfg, options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { usage.LimitHeap(0) })
	cfg.MaxMemory = fmt.Sprintf("%dKiB", estimate.Memory>>10-1)
	if _, err := Run(t.Context(), cfg, options()); !badinput.Is(err) || !strings.Contains(err.Error(), "needs") {
		t.Fatalf("error %v", err)
	}
	work := filepath.Join(cfg.Out, "work")
	if swept, err := sweepWork(t, work, admin.Sweep{Keep: 1}); err != nil || len(swept.Outputs) > 0 {
		t.Errorf("a sweep took %v, error %v", swept, err)
	}
	if _, err := os.Stat(record.PlanPath(work, good.PlanID)); err != nil {
		t.Error(err)
	}
	cfg.MaxMemory = ""
	mustRun(t, cfg)
	if swept, err := sweepWork(t, work, admin.Sweep{Keep: 1}); err != nil || swept.Outputs["match"] != 1 {
		t.Errorf("after the next good run a sweep took %v, error %v", swept, err)
	}
}

// TestSweepWhereTheClockIsAhead: while anyone works, what a server dated to come may be new, and stays.
func TestSweepWhereTheClockIsAhead(t *testing.T) {
	work := filepath.Join(t.TempDir(), "work")
	st, err := store.Open(t.Context(), work, options().Log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := st.Do(t.Context(), store.Task{Stage: "encode", Key: "a"}, func(string) (any, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	done := record.Working(t.Context(), st, options().Log, store.Task{Stage: "match", Key: "b"})
	dateAhead(t, work)
	if swept, err := sweepWork(t, work, admin.Sweep{Keep: 1, Older: time.Hour}); err != nil || len(swept.Outputs)+swept.Notes > 0 {
		t.Errorf("a sweep took %v, error %v", swept, err)
	}
	done(nil)
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
	if _, err := record.Enter(t.Context(), st, record.Run{Plan: "0123"}); err != nil {
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
