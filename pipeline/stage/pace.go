package stage

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/store"
)

// Pace is how fast tasks of a stage were.
type Pace struct {
	Rate    float64 // items a second of all together; 0: none was finished
	Memory  int64   // the largest resident size of a process that made an output, bytes; 0: not known
	perItem float64 // median seconds of an item
}

// PaceOf is the pace of finished tasks that began after a moment.
func PaceOf(ctx context.Context, st *store.Store, finished []*plan.Task, since time.Time) (Pace, error) {
	var mu sync.Mutex
	var p Pace
	var items int64
	var first, last time.Time
	var each []float64
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(16)
	for _, t := range finished {
		g.Go(func() error {
			out, err := st.Stat(ctx, store.Task{Stage: t.Stage, Key: t.Key})
			if err != nil || out.Made.Start.Before(since) {
				return ctx.Err() // swept, damaged or older: of no run's rate
			}
			mu.Lock()
			defer mu.Unlock()
			items += t.Items
			each = append(each, out.Made.Seconds/float64(max(t.Items, 1)))
			p.Memory = max(p.Memory, out.Made.PeakMemory)
			if end := out.Made.End(); end.After(last) {
				last = end
			}
			if first.IsZero() || out.Made.Start.Before(first) {
				first = out.Made.Start
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil || items == 0 {
		return Pace{}, err
	}
	slices.Sort(each)
	p.Rate, p.perItem = float64(items)/max(last.Sub(first).Seconds(), 1e-3), each[len(each)/2]
	return p, nil
}

// The bounds of a straggler: so many times its expected time, and so long at least.
const (
	stragglerTimes = 10
	stragglerTime  = time.Minute
)

// Straggles says whether a running task has taken ten times as long as others of its stage would have, and how long
// those would have taken.
func (p Pace) Straggles(t *plan.Task, by record.Holder) (expected time.Duration, is bool) {
	expected = time.Duration(p.perItem * float64(max(t.Items, 1)) * float64(time.Second))
	return expected, p.perItem > 0 && time.Since(by.Since) > max(stragglerTimes*expected, stragglerTime)
}
