package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/store"
)

// runsNote is the kind of the notes that tell which plans runs had, named by a number that only rises, whatever clocks do.
const runsNote = "runs"

// RunNote is a run that the store has seen.
type RunNote struct {
	Number int    `json:"number"`
	Plan   string `json:"plan"` // id
	Out    string `json:"out"`
	Source string `json:"src"`
	Target string `json:"tgt"`
	Holder
}

func (n RunNote) name() string { return fmt.Sprintf("%08d-%s.json", n.Number, n.Plan) }

// openSeen opens a store that runs have used: no directory is made for a name that was mistyped.
func (o Options) openSeen(ctx context.Context, work string) (*store.Store, error) {
	if info, err := os.Stat(work); !store.Remote(work) && (err != nil || !info.IsDir()) {
		return nil, badinput.Errorf("%s is no work directory; name one with --work", work)
	}
	return o.openStore(ctx, work)
}

// history returns the runs that the store has seen, the oldest first. A note that does not parse is no run.
func history(ctx context.Context, st *store.Store) ([]RunNote, error) {
	var runs []RunNote
	for entry, err := range st.List(ctx, runsNote) {
		if err != nil {
			return nil, fmt.Errorf("list the runs: %w", err)
		}
		data, err := st.ReadNote(ctx, runsNote, entry.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // swept meanwhile
		}
		if err != nil {
			return nil, err
		}
		var n RunNote
		if json.Unmarshal(data, &n) == nil && n.name() == entry.Name {
			runs = append(runs, n)
		}
	}
	slices.SortFunc(runs, func(a, b RunNote) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), strings.Compare(a.Plan, b.Plan))
	})
	return runs, nil
}

// enter adds a run to the history. A run of the same plan into the same place takes the place of the one before.
func (r *run) enter(ctx context.Context, id string) error {
	runs, err := history(ctx, r.store)
	if err != nil {
		return err
	}
	n := RunNote{Number: 1, Plan: id, Out: r.cfg.Out, Source: r.cfg.Source, Target: r.cfg.Target, Holder: holder()}
	if len(runs) > 0 {
		n.Number = runs[len(runs)-1].Number + 1
	}
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	if err := r.store.WriteNote(ctx, runsNote, n.name(), data); err != nil {
		return err
	}
	for _, old := range runs {
		if old.Plan == id && old.Out == n.Out {
			r.forget(ctx, runsNote, old.name())
		}
	}
	return nil
}

func (r *run) forget(ctx context.Context, kind, name string) {
	if err := r.store.DeleteNote(ctx, kind, name); err != nil {
		r.Log.Debug("a note stays behind", "kind", kind, "name", name, "reason", err)
	}
}

// outputs calls keep with every output that a plan makes or uses; its cells beyond those that it searches are in it if cells is set.
func outputs(p *plan.Plan, cells bool, keep func(stage, key string)) {
	for _, side := range p.Sides {
		for _, in := range side.Inputs {
			keep(plan.Shard, plan.ShardKey(in, p.Settings))
		}
	}
	for _, wave := range p.Waves {
		for _, t := range wave.Tasks {
			if t.Stage != plan.Search || cells {
				keep(t.Stage, t.Key)
			}
			if t.Base != nil {
				keep(plan.Merge, t.Base.Key)
			}
		}
	}
	if cells {
		for _, source := range p.Sides[0].Shards {
			for _, target := range p.Sides[1].Shards {
				keep(plan.Search, plan.CellKey(p.Settings, source.Vector, target.Vector))
			}
		}
	}
}
