package search

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/store"
)

// kept begins the reason of a choice that an earlier run made.
const kept = "auto keeps to its choice of an earlier run, as another would change the results: "

// ReadChoice returns what auto chose in a store, under the name of NoteOf, or else the choice of the run whose output
// is in the output directory; nil without either.
func ReadChoice(ctx context.Context, st *store.Store, name string, previous *record.SearchReport) (*Choice, error) {
	choice := &Choice{}
	data, err := st.ReadNote(ctx, record.ChosenNote, name)
	switch {
	case err == nil:
		if err := json.Unmarshal(data, choice); err != nil {
			return nil, badinput.Errorf("the note %s/%s of what search = auto chose is damaged (%w); remove it, or name the search",
				record.ChosenNote, name, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case previous != nil && previous.Result != "":
		choice = &Choice{Result: previous.Result, Backend: previous.Backend, Why: previous.Why}
	default:
		return nil, nil
	}
	if !strings.HasPrefix(choice.Why, kept) {
		choice.Why = kept + choice.Why
	}
	return choice, nil
}

// WriteChoice stores what auto chose, for later runs.
func WriteChoice(ctx context.Context, st *store.Store, name string, choice Choice) error {
	data, err := json.Marshal(choice)
	if err != nil {
		return err
	}
	return st.WriteNote(ctx, record.ChosenNote, name, data)
}
