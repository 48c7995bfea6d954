package store_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"bitextmine/pipeline/store"
)

// TestRecordIsComparedWithItself changes every byte of a record: one digit of what a stage reported made another
// bitext.
func TestRecordIsComparedWithItself(t *testing.T) {
	dir := t.TempDir()
	task := store.Task{Stage: "shard", Key: "0123456789abcdef"}
	made := 0
	do := func(s *store.Store) *store.Output {
		out, err := s.Do(t.Context(), task, func(dir string) (any, error) {
			made++
			return map[string]int{"rows": 1234}, os.WriteFile(filepath.Join(dir, "x"), []byte("content"), 0o600)
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	do(open(t, dir))
	path := filepath.Join(dir, task.Stage, task.Key, "task.json")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range whole {
		data := bytes.Clone(whole)
		data[i] ^= 1
		write(data)
		if _, err := open(t, dir).Get(t.Context(), task); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("byte %d of the record was changed from %q to %q: error %v", i, whole[i], data[i], err)
		}
	}
	if again := do(open(t, dir)); made != 2 || string(again.Info) != `{"rows":1234}` && !bytes.Contains(again.Info, []byte("1234")) {
		t.Errorf("made %d times, with %s", made, again.Info)
	}

	// A record of a version before the seal.
	write(regexp.MustCompile(`,\n  "record_sha256": "[0-9a-f]*"`).ReplaceAll(whole, nil))
	if out := do(open(t, dir)); !out.Cached {
		t.Error("an output of an earlier version was made again")
	}
}

// FuzzRecord reads arbitrary bytes as a record.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"files": [{"name": "x", "size": 7, "sha256": "00"}], "info": {}, "made": {}}`))
	f.Add([]byte("{\n  \"files\": []" + `,` + "\n  \"record_sha256\": \"00\"\n}\n"))
	f.Add([]byte(`{"files": [{"name": "../x"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		out := filepath.Join(dir, "shard", "00")
		if err := os.MkdirAll(out, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(out, "task.json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir)
		got, err := s.Stat(t.Context(), store.Task{Stage: "shard", Key: "00"})
		if err != nil {
			return
		}
		for _, file := range got.Files {
			if filepath.Base(file.Name) != file.Name {
				t.Fatalf("a record names the file %q", file.Name)
			}
		}
	})
}
