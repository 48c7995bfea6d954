package pipeline

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/admin"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/store"
)

// onProcessor is options of a process whose results depend on a processor.
func onProcessor(name string) Options {
	opts := options()
	opts.Processor = func() string { return name }
	return opts
}

// TestTasksOnOtherProcessors: the tasks of a plan are done by processes of one processor. Another process publishes
// nothing and fails for good, unless its results depend on no processor.
func TestTasksOnOtherProcessors(t *testing.T) {
	cfg := testConfig(corpora(t, 40), filepath.Join(t.TempDir(), "out"))
	estimate, err := Plan(t.Context(), cfg, onProcessor(""))
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.OpenExisting(t.Context(), estimate.Work, options().Log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	p, err := stage.ReadPlan(t.Context(), st, estimate.PlanID, "test")
	if err != nil {
		t.Fatal(err)
	}
	note := filepath.Join(estimate.Work, record.ProcessorsNote, estimate.PlanID)
	for i, step := range []struct {
		index     int
		processor string
		noted     bool // after the task
		refused   bool
	}{{0, "", false, false}, {1, "A", true, false}, {2, "B", true, true}, {2, "", true, false}, {3, "A", true, false}} {
		task := TaskConfig{Plan: record.PlanPath(estimate.Work, estimate.PlanID), Index: step.index}
		err := RunTasks(t.Context(), task, onProcessor(step.processor))
		if step.refused != badinput.Is(err) || !step.refused && err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		if _, err := os.Stat(note); errors.Is(err, fs.ErrNotExist) == step.noted {
			t.Errorf("step %d: the processor is noted: %v", i, err)
		}
		of, _, _ := p.Task(step.index)
		_, there := st.Stat(t.Context(), store.Task{Stage: of.Stage, Key: of.Key})
		failed, err := record.Holders(t.Context(), st, record.FailedNote)
		if err != nil {
			t.Fatal(err)
		}
		failure, ok := failed[of.Stage+"-"+of.Key]
		if ok != step.refused || errors.Is(there, fs.ErrNotExist) != step.refused || ok && (!failure.Permanent || !strings.Contains(failure.Error, "has B")) {
			t.Errorf("step %d: there %v, failed %+v", i, there, failed)
		}
	}
	if _, err := Run(t.Context(), cfg, onProcessor("B")); !badinput.Is(err) {
		t.Errorf("a run that went on elsewhere: %v", err)
	}
	if _, err := Run(t.Context(), cfg, onProcessor("A")); err != nil {
		t.Error(err)
	}
	if _, err := Run(t.Context(), cfg, onProcessor("B")); err != nil {
		t.Errorf("a run of which all is done: %v", err)
	}
}

// TestProcessorsAreSwept: what names a plan's processor goes with the plan.
func TestProcessorsAreSwept(t *testing.T) {
	cfg := testConfig(corpora(t, 40), filepath.Join(t.TempDir(), "out"))
	work := filepath.Join(cfg.Out, "work")
	var plans []string
	for _, k := range []int{4, 3} {
		cfg.K, cfg.Overwrite = k, true
		report, err := Run(t.Context(), cfg, onProcessor("A"))
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, report.PlanID)
	}
	for _, sweep := range []admin.Sweep{{Keep: 1, Older: time.Hour}, {Keep: 1, DryRun: true}, {Keep: 1}} {
		if _, err := sweepWork(t, work, sweep); err != nil {
			t.Fatal(err)
		}
		for i, plan := range plans {
			_, err := os.Stat(filepath.Join(work, record.ProcessorsNote, plan))
			if kept := i == 1 || sweep.Older > 0 || sweep.DryRun; kept && err != nil || !kept && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%+v: the processor of run %d: %v", sweep, i, err)
			}
		}
	}
}

// TestStaticEncoderIsOfNoProcessor: a run with the default encoder, in a process of its own, notes no processor.
func TestStaticEncoderIsOfNoProcessor(t *testing.T) {
	cfg := testConfig(corpora(t, 40), filepath.Join(t.TempDir(), "out"))
	if err := start(t, cfg).Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(cfg.Out, "work", record.ProcessorsNote)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a processor is noted: %v", err)
	}
}
