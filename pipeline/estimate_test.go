package pipeline

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"bitextmine/internal/usage"
	"bitextmine/pipeline/record"
	"bitextmine/score"
)

// TestPlanIsMeasured compares what a plan expects of a run with what a process had that did the run: memory is never
// above the bound and not far from what was expected, and so is the disk. What larger runs had is in
// bench/results/scale.md; here tolerances are wide, because a small heap varies.
func TestPlanIsMeasured(t *testing.T) {
	const n = 20000
	text := newText(t)
	for side, name := range []string{"de.txt", "en.txt"} {
		text.put(side, name, recombined(t, name, n))
	}
	dir := t.TempDir()
	alone := os.Geteuid() == 0 // then the disk is the run's own
	if alone {
		dir = smallDisk(t, "1g")
	}
	cfg := text.config(filepath.Join(dir, "out"))
	cfg.ShardSize, cfg.Scorer, cfg.Threshold, cfg.KeepBelow, cfg.Threads = n/2, score.Default, 0.5, false, 2
	plan, err := Plan(t.Context(), cfg, options())
	if err != nil {
		t.Fatal(err)
	}
	before, free := sizeOf(t, dir), usage.FreeDisk(dir)
	peak := usedAtMost(dir)
	report := runAlone(t, cfg)
	most := free - peak()
	grown := sizeOf(t, dir) - before
	if grown*5 < plan.Disk*4 || grown*4 > plan.Disk*5 {
		t.Errorf("%d KiB of disk remain, %d were expected", grown>>10, plan.Disk>>10)
	}
	if alone && (most > plan.DiskPeak*5/4 || most < plan.DiskPeak*2/3) {
		t.Errorf("%d KiB of disk were used at once, %d were expected", most>>10, plan.DiskPeak>>10)
	}
	for i, s := range plan.Stages {
		got := report.Stages[len(report.Stages)-len(plan.Stages)+i]
		t.Logf("%-8s %4d MiB, %4d were expected, %4d at most", s.Name, got.AnonymousMemory>>20, s.Expected>>20, s.MemoryBound>>20)
		if got.Name != s.Name || got.AnonymousMemory == 0 || got.AnonymousMemory > s.MemoryBound {
			t.Errorf("%s had %d MiB of memory, %s may have %d", got.Name, got.AnonymousMemory>>20, s.Name, s.MemoryBound>>20)
		}
		if got.AnonymousMemory*2 < s.Expected || got.AnonymousMemory > s.Expected*2 {
			t.Errorf("%s had %d MiB of memory, %d were expected", s.Name, got.AnonymousMemory>>20, s.Expected>>20)
		}
	}
}

// runAlone runs in a process of its own.
func runAlone(t *testing.T, cfg Config) *record.Report {
	t.Helper()
	if output, err := command(t, cfg).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	report, err := record.ReadReport(filepath.Join(cfg.Out, "latest"))
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// sizeOf is the size of all files below a directory.
func sizeOf(t *testing.T, dir string) (size int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}

// usedAtMost watches the room on the disk of a directory, until the function that it returns is called, which returns
// the least that was free.
func usedAtMost(dir string) (least func() int64) {
	stop, found := make(chan struct{}), make(chan int64)
	go func() {
		free := usage.FreeDisk(dir)
		for {
			select {
			case <-stop:
				found <- free
				return
			case <-time.After(5 * time.Millisecond):
				free = min(free, usage.FreeDisk(dir))
			}
		}
	}()
	return func() int64 {
		close(stop)
		return <-found
	}
}
