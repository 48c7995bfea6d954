package shard

import (
	"os"
	"path/filepath"
	"testing"

	"bitextmine/corpus/corpustest"
	"bitextmine/internal/badinput"
)

// FuzzShard reads arbitrary bytes as a shard.
func FuzzShard(f *testing.F) {
	f.Add(corpustest.Parquet(f, []shardRow{{Text: "one", Doc: "d"}, {Text: "two", URL: "u"}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "x.parquet")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		if err != nil {
			if !badinput.Is(err) {
				t.Fatalf("%v is not a badinput error", err)
			}
			return
		}
		defer r.Close()
		rows := 0
		for _, err = range r.Rows() {
			if err != nil {
				break
			}
			rows++
		}
		if err != nil && !badinput.Is(err) || err == nil && rows != r.NumRows() {
			t.Fatalf("%d rows of %d, %v", rows, r.NumRows(), err)
		}
	})
}
