package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/store"
)

// Sweep says what mine gc may take away.
type Sweep struct {
	Keep   int           // the last runs into each output directory whose outputs stay
	Cells  bool          // sweep searched cells too, as merged neighbours hold all that a run needs of them
	Older  time.Duration // younger outputs and leftovers stay: a run that is under way may need them
	DryRun bool
}

// Swept says what mine gc took away.
type Swept struct {
	Outputs   map[string]int `json:"outputs"` // by stage
	Leftovers int            `json:"leftovers"`
	Notes     int            `json:"notes"`
	Bytes     int64          `json:"bytes"`
}

// GC removes outputs that none of the last runs made or used, and what killed writers left behind. Swept cells cost a later run
// nothing unless text is withdrawn: then they are searched again.
func GC(ctx context.Context, work string, sweep Sweep, opts Options) (_ *Swept, err error) {
	if sweep.Keep < 1 || sweep.Older < 0 {
		return nil, badinput.Errorf("keep = %d and older = %s: keep at least one run, and let the age not be negative", sweep.Keep, sweep.Older)
	}
	st, err := opts.openSeen(ctx, work)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	g := &collector{Sweep: sweep, store: st, before: time.Now().Add(-sweep.Older), live: map[string]bool{}, swept: &Swept{Outputs: map[string]int{}}}
	if err := g.mark(ctx, opts.Version); err != nil {
		return nil, err
	}
	for _, stage := range []string{plan.Match, plan.Merge, plan.Search, plan.Encode, plan.Shard} {
		if err := g.outputs(ctx, stage); err != nil {
			return g.swept, err
		}
	}
	if err := g.sweepIndexes(); err != nil {
		return g.swept, err
	}
	for _, kind := range []string{runsNote, plansNote, runningNote, failedNote, ledgerNote} {
		if err := g.notes(ctx, kind); err != nil {
			return g.swept, err
		}
	}
	if !sweep.DryRun {
		swept, bytes, err := st.Sweep(ctx, g.before)
		g.swept.Leftovers += swept
		g.swept.Bytes += bytes
		if err != nil {
			return g.swept, err
		}
	}
	return g.swept, nil
}

// collector is one sweep.
type collector struct {
	Sweep
	store  *store.Store
	before time.Time
	live   map[string]bool // "stage/key" of outputs, "kind/name" of notes
	swept  *Swept
}

// mark finds what the kept runs made or used.
func (g *collector) mark(ctx context.Context, version string) error {
	runs, err := history(ctx, g.store)
	if err != nil {
		return err
	}
	if len(runs) == 0 {
		return badinput.Errorf("the store has seen no run, so nothing tells what is still needed; name the work directory of a run")
	}
	kept := map[string]int{}
	for i := len(runs) - 1; i >= 0; i-- {
		into := runs[i].Out + " " + runs[i].Source + " " + runs[i].Target
		if kept[into]++; kept[into] > g.Keep {
			continue
		}
		p, err := readPlan(ctx, g.store, runs[i].Plan, version)
		if badinput.Is(err) {
			// Its outputs cannot be named; nothing that it alone used can be told from what nobody uses.
			return fmt.Errorf("run %d into %s: %w", runs[i].Number, runs[i].Out, err)
		}
		if err != nil {
			return err
		}
		g.live[runsNote+"/"+runs[i].name()] = true
		g.live[plansNote+"/"+runs[i].Plan+".json"] = true
		outputs(p, !g.Cells, func(stage, key string) {
			g.live[stage+"/"+key] = true
			g.live[runningNote+"/"+stage+"-"+key] = true
			g.live[failedNote+"/"+stage+"-"+key] = true
		})
	}
	return nil
}

// outputs removes a stage's outputs that nobody needs.
func (g *collector) outputs(ctx context.Context, stage string) error {
	for entry, err := range g.store.List(ctx, stage) {
		if err != nil {
			return fmt.Errorf("list %s: %w", stage, err)
		}
		if g.live[stage+"/"+entry.Name] || entry.Time.After(g.before) {
			g.live[stage+"/"+entry.Name] = true
			continue
		}
		g.swept.Outputs[stage]++
		g.swept.Bytes += entry.Bytes
		if g.DryRun {
			continue
		}
		if err := g.store.Remove(ctx, store.Task{Stage: stage, Key: entry.Name}); err != nil {
			return err
		}
	}
	return nil
}

// sweepIndexes removes index files that nobody has used since a moment.
func (g *collector) sweepIndexes() error {
	dir := g.store.Local(indexesName)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list the index files: %w", err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || strings.HasPrefix(entry.Name(), ".") || info.ModTime().After(g.before) {
			continue // gone meanwhile, or a leftover, which Sweep takes
		}
		g.swept.Outputs[indexesName]++
		g.swept.Bytes += info.Size()
		if g.DryRun {
			continue
		}
		if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (g *collector) notes(ctx context.Context, kind string) error {
	for entry, err := range g.store.List(ctx, kind) {
		if err != nil {
			return fmt.Errorf("list %s: %w", kind, err)
		}
		if g.live[kind+"/"+entry.Name] || entry.Time.After(g.before) {
			continue
		}
		if kind == ledgerNote {
			if whole, err := g.ledgerWhole(ctx, entry.Name); err != nil || whole {
				if err != nil {
					return err
				}
				continue
			}
		}
		g.swept.Notes++
		if g.DryRun {
			continue
		}
		if err := g.store.DeleteNote(ctx, kind, entry.Name); err != nil {
			return err
		}
	}
	return nil
}

// ledgerWhole reports whether all that a ledger names is still there.
func (g *collector) ledgerWhole(ctx context.Context, name string) (bool, error) {
	data, err := g.store.ReadNote(ctx, ledgerNote, name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	ledger := plan.Ledger{}
	if err != nil || json.Unmarshal(data, &ledger) != nil {
		return false, err
	}
	for _, side := range ledger.Sides {
		for _, merged := range side {
			if !g.live[plan.Merge+"/"+merged.Key] {
				return false, nil
			}
		}
	}
	return true, nil
}

// String is the sweep in a line.
func (s *Swept) String() string {
	var parts []string
	for _, stage := range []string{plan.Shard, plan.Encode, plan.Search, plan.Merge, plan.Match, indexesName} {
		if n := s.Outputs[stage]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d of %s", n, stage))
		}
	}
	if parts == nil {
		parts = []string{"no outputs"}
	}
	return fmt.Sprintf("%s, %d leftovers, %d notes, %s", strings.Join(parts, ", "), s.Leftovers, s.Notes, plan.Bytes(s.Bytes))
}
