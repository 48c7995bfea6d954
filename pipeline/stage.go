package pipeline

import (
	"time"

	"bitextmine/pipeline/progress"
)

// stage times one stage and counts what it did.
type stage struct {
	name, unit    string
	meter         progress.Meter
	begin         time.Time
	items         int64
	tasks, cached int
}

// start begins a stage whose meter runs to total, both in the given unit.
func (r *run) start(name string, total int64, unit string) *stage {
	return &stage{name: name, unit: unit, meter: r.Progress.Start(name, total, unit), begin: time.Now()}
}

// task counts a finished task.
func (s *stage) task(cached bool) {
	s.tasks++
	if cached {
		s.cached++
	}
}

func (s *stage) done(report *Report) {
	s.meter.Done()
	elapsed := time.Since(s.begin).Seconds()
	report.Stages = append(report.Stages, StageReport{
		Name: s.name, Items: s.items, Unit: s.unit, Seconds: elapsed, Rate: float64(s.items) / max(elapsed, 1e-9),
		Tasks: s.tasks, Cached: s.cached, PeakMemory: peakMemory(),
	})
}
