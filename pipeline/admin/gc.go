package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/merge"
	"bitextmine/pipeline/stage/search"
	"bitextmine/pipeline/store"
)

// Sweep says what mine gc may take away.
type Sweep struct {
	Keep  int  // the last runs into each output directory whose outputs stay
	Cells bool // sweep searched cells too, as merged neighbours hold all that a run needs of them
	// Deleted: forget runs into directories that are not there now, as if those had never been.
	Deleted bool
	Older   time.Duration // younger outputs and leftovers stay, and of whatever age what a running process needs
	DryRun  bool
}

// Swept says what mine gc took away.
type Swept struct {
	Outputs   map[string]int `json:"outputs"` // number of outputs of each stage
	Leftovers int            `json:"leftovers"`
	Notes     int            `json:"notes"`
	Bytes     int64          `json:"bytes"`
	Kept      int            `json:"kept"` // outputs that stay because a running process needs them, or may
}

// GC removes outputs that none of the last runs made or used, and what killed writers left behind. Swept cells cost a
// later run nothing unless text is withdrawn: then they are searched again.
func GC(ctx context.Context, st *store.Store, sweep Sweep, version string, log *slog.Logger) (*Swept, error) {
	if sweep.Keep < 1 || sweep.Older < 0 {
		return nil, badinput.Errorf("keep = %d and older = %s: keep at least one run, and let the age not be negative", sweep.Keep, sweep.Older)
	}
	now := time.Now()
	g := &collector{
		Sweep: sweep, store: st, version: version, log: log, now: now, before: now.Add(-sweep.Older), used: newUsed(now.Add(-sweep.Older)),
		live: map[string]bool{}, swept: &Swept{Outputs: map[string]int{}},
	}
	if err := g.mark(ctx); err != nil {
		return nil, err
	}
	for _, d := range slices.Backward(stage.All()) {
		if err := g.markUsed(ctx); err != nil { // again: a process may have begun meanwhile
			return g.swept, err
		}
		if err := g.outputs(ctx, d.Name); err != nil {
			return g.swept, err
		}
	}
	if err := g.sweepIndexes(); err != nil {
		return g.swept, err
	}
	for _, kind := range []string{record.RunsNote, record.PlansNote, record.RunningNote, record.HeldNote, record.FailedNote, record.LedgerNote,
		record.ProcessorsNote} {
		if err := g.notes(ctx, kind); err != nil {
			return g.swept, err
		}
	}
	if !sweep.DryRun {
		swept, bytes, err := st.Sweep(ctx, g.used.before)
		g.swept.Leftovers += swept
		g.swept.Bytes += bytes
		if err != nil {
			return g.swept, err
		}
	}
	return g.swept, nil
}

// maxAhead is how far clocks of machines that share a store may differ.
const maxAhead = time.Hour

// collector is one sweep.
type collector struct {
	Sweep
	store   *store.Store
	version string // the program's version
	log     *slog.Logger
	now     time.Time
	before  time.Time       // what changed later stays
	live    map[string]bool // "stage/key" of outputs, "kind/name" of notes
	used    used
	swept   *Swept
}

// mark finds what the kept runs made or used, and what running processes need.
func (g *collector) mark(ctx context.Context) error {
	if err := g.markUsed(ctx); err != nil {
		return err
	}
	runs, err := record.History(ctx, g.store)
	if err != nil {
		return err
	}
	if len(runs) == 0 && g.used.processes > 0 { // the first run is under way
		g.used.all, g.before, g.used.before = true, time.Time{}, time.Time{}
		return nil
	}
	if len(runs) == 0 {
		return badinput.Errorf("the store has seen no run, so what is still needed is not known; name the work directory of a run")
	}
	kept := map[string]int{}
	for _, run := range slices.Backward(runs) {
		if g.forgets(run) || g.replaced(run, kept) {
			continue
		}
		g.live[record.RunsNote+"/"+run.Name()] = true
		failure, err := g.markPlan(ctx, run.Plan, g.Cells, func(string) {})
		if err != nil {
			return err
		}
		if failure != nil {
			g.log.Warn("the plan of a run cannot be read: what that run alone needs is swept, and computed again if it is asked for",
				"run", run.Number, "out", run.Out, "reason", failure)
		}
	}
	return nil
}

