package record

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/store"
)

func openStore(t *testing.T, location string) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), location, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

// TestOneProcessor: the first process of a plan decides, until what it left is removed. Each step is a process.
func TestOneProcessor(t *testing.T) {
	work := t.TempDir()
	for i, step := range []struct {
		plan, processor string
		refused         bool
		remove          bool // as the error says, before
		before          bool // before anything is computed
	}{
		{plan: "p", processor: "B", before: true},
		{plan: "p", processor: "A"},
		{plan: "p", processor: "B", before: true, refused: true},
		{plan: "p", processor: "B", refused: true},
		{plan: "p", processor: "A"},
		{plan: "q", processor: "B"},
		{plan: "p", processor: "B", refused: true},
		{plan: "p", processor: "B", remove: true},
		{plan: "p", processor: "A", refused: true},
	} {
		if step.remove {
			if err := os.RemoveAll(filepath.Join(work, ProcessorsNote, step.plan)); err != nil {
				t.Fatal(err)
			}
		}
		err := OneProcessor(t.Context(), openStore(t, work), step.plan, step.processor, !step.before)
		if !step.refused && err != nil || step.refused && !badinput.Is(err) {
			t.Fatalf("step %d: %v", i, err)
		}
		if !step.refused {
			continue
		}
		for _, says := range []string{"has ", " with ", "A", "B", Self().Host, "processors/p in the work directory"} {
			if !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("step %d: the error does not say %q: %v", i, says, err)
			}
		}
	}
}

// TestProcessorsAtOnce: of processes that begin at once, those of one processor go on.
func TestProcessorsAtOnce(t *testing.T) {
	for range 20 {
		work := t.TempDir()
		var all sync.WaitGroup
		refusals := make([]error, 8)
		for i := range refusals {
			st := openStore(t, work)
			all.Go(func() { refusals[i] = OneProcessor(t.Context(), st, "p", []string{"A", "B"}[i%2], true) })
		}
		all.Wait()
		for i, err := range refusals {
			if err != nil && !badinput.Is(err) || badinput.Is(err) == badinput.Is(refusals[(i+1)%len(refusals)]) {
				t.Errorf("of A and B in turn %v", refusals)
			}
		}
	}
}
