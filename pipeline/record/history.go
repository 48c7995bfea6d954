// Package record reads and writes the files that runs leave besides bitext: run.json in the output directory, and in
// the store the history of runs, the notes of who works on which task, and locks.
package record

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/store"
)

// The kinds of notes in the store.
const (
	PlansNote   = "plans"   // files are named by id
	LedgerNote  = "ledger"  // files are named by family
	RunningNote = "running" // files are named stage-key: a task that somebody works on
	HeldNote    = "held"    // files are named by plan id and process: a plan that a process works on
	FailedNote  = "failed"  // files are named stage-key: how a task failed last
	RunsNote    = "runs"    // which plans runs had, named by a number that only rises, whatever clocks do
	FittedNote  = "fitted"  // the scorer that scorer = auto fitted, by what it depends on besides the text
	ChosenNote  = "chosen"  // what search = auto chose where the choice changes results, by family
)

// ProcessorsNote is the kind of what OneProcessor leaves, by plan id. It is written once, as outputs are.
const ProcessorsNote = "processors"

// Run is a run that the store has seen.
type Run struct {
	Number int    `json:"number"`
	Plan   string `json:"plan"`           // id
	Goal   string `json:"goal,omitempty"` // the stage that was asked for; empty: the bitext
	Out    string `json:"out"`            // the output directory as it was named
	Into   string `json:"into,omitempty"` // the output directory, of [Into]; empty: the run was before this was kept
	Source string `json:"src"`
	Target string `json:"tgt"`
	// Pairs are those whose tasks are done together; Source and Target are then empty.
	Pairs []string `json:"pairs,omitempty"`
	// Unfinished: it is under way, or was stopped or failed. Those from before this was kept count as ended.
	Unfinished bool `json:"unfinished,omitempty"`
	Holder
}

// Of names the pairs of languages that are mined.
func (r Run) Of() string {
	if len(r.Pairs) > 0 {
		return strings.Join(r.Pairs, ", ")
	}
	return r.Source + "-" + r.Target
}

// Name is the name of the run's note.
func (r Run) Name() string { return fmt.Sprintf("%08d-%s.json", r.Number, r.Plan) }

// Lines name the successions that a run counts in, apart from its goal: the runs of two languages into a directory,
// of a store whose files are in a work directory. Later runs of the first one replace it. The second has also the runs
// from before places were kept, whose directory is known by how it was named.
func (r Run) Lines(work string) []string {
	named := strings.Join([]string{"named", r.Out, r.Source, r.Target}, "\x00")
	if r.Into == "" {
		return []string{named}
	}
	into := r.Into
	// Notes of before have a directory beside the work directory absolute.
	if dir, known := r.Directory(work); known {
		into = dir
	}
	return []string{strings.Join([]string{"into", into, r.Source, r.Target}, "\x00"), named}
}

// Into is the place of an output directory, which does not depend on how it is named: from the work directory if that
// lies in it, or both in one directory, as those of many pairs do, so that they move together; else absolute.
func Into(work, out string) (string, error) {
	out, err := Resolved(out)
	if err != nil || store.Remote(work) {
		return out, err
	}
	work, err = Resolved(work)
	if err != nil {
		return "", err
	}
	if Within(out, work) || Within(filepath.Dir(work), out) {
		return filepath.Rel(work, out)
	}
	return out, nil
}

// Within reports whether a path is that of a directory or lies in it.
func Within(dir, path string) bool {
	from, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(from)
}

// Movable reports whether the run's output directory may lie elsewhere than [Run.Directory] says: what is beside the
// work directory may have moved with it or not, and on another machine a path may lead to another disk. One that the
// work directory lies in is where that is.
func (r Run) Movable() bool { return strings.Trim(r.Into, "./") != "" || r.Into == "" }

// Directory is the run's output directory, of a store whose files are in a work directory. It is known if the directory
// from which the run was started does not matter.
func (r Run) Directory(work string) (path string, known bool) {
	var err error
	switch {
	case r.Into == "":
		path, err = Resolved(r.Out)
		return path, err == nil && filepath.IsAbs(r.Out)
	case filepath.IsAbs(r.Into):
		return r.Into, true
	}
	work, err = Resolved(work)
	return filepath.Join(work, r.Into), err == nil
}

