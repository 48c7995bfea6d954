package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/store"
)

// Status is how far the last run of a store is, as far as the store shows.
type Status struct {
	Run    RunNote       `json:"run"`
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
	Holder
}

// ReadStatus looks at the last run that a store has seen.
func ReadStatus(ctx context.Context, work string, opts Options) (_ *Status, err error) {
	st, err := opts.openSeen(ctx, work)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	runs, err := history(ctx, st)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, badinput.Errorf("%s has seen no run; name the work directory of one", work)
	}
	s := &Status{Run: runs[len(runs)-1]}
	p, err := readPlan(ctx, st, s.Run.Plan, opts.Version)
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
	stage := StageStatus{Stage: p.Waves[wave].Stage, Tasks: len(tasks), Unit: units[p.Waves[wave].Stage]}
	done := map[string]bool{}
	for entry, err := range st.List(ctx, stage.Stage) {
		if err != nil {
			return fmt.Errorf("list %s: %w", stage.Stage, err)
		}
		done[entry.Name] = true
	}
	running, err := holders(ctx, st, runningNote)
	if err != nil {
		return err
	}
	failed, err := holders(ctx, st, failedNote)
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
			stage.Done++
			finished = append(finished, t)
		case runs && by.dead():
			stage.Left++
			state = "killed"
		case runs:
			stage.Running++
			state = "running"
		case fails:
			stage.Failed++
			state, by = "failed", how
		default:
			stage.Left++
		}
		if state != "" {
			s.Tasks = append(s.Tasks, TaskStatus{t.Stage, p.First(wave) + i, state, by})
		}
	}
	stage.Rate, err = rate(ctx, st, finished, s.Run.Since)
	s.Stages = append(s.Stages, stage)
	return err
}

// holders reads the notes of a kind, by name.
func holders(ctx context.Context, st *store.Store, kind string) (map[string]Holder, error) {
	found := map[string]Holder{}
	for entry, err := range st.List(ctx, kind) {
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", kind, err)
		}
		data, err := st.ReadNote(ctx, kind, entry.Name)
		var h Holder
		if err == nil && json.Unmarshal(data, &h) == nil {
			found[entry.Name] = h
		}
	}
	return found, nil
}

// dead reports whether the holder was a process of this machine that is gone. Of other machines nothing can be said.
func (h Holder) dead() bool {
	host, err := os.Hostname()
	return err == nil && host == h.Host && errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH)
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
