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
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, journalFile), content, 0o600); err != nil {
			t.Fatal(err)
		}
		before, err := readJournal(dir)
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
		j, err := openJournal(dir, last)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if after, err := readJournal(dir); err != nil || len(after) != len(before) {
			t.Errorf("%d of %d lines are kept, error %v", len(after), len(before), err)
		}
	})
}