// forgets reports whether a run counts as one that has never been. It stays where its directory cannot be told: runs
// from before places were kept have it as it was named, from a directory that is not known, and those of other machines
// may be on disks that this one does not see.
func (g *collector) forgets(run record.Run) bool {
	dir, known := run.Directory(g.store.Local(""))
	if !g.Deleted || !known || run.Movable() && run.Host != record.Self().Host {
		return false
	}
	deleted := missing(dir) && (!filepath.IsAbs(run.Out) || !run.Movable() || missing(run.Out))
	if deleted {
		g.log.Info("a run is forgotten, as its output directory was deleted", "run", run.Number, "out", dir)
	}
	return deleted
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// replaced reports whether enough later runs were kept in the stead of one, and counts it if it has ended: what a run
// that failed leaves replaces nothing. A bitext also replaces what was made for it alone, as the examples of a scorer
// or a calibration.
func (g *collector) replaced(run record.Run, kept map[string]int) bool {
	lines := run.Lines(g.store.Local(""))
	own := lines[0] + "\x00" + run.Goal
	enough := kept[own] >= g.Keep || run.Goal != "" && kept[lines[0]+"\x00"] > 0
	if run.Unfinished {
		return enough
	}
	for _, line := range lines {
		kept[line+"\x00"+run.Goal]++
	}
	return enough
}

// young reports whether what changed at a moment stays for that alone. A moment to come is that of a clock which was
// wrong, unless somebody works: then a server's clock may be ahead of this machine's.
func (g *collector) young(changed, before time.Time) bool {
	return changed.After(before) && (g.used.processes > 0 || changed.Before(g.now.Add(maxAhead)))
}

// markPlan marks the outputs of a plan, but for cells if they are swept, and calls also with each, as stage/key. Of a
// plan of another version of the program its tasks are known, not what else it uses; of one that cannot be read, which
// is the failure, nothing.
func (g *collector) markPlan(ctx context.Context, id string, cells bool, also func(output string)) (failure, err error) {
	name := "plan " + id
	g.live[record.PlansNote+"/"+id+".json"], g.live[record.ProcessorsNote+"/"+id] = true, true
	data, err := g.store.ReadNote(ctx, record.PlansNote, id+".json")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	keep := func(stage, key string) {
		g.live[stage+"/"+key] = true
		g.live[record.RunningNote+"/"+stage+"-"+key] = true
		g.live[record.FailedNote+"/"+stage+"-"+key] = true
		also(stage + "/" + key)
	}
	if p, failure := stage.Decode(data, name, g.version); failure == nil {
		stage.Outputs(p, cells, keep)
		return nil, nil
	}
	outputs, failure := plan.Outputs(data, name)
	for _, output := range outputs {
		keep(output[0], output[1])
	}
	return failure, nil
}

// outputs removes a stage's outputs that nobody needs.
func (g *collector) outputs(ctx context.Context, stage string) error {
	for entry, err := range g.store.List(ctx, stage) {
		if err != nil {
			return fmt.Errorf("list %s: %w", stage, err)
		}
		if g.used.all || g.used.outputs[stage+"/"+entry.Name] {
			g.swept.Kept++
		}
		if g.live[stage+"/"+entry.Name] || g.young(entry.Time, g.before) {
			g.live[stage+"/"+entry.Name] = true
			continue
		}
		if !g.DryRun {
			if err := g.store.Remove(ctx, store.Task{Stage: stage, Key: entry.Name}); err != nil {
				return err
			}
		}
		g.swept.Outputs[stage]++
		g.swept.Bytes += entry.Bytes
	}
	return nil
}

// sweepIndexes removes index files that nobody has used since a moment.
func (g *collector) sweepIndexes() error {
	dir := g.store.Local(search.IndexesName)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list the index files: %w", err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || strings.HasPrefix(entry.Name(), ".") || g.young(info.ModTime(), g.used.before) {
			continue // gone meanwhile, or a leftover, which Sweep takes
		}
		if !g.DryRun {
			if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		g.swept.Outputs[search.IndexesName]++
		g.swept.Bytes += info.Size()
	}
	return nil
}

func (g *collector) notes(ctx context.Context, kind string) error {
	for entry, err := range g.store.List(ctx, kind) {
		if err != nil {
			return fmt.Errorf("list %s: %w", kind, err)
		}
		if g.live[kind+"/"+entry.Name] || g.young(entry.Time, g.before) {
			continue
		}
		if kind == record.LedgerNote {
			if whole, err := g.ledgerWhole(ctx, entry.Name); err != nil || whole {
				if err != nil {
					return err
				}
				continue
			}
		}
		remove := func() error { return g.store.DeleteNote(ctx, kind, entry.Name) }
		if kind == record.ProcessorsNote {
			remove = func() error { return g.store.Remove(ctx, store.Task{Stage: kind, Key: entry.Name}) }
		}
		if !g.DryRun {
			if err := remove(); err != nil {
				return err
			}
		}
		g.swept.Notes++
	}
	return nil
}

// ledgerWhole reports whether a ledger is of use: whether all merges that it names are still there or, of a ledger of
// another stage, any of the outputs.
func (g *collector) ledgerWhole(ctx context.Context, name string) (bool, error) {
	data, err := g.store.ReadNote(ctx, record.LedgerNote, name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	ledger := plan.Ledger{}
	if json.Unmarshal(data, &ledger) != nil || len(ledger.ShardSets) == 0 {
		return g.anyLive(data), nil
	}
	for _, side := range ledger.Sides {
		for _, merged := range side {
			if !g.live[merge.Stage.Name+"/"+merged.Key] {
				return false, nil
			}
		}
	}
	return true, nil
}

// anyLive says whether any output is there that a ledger names which has one for each shard or one in all.
func (g *collector) anyLive(data []byte) bool {
	var ledger struct {
		plan.Earlier
		Key string `json:"key"`
	}
	if json.Unmarshal(data, &ledger) != nil {
		return false
	}
	keys := []string{ledger.Key}
	for _, side := range ledger.Sides {
		for _, outputs := range side {
			keys = append(keys, outputs...)
		}
	}
	return slices.ContainsFunc(stage.All(), func(d *stage.Descriptor) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return g.live[d.Name+"/"+key] })
	})
}

// String is the sweep in a line.
func (s *Swept) String() string {
	var parts []string
	for _, name := range append(stageNames(), search.IndexesName) {
		if n := s.Outputs[name]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d of %s", n, name))
		}
	}
	if parts == nil {
		parts = []string{"no outputs"}
	}
	if s.Leftovers > 0 {
		parts = append(parts, fmt.Sprintf("%d leftovers", s.Leftovers))
	}
	line := fmt.Sprintf("%s, %d notes, %s", strings.Join(parts, ", "), s.Notes, plan.Bytes(s.Bytes))
	if s.Kept > 0 {
		line += fmt.Sprintf("; kept %d outputs that running tasks need", s.Kept)
	}
	return line
}

func stageNames() []string {
	var names []string
	for _, d := range stage.All() {
		names = append(names, d.Name)
	}
	return names
}
