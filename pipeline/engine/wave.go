package engine

import (
	"context"
	"fmt"
	"strings"
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
	failed map[string]record.Holder, offset int) (record.StageReport, error) {
	s := record.StageReport{Name: wave.Stage, Unit: wave.Unit, Tasks: len(wave.Tasks)}
	var first, last time.Time
	var missing []int
	var why *record.Holder
	for i, t := range wave.Tasks {
		switch {
		case before(t.Stage, t.Key):
			s.Cached++
		case !after(t.Stage, t.Key):
			missing = append(missing, offset+i)
			if h, ok := failed[t.Stage+"-"+t.Key]; ok && (why == nil || h.Permanent) {
				why = &h
			}
		default:
			out, err := st.Stat(ctx, store.Task{Stage: t.Stage, Key: t.Key})
			if err != nil {
				return s, err
			}
			s.Items += t.Items
			s.PeakMemory = max(s.PeakMemory, out.Made.PeakMemory)
			if end := out.Made.End(); end.After(last) {
				last = end
			}
			if first.IsZero() || out.Made.Start.Before(first) {
				first = out.Made.Start
			}
		}
	}
	if len(missing) > 0 {
		return s, notDone(wave, missing, missing[0]-offset, why)
	}
	s.Seconds = last.Sub(first).Seconds()
	s.Rate = float64(s.Items) / max(s.Seconds, 1e-9)
	return s, nil
}

// notDone is the error of a wave whose tasks did not all succeed; first is the place of the first of them in the wave.
func notDone(wave *plan.Wave, missing []int, first int, why *record.Holder) error {
	which := fmt.Sprintf("%d of %d %s tasks", len(missing), len(wave.Tasks), wave.Stage)
	shown := strings.Trim(fmt.Sprint(missing[:min(len(missing), 5)]), "[]")
	if len(missing) > 5 {
		shown += " ..."
	}
	which += " (" + strings.ReplaceAll(shown, " ", ", ") + ")"
	switch {
	case why == nil:
		return fmt.Errorf("%s exited without a result or an error message, as those that are killed for memory do (a task's "+
			"estimate is %s); look into the engine's logs; run again to go on", which, plan.Bytes(wave.Tasks[first].Memory))
	case why.Permanent:
		return badinput.Errorf("%s failed, one on %s: %s", which, why.Host, why.Error)
	}
	return fmt.Errorf("%s failed, one on %s: %s; run again to go on", which, why.Host, why.Error)
}

// waveMeter times one wave and counts what it did.
type waveMeter struct {
	wave                 *plan.Wave
	progress             progress.Meter
	start                time.Time
	items, tasks, cached atomic.Int64
	memory               func() int64 // ends the watch of memory
}

// beginWave starts the clock and the progress of a wave.
func beginWave(reporter progress.Reporter, wave *plan.Wave) *waveMeter {
	var total int64
	for _, t := range wave.Tasks {
		total += t.Items
	}
	return &waveMeter{
		wave: wave, progress: reporter.Start(wave.Stage, total, wave.Unit), start: time.Now(), memory: usage.WatchAnonymous(),
	}
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
		AnonymousMemory: w.memory(),
	}
}
