package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"

	"bitextmine/index/backend"
	"bitextmine/index/exact"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/search"
)

// chooseSearch chooses for auto. Where approximate searches are allowed the choice changes the results, and so it is
// made once for a store and an output directory.
func (r *run) chooseSearch(ctx context.Context, languages []plan.Language) error {
	if r.cfg.Search != backend.Auto {
		return nil
	}
	exactOnly := len(r.cfg.Approximate()) == 0
	if !exactOnly {
		if kept, err := r.chosenBefore(ctx); err != nil || kept != nil {
			if kept != nil {
				r.search = *kept
			}
			return err
		}
	}
	r.search = search.Taking(exact.Name, "")
	cells, err := r.cellsToSearch(ctx, languages)
	if err != nil {
		return err
	}
	if r.search, err = r.chooser.Choose(ctx, cells); err != nil {
		return err
	}
	r.Log.Info("auto chose a search", "search", r.search.Backend, "why", r.search.Why)
	if exactOnly {
		return nil
	}
	data, err := json.Marshal(r.search)
	if err != nil {
		return err
	}
	return r.store.WriteNote(ctx, record.ChosenNote, r.choiceName(), data)
}

// choiceName is the note of auto's choice.
func (r *run) choiceName() string {
	return search.NoteOf(r.settings(), r.cfg.Searching, r.cfg.Source, r.cfg.Target)
}

// chosenBefore returns what auto chose in this store, or else in the run whose output stands in the output directory;
// nil if it chose nothing.
func (r *run) chosenBefore(ctx context.Context) (*search.Choice, error) {
	kept := &search.Choice{}
	data, err := r.store.ReadNote(ctx, record.ChosenNote, r.choiceName())
	switch {
	case err == nil:
		if err := json.Unmarshal(data, kept); err != nil {
			return nil, badinput.Errorf("the note %s/%s of what search = auto chose is damaged (%w); remove it, or name the search",
				record.ChosenNote, r.choiceName(), err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case r.previous != nil && r.previous.ConfigDigest == r.report.ConfigDigest && r.previous.Search.Result != "":
		kept = &search.Choice{Result: r.previous.Search.Result, Backend: r.previous.Search.Backend, Why: r.previous.Search.Why}
	default:
		return nil, nil
	}
	if before := "auto keeps to its choice of an earlier run, as another would change the results: "; !strings.HasPrefix(kept.Why, before) {
		kept.Why = before + kept.Why
	}
	return kept, nil
}

// cellsToSearch lists the shapes of the cells that an exact search would still have to search.
func (r *run) cellsToSearch(ctx context.Context, languages []plan.Language) ([]backend.Shape, error) {
	request, err := r.request(ctx, languages)
	if err != nil {
		return nil, err
	}
	p, err := stage.Build(request)
	if err != nil {
		return nil, err
	}
	done, err := r.done(ctx, p)
	if err != nil {
		return nil, err
	}
	return search.Left(p, done), nil
}
