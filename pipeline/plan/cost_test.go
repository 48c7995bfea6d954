package plan

import (
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

// TestFullDiskIsForeseen: the setting is named that moves the outputs to another disk.
func TestFullDiskIsForeseen(t *testing.T) {
	for want, cached := range map[string]bool{"--work": false, "MINE_CACHE": true} {
		err := Cost{DiskPeak: 2}.Fits(Bounds{Disk: 1, Cached: cached})
		if !badinput.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", want, err)
		}
	}
}

// TestTasksAtOnce: memory is that of the tasks that run at once, which threads and max_memory bound, and temporary
// files come to the outputs.
func TestTasksAtOnce(t *testing.T) {
	const mib = 1 << 20
	narrow := Task{Memory: 200 * mib, Expected: 50 * mib, Disk: 10 * mib}
	wide := Task{Memory: 300 * mib, Expected: 90 * mib, Disk: 5 * mib, Scratch: 40 * mib}
	p := &Plan{Waves: []Wave{
		{Stage: "narrow", Tasks: []Task{narrow, narrow, narrow}}, {Stage: "wide", Wide: true, Tasks: []Task{wide, wide}},
	}}
	type sizes struct{ narrow, narrowBound, wide, wideBound, peak int64 }
	for name, c := range map[string]struct {
		by   Process
		want sizes
	}{
		"one thread":    {Process{Threads: 1}, sizes{50, 200, 90, 300, 80}},
		"two threads":   {Process{Threads: 2}, sizes{100, 400, 90, 300, 80}},
		"eight threads": {Process{Threads: 8}, sizes{150, 600, 90, 300, 80}},
		"max_memory":    {Process{Threads: 8, MaxMemory: 450 * mib}, sizes{100, 400, 90, 300, 80}},
		"too small":     {Process{Threads: 8, MaxMemory: 120 * mib}, sizes{50, 200, 120 - ProcessMemory/mib, 300, 80}},
		"a cluster":     {Process{Threads: 8, Remote: true}, sizes{50, 200, 90, 300, 120}},
	} {
		got := CostOf(p, func(string, string) bool { return false }, c.by)
		n, w := got.Stages[0], got.Stages[1]
		seen := sizes{n.Expected - ProcessMemory, n.MemoryBound, w.Expected - ProcessMemory, w.MemoryBound, got.DiskPeak}
		for _, one := range []*int64{&seen.narrow, &seen.narrowBound, &seen.wide, &seen.wideBound, &seen.peak} {
			*one /= mib
		}
		if seen != c.want || got.Disk != 40*mib || got.Memory != 300*mib {
			t.Errorf("%s: %+v, want %+v; cost %+v", name, seen, c.want, got)
		}
		if got.Expected != max(n.Expected, w.Expected) || got.MemoryBound != max(n.MemoryBound, w.MemoryBound) {
			t.Errorf("%s: the run takes %d and at most %d", name, got.Expected, got.MemoryBound)
		}
		before := got.Expected
		if got.Hold(7 * mib); got.Expected != before+7*mib || got.Stages[0].MemoryBound != n.MemoryBound+7*mib {
			t.Errorf("%s: weights come to %d", name, got.Expected-before)
		}
	}
}
