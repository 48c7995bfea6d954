// Package admin looks after what runs leave behind: how far a run is, what may be removed, and what two runs differ in.
// It takes every stage from the registered descriptors.
package admin

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

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
	// PeakMemory is the largest resident size of a process that made an output, in bytes; 0: not known.
	PeakMemory int64 `json:"peak_memory_bytes,omitempty"`
}

// TaskStatus is a task that somebody works on, or that failed last.
type TaskStatus struct {
	Stage string `json:"stage"`
	Index int    `json:"index"`
	State string `json:"state"` // Running, "failed", or "killed": its process is gone from this machine
	record.Holder
	// Expected is how many seconds others of its stage would have taken, of a task that has taken ten times as long.
	Expected float64 `json:"expected_seconds,omitempty"`

	task *plan.Task
}

// Running is the state of a task that a process works on.
const Running = "running"

// Ended says whether nothing is left to watch: all is done, or the run's process is gone and nobody works on a task.
func (s *Status) Ended() bool {
	left, running := 0, 0
	for _, stage := range s.Stages {
		left, running = left+stage.Tasks-stage.Done, running+stage.Running
	}
	return left == 0 || running == 0 && s.Run.Dead()
}

// Into names the runs into an output directory, among those that share a store. The zero Into names all runs.
type Into struct {
	Out   string // the directory
	Plan  string // id in its run.json, by which a directory that has another name now is known
	Pairs bool   // Out is that of a run over many pairs, with a directory for each pair
}

// ErrNoRun says that a store has no run, as before a first run has read its text.
var ErrNoRun = badinput.Errorf("no run is planned there yet: wait until a first one has read its text, or name the work directory of another with --work")

// last returns the last of the runs that are named.
func (i Into) last(runs []record.Run, work string) (record.Run, error) {
	if len(runs) == 0 {
		return record.Run{}, ErrNoRun
	}
	if i == (Into{}) {
		return runs[len(runs)-1], nil
	}
	out, err := record.Resolved(i.Out)
	if err != nil {
		return record.Run{}, err
	}
	planned := -1
	for at := range slices.Backward(runs) {
		if into, _ := runs[at].Directory(work); into == out || i.Pairs && filepath.Dir(into) == out {
			return runs[at], nil
		}
		if planned < 0 && runs[at].Plan == i.Plan {
			planned = at
		}
	}
	if planned < 0 {
		return record.Run{}, badinput.Errorf("the work directory of %s has seen no run into it; name that directory with --work to see its last run", i.Out)
	}
	return runs[planned], nil
}

// ReadStatus looks at the last run that a store has seen of those that are named.
func ReadStatus(ctx context.Context, st *store.Store, of Into, version string) (*Status, error) {
	runs, err := record.History(ctx, st)
	if err != nil {
		return nil, err
	}
	last, err := of.last(runs, st.Local(""))
	if err != nil {
		return nil, err
	}
	s := &Status{Run: last}
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
			state = Running
		case fails:
			status.Failed++
			state, by = "failed", how
		default:
			status.Left++
		}
		if state != "" {
			s.Tasks = append(s.Tasks, TaskStatus{Stage: t.Stage, Index: p.First(wave) + i, State: state, Holder: by, task: t})
		}
	}
	pace, err := stage.PaceOf(ctx, st, finished, s.Run.Since)
	status.Rate, status.PeakMemory = pace.Rate, pace.Memory
	s.Stages = append(s.Stages, status)
	for i := range s.Tasks {
		if t := &s.Tasks[i]; t.State == Running && t.task.Stage == status.Stage {
			if expected, is := pace.Straggles(t.task, t.Holder); is {
				t.Expected = expected.Seconds()
			}
		}
	}
	return err
}
