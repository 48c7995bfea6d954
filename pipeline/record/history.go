package record

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"bitextmine/pipeline/store"
)

// The kinds of notes in the store.
const (
	PlansNote   = "plans"   // by id
	LedgerNote  = "ledger"  // by family
	RunningNote = "running" // by stage-key: a task that somebody works on
	HeldNote    = "held"    // by plan id and process: a plan that a process works on
	FailedNote  = "failed"  // by stage-key: how a task failed last
	RunsNote    = "runs"    // which plans runs had, named by a number that only rises, whatever clocks do
	FittedNote  = "fitted"  // the scorer that scorer = auto fitted, by what it depends on besides the text
	ChosenNote  = "chosen"  // what search = auto chose where the choice changes results, by family
)

// Run is a run that the store has seen.
type Run struct {
	Number int    `json:"number"`
	Plan   string `json:"plan"`           // id
	Goal   string `json:"goal,omitempty"` // the stage that was asked for; empty: the bitext
	Out    string `json:"out"`
	Source string `json:"src"`
	Target string `json:"tgt"`
	Holder
}

// Name is the name of the run's note.
func (r Run) Name() string { return fmt.Sprintf("%08d-%s.json", r.Number, r.Plan) }

// Line is what runs have in common of which a later one takes the place of an earlier one: what they were asked for,
// and where.
func (r Run) Line() string { return strings.Join([]string{r.Goal, r.Out, r.Source, r.Target}, "\x00") }

// History returns the runs that the store has seen, the oldest first. A note that does not parse is no run.
func History(ctx context.Context, st *store.Store) ([]Run, error) {
	var runs []Run
	for entry, err := range st.List(ctx, RunsNote) {
		if err != nil {
			return nil, fmt.Errorf("list the runs: %w", err)
		}
		data, err := st.ReadNote(ctx, RunsNote, entry.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // swept meanwhile
		}
		if err != nil {
			return nil, err
		}
		var r Run
		if json.Unmarshal(data, &r) == nil && r.Name() == entry.Name {
			runs = append(runs, r)
		}
	}
	slices.SortFunc(runs, func(a, b Run) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), strings.Compare(a.Plan, b.Plan))
	})
	return runs, nil
}

// Enter adds a run to the history. A run of the same plan into the same place takes the place of the one before.
func Enter(ctx context.Context, st *store.Store, r Run) error {
	runs, err := History(ctx, st)
	if err != nil {
		return err
	}
	r.Number, r.Holder = 1, Self()
	if len(runs) > 0 {
		r.Number = runs[len(runs)-1].Number + 1
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := st.WriteNote(ctx, RunsNote, r.Name(), data); err != nil {
		return err
	}
	for _, old := range runs {
		if old.Plan == r.Plan && old.Out == r.Out {
			// One that stays behind only keeps its plan's outputs longer.
			if err := st.DeleteNote(ctx, RunsNote, old.Name()); err != nil && ctx.Err() != nil {
				return err
			}
		}
	}
	return nil
}
