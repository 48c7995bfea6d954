package train

import (
	"os"
	"path/filepath"
	"testing"

	"bitextmine/internal/badinput"
)

// FuzzJournal reads arbitrary bytes as train.jsonl: they are refused, or the log that is kept of them reads the same.
func FuzzJournal(f *testing.F) {
	f.Add([]byte("{\"step\": 1}\n{\"step\": 2}\n{\"st"))
	f.Add([]byte("null\n[]\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), logFile)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		before, err := readJournal(path)
		if err != nil {
			if !badinput.Is(err) {
				t.Errorf("error %v is no bad input", err)
			}
			return
		}
		last := 0
		for _, l := range before {
			last = max(last, l.Step)
		}
		j, err := openJournal(path, last)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.close(); err != nil {
			t.Fatal(err)
		}
		if after, err := readJournal(path); err != nil || len(after) != len(before) {
			t.Errorf("%d of %d lines are kept, error %v", len(after), len(before), err)
		}
	})
}

// FuzzState reads arbitrary bytes as the state of a checkpoint.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"step": 3, "config": "00", "bitext": "00", "dev": {"xsim": 1}, "best": 1, "since": 0, "judged": true}`))
	f.Add([]byte(`{"step": -1}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, content []byte) {
		c := checkpoints{dir: t.TempDir()}
		if err := os.Mkdir(c.path(3), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(c.path(3), stateFile), content, 0o600); err != nil {
			t.Fatal(err)
		}
		states, err := c.list()
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
