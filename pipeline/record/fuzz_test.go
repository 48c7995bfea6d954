package record

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"bitextmine/pipeline/store"
)

// FuzzHistory reads arbitrary notes as runs: one that is no run is left out, and one that is keeps its name.
func FuzzHistory(f *testing.F) {
	f.Add([]byte(`{"number": 1, "plan": "00", "out": "/out", "src": "de", "tgt": "en"}`))
	f.Add([]byte(`{"number": -1, "plan": "../../x"}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, note []byte) {
		dir := t.TempDir()
		for _, name := range []string{"00000001-00.json", "00000002-.json"} {
			path := filepath.Join(dir, RunsNote, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, note, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		backend, err := store.OpenDirectory(dir)
		if err != nil {
			t.Fatal(err)
		}
		runs, err := History(t.Context(), store.New(backend, slog.New(slog.DiscardHandler)))
		if err != nil || len(runs) > 1 {
			t.Errorf("runs %+v, error %v", runs, err)
		}
		for _, r := range runs {
			if _, err := os.Stat(filepath.Join(dir, RunsNote, r.Name())); err != nil {
				t.Errorf("run %+v has no note of its name: %v", r, err)
			}
		}
	})
}
