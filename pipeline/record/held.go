package record

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	"bitextmine/pipeline/store"
)

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
