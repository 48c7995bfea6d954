package record

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"time"

	"bitextmine/internal/badinput"
	"bitextmine/internal/lockfile"
	"bitextmine/pipeline/store"
)

// Holder says who works on something, and since when.
type Holder struct {
	lockfile.Process
	Error string `json:"error,omitempty"` // how it failed
	// Permanent: a retry would fail too.
	Permanent bool `json:"permanent,omitempty"`
}

// Self is this process as a holder, from now on.
func Self() Holder { return Holder{Process: lockfile.Self()} }

// Working notes for mine status that a task is running; the function that it returns notes how the task ended. A note
// that cannot be written does not stop the task.
func Working(ctx context.Context, st *store.Store, log *slog.Logger, task store.Task) (done func(error)) {
	name := task.Stage + "-" + task.Key
	h := Self()
	note(ctx, st, log, RunningNote, task, h)
	return func(failure error) {
		ctx := context.WithoutCancel(ctx)
		forget := func(kind string) {
			if err := st.DeleteNote(ctx, kind, name); err != nil {
				log.Debug("a note stays behind", "kind", kind, "name", name, "reason", err)
			}
		}
		if failure == nil {
			forget(FailedNote)
		} else {
			h.fail(ctx, st, log, task, failure)
		}
		forget(RunningNote)
	}
}

// Failed notes how a task failed that could not begin.
func Failed(ctx context.Context, st *store.Store, log *slog.Logger, task store.Task, failure error) {
	Self().fail(context.WithoutCancel(ctx), st, log, task, failure)
}

func (h Holder) fail(ctx context.Context, st *store.Store, log *slog.Logger, task store.Task, failure error) {
	if !errors.Is(failure, context.Canceled) {
		h.Error, h.Permanent = failure.Error(), badinput.Is(failure)
		note(ctx, st, log, FailedNote, task, h)
	}
}

func note(ctx context.Context, st *store.Store, log *slog.Logger, kind string, task store.Task, h Holder) {
	data, err := json.Marshal(h)
	if err == nil {
		err = st.WriteNote(ctx, kind, task.Stage+"-"+task.Key, data)
	}
	if err != nil {
		log.Debug("mine status will not show a task", "stage", task.Stage, "key", task.Key, "reason", err)
	}
}

// Holders reads the notes of a kind, by name.
func Holders(ctx context.Context, st *store.Store, kind string) (map[string]Holder, error) {
	found := map[string]Holder{}
	for entry, err := range st.List(ctx, kind) {
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", kind, err)
		}
		data, err := st.ReadNote(ctx, kind, entry.Name)
		var h Holder
		if err == nil && json.Unmarshal(data, &h) == nil {
			found[entry.Name] = h
		}
	}
	return found, nil
}

// Since returns the notes that are new, or others than they were before.
func Since(before, now map[string]Holder) map[string]Holder {
	later := maps.Clone(now)
	maps.DeleteFunc(later, func(name string, h Holder) bool {
		was, noted := before[name]
		return noted && h == was
	})
	return later
}

// foreign is how long a process of another machine, of which nothing more is known, counts as alive.
const foreign = 7 * 24 * time.Hour

// MayLive reports whether the holder may still be at work.
func (h Holder) MayLive() bool { return !h.Dead() && time.Since(h.Since) < foreign }

// Held are the plans that this process works on. Their notes keep mine gc from what they need.
type Held struct {
	store *store.Store
	log   *slog.Logger
	names []string
}

// Add notes that this process works on the plan of that id. A note that cannot be written does not stop it.
func (h *Held) Add(ctx context.Context, st *store.Store, log *slog.Logger, id string) {
	h.store, h.log = st, log
	name := id + "-" + rand.Text()
	data, err := json.Marshal(Self())
	if err == nil {
		err = st.WriteNote(ctx, HeldNote, name, data)
	}
	if err != nil {
		log.Debug("mine gc will not know that a plan is in use", "plan", id, "reason", err)
		return
	}
	h.names = append(h.names, name)
}

// Release removes the notes.
func (h *Held) Release(ctx context.Context) {
	for _, name := range h.names {
		if err := h.store.DeleteNote(context.WithoutCancel(ctx), HeldNote, name); err != nil {
			h.log.Debug("a note stays behind", "kind", HeldNote, "name", name, "reason", err)
		}
	}
	h.names = nil
}

// HeldPlan is the id of the plan that a note is about.
func HeldPlan(name string) string {
	id, _, _ := strings.Cut(name, "-")
	return id
}
