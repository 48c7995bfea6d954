package admin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
)

// used holds the outputs and plans that running processes need.
type used struct {
	processes int             // notes of those that may be running
	all       bool            // what they need is not known, so everything stays
	outputs   map[string]bool // "stage/key"
	plans     map[string]bool // ids whose outputs are among them
	before    time.Time       // leftovers and index files that changed later stay
}

// margin is how long before a process's note, or before a sweep, something that it needs may have changed last: a file
// that is being written has no note, and clocks differ.
const margin = time.Minute

func newUsed(before time.Time) used {
	u := used{outputs: map[string]bool{}, plans: map[string]bool{}, before: before}
	u.since(time.Now())
	return u
}

// since keeps what changed since a moment, or shortly before.
func (u *used) since(moment time.Time) {
	if limit := moment.Add(-margin); limit.Before(u.before) {
		u.before = limit
	}
}

// markUsed marks what running processes need: the plans that they hold, those of running tasks, and, of whatever they
// are writing, all that changed since the first of them began.
func (g *collector) markUsed(ctx context.Context) error {
	g.used.processes = 0
	held, err := g.holders(ctx, record.HeldNote)
	if err != nil {
		return err
	}
	for name := range held {
		if err := g.usePlan(ctx, record.HeldPlan(name)); err != nil {
			return err
		}
	}
	running, err := g.holders(ctx, record.RunningNote)
	if err != nil {
		return err
	}
	for name := range running {
		output := strings.Replace(name, "-", "/", 1)
		if g.used.outputs[output] {
			delete(running, name)
		}
		g.live[output], g.used.outputs[output] = true, true
	}
	if len(running) == 0 {
		return nil
	}
	for entry, err := range g.store.List(ctx, record.PlansNote) {
		if err != nil {
			return fmt.Errorf("list %s: %w", record.PlansNote, err)
		}
		id := strings.TrimSuffix(entry.Name, ".json")
		has, err := g.hasTask(ctx, id, running)
		if err == nil && has {
			err = g.usePlan(ctx, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// holders returns the notes of a kind whose processes may be running.
func (g *collector) holders(ctx context.Context, kind string) (map[string]record.Holder, error) {
	all, err := record.Holders(ctx, g.store, kind)
	if err != nil {
		return nil, err
	}
	for name, h := range all {
		if !h.MayLive() {
			delete(all, name)
			continue
		}
		g.live[kind+"/"+name] = true
		g.used.processes++
		g.used.since(h.Since)
	}
	return all, nil
}

// usePlan marks the outputs of a plan that a running process needs. Of a plan that cannot be read only the outputs that
// its tasks are writing are known.
func (g *collector) usePlan(ctx context.Context, id string) error {
	if g.used.plans[id] {
		return nil
	}
	unread, err := g.markPlan(ctx, id, false, func(output string) { g.used.outputs[output] = true })
	g.used.plans[id] = unread == nil && err == nil // else it is read again: it may just be written
	return err
}

// hasTask reports whether one of the running tasks is in a plan.
func (g *collector) hasTask(ctx context.Context, id string, running map[string]record.Holder) (bool, error) {
	if g.used.plans[id] {
		return false, nil
	}
	data, err := g.store.ReadNote(ctx, record.PlansNote, id+".json")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	outputs, failure := plan.Outputs(data, "plan "+id)
	if failure != nil {
		g.log.Debug("a plan cannot be read", "plan", id, "reason", failure)
	}
	for _, output := range outputs {
		if _, ok := running[output[0]+"-"+output[1]]; ok {
			return true, nil
		}
	}
	return false, nil
}
