package overview

import (
	"context"
	"math"
	"slices"
	"time"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/admin"
	"bitextmine/pipeline/record"
)

// Night is a line of the history.
type Night struct {
	Name       string
	Started    time.Time
	Kept       int
	Change     int    // difference of Kept to the night before
	Previous   string // the night before; empty: it is the first that is there
	Candidates int
	Sources    int // different sentences
	Targets    int
	Seconds    float64
	Warnings   int // and files set aside
	Shown      bool
	Damage     string // why its run.json cannot be read
}

// history is the nights, the newest first.
func (p Place) history() []Night {
	var all []Night
	previous := Night{}
	for _, name := range p.nightNames() {
		one := Night{Name: name, Shown: name == p.Night()}
		r, err := record.ReadReport(p.directory(name))
		if err != nil {
			one.Damage = err.Error()
			all = append(all, one)
			continue
		}
		c := r.Counts
		one.Started, one.Seconds, one.Warnings = r.Started, r.Seconds, len(r.Warnings)+len(r.SetAside)
		one.Kept, one.Candidates, one.Sources, one.Targets = c.Kept, c.Candidates, c.SourceUnique, c.TargetUnique
		if previous.Name != "" {
			one.Previous, one.Change = previous.Name, one.Kept-previous.Kept
		}
		previous = one
		all = append(all, one)
	}
	slices.Reverse(all)
	return all
}

// Changes lists a night's changes.
type Changes struct {
	Night, Previous string
	Languages       [2]string
	*admin.Difference
	Shown  []admin.Change // the best maxShown changes of each kind
	Hidden int            // pairs whose score changed by less than minChange
}

const (
	maxShown  = 20
	minChange = 0.01
)

// Changes compares a night with the one before it.
func (r *Run) Changes(ctx context.Context, night string) (*Changes, error) {
	names := r.nightNames()
	at := slices.Index(names, night)
	before := at - 1
	for before >= 0 && unreadable(r.directory(names[before])) {
		before-- // the history leaves it out, too
	}
	switch {
	case at < 0:
		return nil, badinput.Errorf(
			"there is no night %q in %s: name one of those that the overview lists; nights beyond the last keep are removed", night, r.Out)
	case before < 0:
		return nil, badinput.Errorf("no night before %s is there any more, so there is nothing to compare it with",
			night)
	}
	d, err := admin.Diff(ctx, r.directory(names[before]), r.directory(night))
	if err != nil {
		return nil, err
	}
	c := &Changes{Night: night, Previous: names[before], Languages: r.Languages(), Difference: d}
	shown := map[string]int{}
	for _, change := range d.Changes {
		if change.Kind == admin.Rescored && math.Abs(float64(change.After)-float64(change.Before)) < minChange {
			c.Hidden++
			continue
		}
		if shown[change.Kind]++; shown[change.Kind] <= maxShown {
			c.Shown = append(c.Shown, change)
		}
	}
	d.Changes = nil // free what is not shown
	return c, nil
}

// unreadable reports whether a night's run.json cannot be read.
func unreadable(dir string) bool {
	_, err := record.ReadReport(dir)
	return err != nil
}

// Of are the changes of a kind.
func (c *Changes) Of(kind string) (some []admin.Change) {
	for _, change := range c.Shown {
		if change.Kind == kind {
			some = append(some, change)
		}
	}
	return some
}
