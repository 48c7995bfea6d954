package admin

import (
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/store"
)

// TestAPlanThatComesLate: what a held plan needs is marked even if the plan could not be read when it was first seen.
func TestAPlanThatComesLate(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	st, err := store.Open(t.Context(), t.TempDir(), log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	p := &plan.Plan{Version: "test", Waves: []plan.Wave{{Stage: "encode", Tasks: []plan.Task{{Stage: "encode", Key: "0123"}}}}}
	data, id, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	held, err := json.Marshal(record.Self())
	if err == nil {
		err = st.WriteNote(t.Context(), record.HeldNote, id+"-A", held)
	}
	if err != nil {
		t.Fatal(err)
	}
	g := &collector{store: st, version: "another", log: log, used: newUsed(time.Now()), live: map[string]bool{}}
	for _, content := range [][]byte{nil, data[:len(data)/2], data} {
		if content != nil {
			if err := st.WriteNote(t.Context(), record.PlansNote, id+".json", content); err != nil {
				t.Fatal(err)
			}
		}
		if err := g.markUsed(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !g.used.outputs["encode/0123"] {
		t.Errorf("marked %v", g.used.outputs)
	}
}
