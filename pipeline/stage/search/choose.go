package search

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"bitextmine/index/backend"
	"bitextmine/index/cuda"
	"bitextmine/index/exact"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/stage"
)

// Choice is how a run searches.
type Choice struct {
	Result  string `json:"result"`  // whose lists they are: in keys and in the bitext
	Backend string `json:"backend"` // that makes them
	Why     string `json:"why"`     // the reason for the backend
}

// As is the choice of a run that names its search; of auto nothing is chosen yet. That a GPU found them is not a
// setting of results.
func As(name string) Choice {
	why := "search = " + name + " says so"
	if name == cuda.Name {
		return Taking(name, why)
	}
	return Choice{Result: name, Backend: name, Why: why}
}

// Taking returns auto's choice of a backend. Which exact backend it is leaves no trace in the results.
func Taking(name, why string) Choice {
	if backend.Exact(name) {
		return Choice{Result: exact.Name, Backend: name, Why: why}
	}
	return Choice{Result: name, Backend: name, Why: why}
}

// Chooser measures search backends on this machine and chooses one.
type Chooser struct {
	Settings    setting.Searching
	Options     backend.Options
	Dim, K      int
	Engine      string               // the engine that runs the tasks
	Remote      bool                 // they run on other machines
	MemoryLimit int64                // bytes of a task here; 0: no bound is known
	Costs       *backend.Calibration // once measured
}

// smallSearch is the work, in products of values, up to which auto takes exact search without a calibration, which
// would take as long: every CPU does 5e9 a second or more.
const smallSearch = 2e10

// Left lists the shapes of a plan's cells that are not done.
func Left(p *plan.Plan, done func(stage, key string) bool) (cells []backend.Shape) {
	stage.EachArgs(p, Stage.Name, func(t *plan.Task, a args) {
		if !done(Stage.Name, t.Key) {
			cells = append(cells, a.shape(p))
		}
	})
	return cells
}

// Choose chooses a backend for cells. It measures the backends unless there is no need to.
func (c *Chooser) Choose(ctx context.Context, cells []backend.Shape) (Choice, error) {
	work := 0.0
	for _, cell := range cells {
		work += float64(cell.Rows) * float64(cell.Cols) * float64(c.Dim)
	}
	switch {
	case c.Remote:
		return Taking(exact.Name, fmt.Sprintf("auto takes exact search: the speed of the machines of engine %s cannot be measured here", c.Engine)), nil
	case work <= smallSearch:
		return Taking(exact.Name, "auto takes exact search without measuring others: there is too little to search"), nil
	}
	estimates, err := c.Estimates(ctx, exact.Name, cells)
	if err != nil {
		return Choice{}, err
	}
	best, why, err := backend.Choose(estimates, c.MemoryLimit)
	return Taking(best.Name, "measured here, "+why), err
}

// Estimates calibrates every backend that auto may choose from, and the one that searches.
func (c *Chooser) Estimates(ctx context.Context, searching string, cells []backend.Shape) ([]backend.Estimate, error) {
	if c.Costs != nil {
		return c.Costs.Estimates(cells), nil
	}
	names := backend.Candidates(c.Settings.Approximate()...)
	if !slices.Contains(names, searching) {
		names = append(names, searching)
	}
	costs, err := backend.Calibrate(ctx, names, c.Dim, c.K, c.Options)
	if err != nil {
		return nil, err
	}
	c.Costs = &costs
	return costs.Estimates(cells), nil
}

// NoteOf names what runs have in common that share a choice of auto.
func NoteOf(s plan.Settings, chosen setting.Searching, source, target string) string {
	s.Search = backend.Auto + " " + strings.Join(chosen.Approximate(), " ")
	return plan.Family(s, source, target) + ".json"
}