// Resolved is a path from the root, without links as far as it is there.
func Resolved(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return followed(path), nil
}

// followed follows the links of a path from the root.
func followed(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if path == filepath.Dir(path) {
		return path
	}
	return filepath.Join(followed(filepath.Dir(path)), filepath.Base(path))
}

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

// Enter adds a run that begins to the history, and returns it as it stands there. A run of the same plan into the same
// place takes the place of the one before.
func Enter(ctx context.Context, st *store.Store, r Run) (Run, error) {
	runs, err := History(ctx, st)
	if err != nil {
		return r, err
	}
	r.Number, r.Unfinished, r.Holder = 1, true, Self()
	if len(runs) > 0 {
		r.Number = runs[len(runs)-1].Number + 1
	}
	data, err := json.Marshal(r)
	if err != nil {
		return r, err
	}
	if err := st.WriteNote(ctx, RunsNote, r.Name(), data); err != nil {
		return r, err
	}
	for _, old := range runs {
		if old.Plan == r.Plan && (old.Into == r.Into || old.Into == "" && old.Out == r.Out) {
			// One that stays behind only keeps its plan's outputs longer.
			if err := st.DeleteNote(ctx, RunsNote, old.Name()); err != nil && ctx.Err() != nil {
				return r, err
			}
		}
	}
	return r, nil
}

// Ended notes that a run which was entered has ended well, so that it replaces earlier ones. Without the note only more
// is kept. It does not bring back the note of one whose place a run of the same plan took meanwhile.
func Ended(ctx context.Context, st *store.Store, log *slog.Logger, r Run) {
	r.Unfinished = false
	_, err := st.ReadNote(ctx, RunsNote, r.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	data, failed := json.Marshal(r)
	if err = errors.Join(err, failed); err == nil {
		err = st.WriteNote(ctx, RunsNote, r.Name(), data)
	}
	if err != nil {
		log.Debug("mine gc will not know that a run has ended", "plan", r.Plan, "reason", err)
	}
}

// ReadLedger returns what earlier runs left under a name: a [plan.Ledger] or [plan.Earlier]; nil: nothing. A ledger is
// a hint, so callers go on without one that is damaged.
func ReadLedger[T any](ctx context.Context, st *store.Store, name string) (*T, error) {
	data, err := st.ReadNote(ctx, LedgerNote, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ledger := new(T)
	if err := json.Unmarshal(data, ledger); err != nil {
		return nil, fmt.Errorf("ledger %s: %w", name, err)
	}
	return ledger, nil
}

// WriteLedger leaves a ledger for the next run.
func WriteLedger(ctx context.Context, st *store.Store, name string, ledger any) error {
	data, err := json.Marshal(ledger)
	if err != nil {
		return err
	}
	return st.WriteNote(ctx, LedgerNote, name, data)
}

// PlanPath is the location of a plan in a store. The options of a bucket stay behind it.
func PlanPath(work, id string) string {
	place, options := splitOptions(work)
	return strings.TrimSuffix(place, "/") + "/" + PlansNote + "/" + id + ".json" + options
}

func splitOptions(location string) (place, options string) {
	if at := strings.IndexByte(location, '?'); at >= 0 && store.Remote(location) {
		return location[:at], location[at:]
	}
	return location, ""
}

// SplitPlanPath returns a plan's store and id.
func SplitPlanPath(location string) (work, id string, err error) {
	place, options := splitOptions(location)
	dir, file := path.Split(place)
	work, inPlans := strings.CutSuffix(dir, "/"+PlansNote+"/")
	id, isJSON := strings.CutSuffix(file, ".json")
	if !inPlans || !isJSON || work == "" || id == "" {
		return "", "", badinput.Errorf("%q is not the place of a plan; it has the form WORK/%s/ID.json, as mine plan prints it", location, PlansNote)
	}
	return work + options, id, nil
}

// StartSpan begins a span of the program's tracer, which by default keeps and sends nothing.
func StartSpan(ctx context.Context, name string, attributes ...attribute.KeyValue) (context.Context, trace.Span) {
	return otel.Tracer("bitextmine/pipeline").Start(ctx, name, trace.WithAttributes(attributes...))
}

// EndSpan ends a span; err is how its work ended.
func EndSpan(span trace.Span, err error) {
	if err != nil {
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
	}
	span.End()
}
