package shard

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"testing/fstest"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/corpus/split"
)

// TestCutTogether: the rows of files that share shards are those of one file with all their lines, each with its own
// file, line and document, and the counts are by file.
func TestCutTogether(t *testing.T) {
	files := fstest.MapFS{
		"a.txt": {Data: []byte("one\ntwo\none\n")}, "b.txt": {Data: []byte("two\n\n")}, "c.txt": {}, "d.jsonl": {Data: []byte(`{"text":"Three. Four.","doc":"d"}`)},
		"e.txt": {Data: []byte("five\none\n")},
	}
	opts := corpus.DefaultOptions()
	opts.ShardSize, opts.Documents = 4, true
	var texts []Text
	for _, name := range []string{"a.txt", "b.txt", "c.txt", "d.jsonl", "e.txt"} {
		one := Text{File: input.File{FS: files, Path: name}, Options: opts}
		if name == "d.jsonl" {
			one.Options.Split, one.Options.DocColumn = corpus.SplitBy("en", split.ShippedDigest()), "doc"
		}
		texts = append(texts, one)
	}
	dir := t.TempDir()
	cut, err := CutTogether(t.Context(), texts, dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var places []string
	err = EachOccurrence(t.Context(), texts, func(o Occurrence) { places = append(places, fmt.Sprintf("%.2x%s", o.Key[:], o.URL)) })
	one, five := corpus.KeyOf("one"), corpus.KeyOf("five")
	if want := fmt.Sprintf("%.2x%.2x", one[:], five[:]); err != nil || len(places) != 8 || places[0]+places[6] != want || places[2] != places[0] || places[7] != places[0] {
		t.Errorf("places %q %v", places, err)
	}
	var counts, rows, documents []string
	for _, f := range cut.Files {
		counts = append(counts, fmt.Sprint(f.Counts.Lines, f.Counts.Kept, f.Counts.Duplicates, f.Counts.SkippedTotal()))
	}
	for _, s := range cut.Shards {
		reader, err := Open(filepath.Join(dir, s.File))
		if err != nil {
			t.Fatal(err)
		}
		for row, err := range reader.Rows() {
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, fmt.Sprintf("%s %d %v", row.Text, row.Line, row.Place != nil))
		}
		if err := reader.Close(); err != nil {
			t.Fatal(err)
		}
		found, err := readDocuments(t, filepath.Join(dir, DocumentsName(s.File)), s.Rows)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range found {
			documents = append(documents, fmt.Sprintf("%d%s %v %v", s.Files[d.File].File, d.Name, d.Rows, d.Lines))
		}
	}
	if want := []string{"3 2 1 0", "2 0 1 1", "0 0 0 0", "2 2 0 0", "2 2 0 0"}; !slices.Equal(counts, want) {
		t.Errorf("counts %q, want %q", counts, want)
	}
	if want := []string{"one 1 false", "two 2 false", "Three. 1 true", "Four. 1 true", "five 1 false", "one 2 false"}; !slices.Equal(rows, want) {
		t.Errorf("rows %q, want %q", rows, want)
	}
	first, second := []FileRows{{0, 0}, {1, 2}, {3, 2}}, []FileRows{{4, 0}}
	if len(cut.Shards) != 2 || !reflect.DeepEqual(cut.Shards[0].Files, first) || !reflect.DeepEqual(cut.Shards[1].Files, second) {
		t.Errorf("shards %+v", cut.Shards)
	}
	if want := []string{"0 [0] [1]", "0 [1] [2]", "0 [0] [3]", "1 [1] [1]", "3d [2 3] [1 1]", "4 [0] [1]", "4 [1] [2]"}; !slices.Equal(documents, want) {
		t.Errorf("documents %q, want %q", documents, want)
	}
}
