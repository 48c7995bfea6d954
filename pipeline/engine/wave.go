package engine

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"bitextmine/internal/badinput"
	"bitextmine/internal/usage"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/store"
)

// collectWave returns the report of a wave whose tasks other processes did, from the records that they left in the
// store. before and after say which outputs the store had before the wave and has now, failed how tasks failed last.
func collectWave(ctx context.Context, st *store.Store, wave *plan.Wave, before, after func(stage, key string) bool,
	failed map[string]record.Holder) (record.StageReport, error) {
	s := record.StageReport{Name: wave.Stage, Unit: wave.Unit, Tasks: len(wave.Tasks)}
	var first, last time.Time
	missing := 0
	var why *record.Holder
	for _, t := range wave.Tasks {
		switch {
		case before(t.Stage, t.Key):
			s.Cached++
		case !after(t.Stage, t.Key):
			missing++
			if h, ok := failed[t.Stage+"-"+t.Key]; ok && (why == nil || h.Permanent) {
				why = &h
			}
		default:
			out, err := st.Stat(ctx, store.Task{Stage: t.Stage, Key: t.Key})
			if err != nil {
				return s, err
			}
			s.Items += t.Items
			if end := out.Made.Start.Add(time.Duration(out.Made.Seconds * float64(time.Second))); end.After(last) {
				last = end
			}
			if first.IsZero() || out.Made.Start.Before(first) {
				first = out.Made.Start
			}
		}
	}
	if missing > 0 {
		return s, notDone(s.Name, missing, s.Tasks, why)
	}
	s.Seconds = last.Sub(first).Seconds()
	s.Rate = float64(s.Items) / max(s.Seconds, 1e-9)
	return s, nil
}

// notDone is the error of a wave whose tasks did not all succeed.
func notDone(stage string, missing, tasks int, why *record.Holder) error {
	switch {
	case why == nil:
		return fmt.Errorf("%d of %d %s tasks exited without a result or an error message; look into the engine's logs; "+
			"run again to go on", missing, tasks, stage)
	case why.Permanent:
		return badinput.Errorf("%d of %d %s tasks failed, one on %s: %s", missing, tasks, stage, why.Host, why.Error)
	}
	return fmt.Errorf("%d of %d %s tasks failed, one on %s: %s; run again to go on", missing, tasks, stage, why.Host, why.Error)
}

// waveMeter times one wave and counts what it did.
type waveMeter struct {
	wave                 *plan.Wave
	progress             progress.Meter
	start                time.Time
	items, tasks, cached atomic.Int64
}

// beginWave starts the clock and the progress of a wave.
func beginWave(reporter progress.Reporter, wave *plan.Wave) *waveMeter {
	var total int64
	for _, t := range wave.Tasks {
		total += t.Items
	}
	return &waveMeter{wave: wave, progress: reporter.Start(wave.Stage, total, wave.Unit), start: time.Now()}
}

// add counts a finished task.
func (w *waveMeter) add(t *plan.Task, out *store.Output) {
	w.tasks.Add(1)
	if out.Cached {
		w.cached.Add(1)
	} else {
		w.items.Add(t.Items)
	}
}

// done ends the progress and returns the report.
func (w *waveMeter) done() record.StageReport {
	w.progress.Done()
	elapsed := time.Since(w.start).Seconds()
	return record.StageReport{
		Name: w.wave.Stage, Items: w.items.Load(), Unit: w.wave.Unit,
		Seconds: elapsed, Rate: float64(w.items.Load()) / max(elapsed, 1e-9),
		Tasks: int(w.tasks.Load()), Cached: int(w.cached.Load()), PeakMemory: usage.PeakMemory(),
	}
}
