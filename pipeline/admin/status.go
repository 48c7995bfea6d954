package admin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/store"
)

// Status is how far the last run of a store is, as far as the store shows.
type Status struct {
	Run    record.Run    `json:"run"`
	Stages []StageStatus `json:"stages"`
	Tasks  []TaskStatus  `json:"tasks"` // running and failed ones
}

// StageStatus counts the tasks of a stage.
type StageStatus struct {
	Stage   string  `json:"stage"`
	Tasks   int     `json:"tasks"`
	Done    int     `json:"done"`
	Running int     `json:"running"`
	Failed  int     `json:"failed"`
	Left    int     `json:"left"`
	Rate    float64 `json:"rate"` // items a second over all tasks finished since the run began; 0 if none was
	Unit    string  `json:"unit"`
}

// TaskStatus is a task that somebody works on, or that failed last.
type TaskStatus struct {
	Stage string `json:"stage"`
	Index int    `json:"index"`
	State string `json:"state"` // "running", "failed", or "killed": its process is gone from this machine
	record.Holder
}

// ReadStatus looks at the last run that a store has seen.
func ReadStatus(ctx context.Context, st *store.Store, version string) (*Status, error) {
	runs, err := record.History(ctx, st)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, badinput.Errorf("the store has seen no run; name the work directory of one with --work")
	}
	s := &Status{Run: runs[len(runs)-1]}
	p, err := stage.ReadPlan(ctx, st, s.Run.Plan, version)
	if err != nil {
		return nil, err
	}
	for wave := range p.Waves {
		if err := s.addWave(ctx, st, p, wave); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(s.Tasks, func(a, b TaskStatus) int {
		return cmp.Or(-strings.Compare(a.State, b.State), a.Since.Compare(b.Since))
	})
	return s, nil
}

func (s *Status) addWave(ctx context.Context, st *store.Store, p *plan.Plan, wave int) error {
	tasks := p.Waves[wave].Tasks
	status := StageStatus{Stage: p.Waves[wave].Stage, Tasks: len(tasks), Unit: p.Waves[wave].Unit}
	done := map[string]bool{}
	for entry, err := range st.List(ctx, status.Stage) {
		if err != nil {
			return fmt.Errorf("list %s: %w", status.Stage, err)
		}
		done[entry.Name] = true
	}
	running, err := record.Holders(ctx, st, record.RunningNote)
	if err != nil {
		return err
	}
	failed, err := record.Holders(ctx, st, record.FailedNote)
	if err != nil {
		return err
	}
	var finished []*plan.Task
	for i := range tasks {
		t := &tasks[i]
		name := t.Stage + "-" + t.Key
		by, runs := running[name]
		how, fails := failed[name]
		state := ""
		switch {
		case done[t.Key]:
			status.Done++
			finished = append(finished, t)
		case runs && by.Dead():
			status.Left++
			state = "killed"
		case runs:
			status.Running++
			state = "running"
		case fails:
			status.Failed++
			state, by = "failed", how
		default:
			status.Left++
		}
		if state != "" {
			s.Tasks = append(s.Tasks, TaskStatus{t.Stage, p.First(wave) + i, state, by})
		}
	}
	status.Rate, err = rate(ctx, st, finished, s.Run.Since)
	s.Stages = append(s.Stages, status)
	return err
}

// rate is what the tasks made since a moment did in a second, all together.
func rate(ctx context.Context, st *store.Store, tasks []*plan.Task, since time.Time) (float64, error) {
	var mu sync.Mutex
	var items int64
	var first, last time.Time
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(16)
	for _, t := range tasks {
		g.Go(func() error {
			out, err := st.Stat(ctx, store.Task{Stage: t.Stage, Key: t.Key})
			if err != nil || out.Made.Start.Before(since) {
				return ctx.Err() // swept, damaged or older: of no run's rate
			}
			mu.Lock()
			defer mu.Unlock()
			items += t.Items
			if end := out.Made.Start.Add(time.Duration(out.Made.Seconds * float64(time.Second))); end.After(last) {
				last = end
			}
			if first.IsZero() || out.Made.Start.Before(first) {
				first = out.Made.Start
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil || items == 0 {
		return 0, err
	}
	return float64(items) / max(last.Sub(first).Seconds(), 1e-3), nil
}
