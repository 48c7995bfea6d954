package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"bitextmine/index/backend"
	"bitextmine/index/exact"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
)

// searching is how a run searches.
type searching struct {
	Result  string `json:"result"`  // whose lists they are: in keys and in the bitext
	Backend string `json:"backend"` // that makes them
	Why     string `json:"why"`     // it is this one
}

// settled is how a run with this setting searches; auto is not settled yet.
func settled(setting string) searching {
	return searching{Result: setting, Backend: setting, Why: "search = " + setting + " says so"}
}

// taken is what auto takes. Which exact backend it is leaves no trace in the results.
func taken(name, why string) searching {
	if backend.Exact(name) {
		return searching{Result: exact.Name, Backend: name, Why: why}
	}
	return searching{Result: name, Backend: name, Why: why}
}

// smallSearch is the work, in products of values, up to which auto takes exact search without a calibration, which would take as long: every
// CPU does 5e9 a second or more.
const smallSearch = 2e10

// chosenNote is the kind of the notes that tell what auto chose where the choice changes results, by family.
const chosenNote = "chosen"

// settleSearch chooses for auto. Where approximate searches are allowed the choice changes the results, and so it is made once for a store and an
// output directory.
func (r *run) settleSearch(ctx context.Context, sides [2]plan.Side) error {
	if r.cfg.Search != backend.Auto {
		return nil
	}
	free := len(r.cfg.Approximate()) == 0
	if !free {
		if kept, err := r.chosenBefore(ctx); err != nil || kept != nil {
			if kept != nil {
				r.search = *kept
			}
			return err
		}
	}
	r.search = taken(exact.Name, "")
	cells, err := r.cellsToSearch(ctx, sides)
	if err != nil {
		return err
	}
	if r.search, err = r.choose(ctx, cells); err != nil {
		return err
	}
	r.Log.Info("auto chose a search", "search", r.search.Backend, "why", r.search.Why)
	if free {
		return nil
	}
	data, err := json.Marshal(r.search)
	if err != nil {
		return err
	}
	return r.store.WriteNote(ctx, chosenNote, r.choiceName(), data)
}

// chosenBefore returns what auto chose in this store, or else in the run whose output stands in the output directory; nil if it chose nothing.
func (r *run) chosenBefore(ctx context.Context) (*searching, error) {
	kept := &searching{}
	data, err := r.store.ReadNote(ctx, chosenNote, r.choiceName())
	switch {
	case err == nil:
		if err := json.Unmarshal(data, kept); err != nil {
			return nil, badinput.Errorf("the note %s/%s of what search = auto chose is damaged (%w); remove it, or name the search", chosenNote, r.choiceName(), err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case r.previous != nil && r.previous.ConfigDigest == r.report.ConfigDigest && r.previous.Search.Result != "":
		kept = &r.previous.Search.searching
	default:
		return nil, nil
	}
	if before := "auto keeps to its choice of an earlier run, as another would change the results: "; !strings.HasPrefix(kept.Why, before) {
		kept.Why = before + kept.Why
	}
	return kept, nil
}

// choiceName names what runs have in common that share a choice.
func (r *run) choiceName() string {
	s := r.settings()
	s.Search = backend.Auto + " " + strings.Join(r.cfg.Approximate(), " ")
	return plan.Family(s, r.cfg.Source, r.cfg.Target) + ".json"
}

// cellsToSearch lists the shapes of the cells that an exact search would still have to search.
func (r *run) cellsToSearch(ctx context.Context, sides [2]plan.Side) ([]backend.Shape, error) {
	p, err := r.planMining(ctx, sides)
	if err != nil {
		return nil, err
	}
	done, err := r.done(ctx, p)
	return cellShapes(p, done), err
}

// cellShapes lists the shapes of a plan's cells that are not done.
func cellShapes(p *plan.Plan, done map[string]bool) (cells []backend.Shape) {
	for _, wave := range p.Waves {
		for _, t := range wave.Tasks {
			if t.Stage == plan.Search && !done[t.Stage+"/"+t.Key] {
				cells = append(cells, backend.Shape{Rows: p.Sides[0].Shards[t.Shards[0]].Rows, Cols: p.Sides[1].Shards[t.Shards[1]].Rows})
			}
		}
	}
	return cells
}

// choose measures the backends unless there is no need to.
func (r *run) choose(ctx context.Context, cells []backend.Shape) (searching, error) {
	work := 0.0
	for _, c := range cells {
		work += float64(c.Rows) * float64(c.Cols) * float64(r.model.Dim)
	}
	switch {
	case r.remote:
		return taken(exact.Name, fmt.Sprintf("auto takes exact search: what the machines of engine %s can do is not to be measured here", r.cfg.Engine)), nil
	case work <= smallSearch:
		return taken(exact.Name, "auto takes exact search without measuring others: there is too little to search"), nil
	}
	estimates, err := r.estimates(ctx, cells)
	if err != nil {
		return searching{}, err
	}
	best, why, err := backend.Choose(estimates, r.memoryLimit())
	return taken(best.Name, "measured here, "+why), err
}

// estimates calibrates every backend that auto may choose from, and the one that searches.
func (r *run) estimates(ctx context.Context, cells []backend.Shape) ([]backend.Estimate, error) {
	if r.costs != nil {
		return r.costs.Estimates(cells), nil
	}
	names := backend.Candidates(r.cfg.Approximate()...)
	if !slices.Contains(names, r.search.Backend) {
		names = append(names, r.search.Backend)
	}
	c, err := backend.Calibrate(ctx, names, r.model.Dim, r.cfg.K, r.cfg.SearchOptions())
	if err != nil {
		return nil, err
	}
	r.costs = &c
	return c.Estimates(cells), nil
}

// demand gives the tasks of a plan the memory that its backend asks for, where that is not the exact pass, which plan.Mining reckons with.
func demand(p *plan.Plan, name string, threads int) {
	if name == exact.Name {
		return
	}
	for _, wave := range p.Waves {
		for i := range wave.Tasks {
			t := &wave.Tasks[i]
			if t.Stage == plan.Search {
				cell := backend.Shape{Rows: p.Sides[0].Shards[t.Shards[0]].Rows, Cols: p.Sides[1].Shards[t.Shards[1]].Rows}
				t.Memory = max(t.Memory, backend.Memory(name, cell, p.Settings.Dim, p.Settings.K, threads))
			}
		}
	}
}

// memoryLimit bounds the memory of a task here, in bytes; 0: no bound is known.
func (r *run) memoryLimit() int64 {
	if r.cfg.maxMemory > 0 {
		return r.cfg.maxMemory
	}
	return machineMemory()
}
