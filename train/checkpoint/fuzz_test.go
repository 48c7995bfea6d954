package checkpoint

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"bitextmine/internal/badinput"
)

// FuzzState reads arbitrary bytes as the state of a checkpoint, and arbitrary states with a digest that fits.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"step": 3, "config": "00", "bitext": "00", "dev": {"xsim": 1}, "best": 1, "since": 0, "judged": true}`))
	f.Add([]byte(`{"step": -1}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, content []byte) {
		var s State
		if json.Unmarshal(content, &s) == nil {
			if fitted, err := s.encode(); err == nil {
				content = fitted
			}
		}
		d := Dir{Path: t.TempDir()}
		if err := os.Mkdir(d.At(3), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{Encoder, Heads, Optimiser} {
			if err := os.WriteFile(filepath.Join(d.At(3), name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(d.At(3), stateFile), content, 0o600); err != nil {
			t.Fatal(err)
		}
		states, _, err := d.List()
		if err != nil && !badinput.Is(err) {
			t.Errorf("error %v is no bad input", err)
		}
		for _, s := range states {
			if s.Step != 3 {
				t.Errorf("the checkpoint of step 3 says that it is of step %d", s.Step)
			}
		}
	})
}
