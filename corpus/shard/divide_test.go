package shard

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/corpus/split"
	"bitextmine/internal/badinput"
)

// dividing are options for documents of a language.
func dividing(language string) corpus.Options {
	o := corpus.DefaultOptions()
	o.Split, o.DocColumn, o.URLColumn = corpus.SplitBy(language, split.ShippedDigest()), "id", "url"
	return o
}

// documentLines are records of JSON lines, one a text.
func documentLines(t testing.TB, texts ...string) string {
	t.Helper()
	var out strings.Builder
	for i, text := range texts {
		data, err := json.Marshal(map[string]any{"id": i, "url": "u", "text": text})
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(data, '\n'))
	}
	return out.String()
}

func TestRecordsAreDivided(t *testing.T) {
	texts := []string{
		"Dr. Who came. He left.\n\nA title\nIt ended.",
		"One sentence alone",
		"  He left.  \u200b\n  Ende – äöü. New one. ",
		"<!DOCTYPE html><html><p>No. Text.</p></html>",
		"Short. Long " + strings.Repeat("long ", 20000) + "end. After it.",
	}
	dir, result := shardBytes(t, "a.jsonl", documentLines(t, texts...), dividing("en"))
	r, err := Open(filepath.Join(dir, result.Shards[0].File))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	type found struct {
		text, doc           string
		line                uint64
		paragraph, position uint32
	}
	want := []found{
		{"Dr. Who came.", "0", 1, 0, 0}, {"He left.", "0", 1, 0, 1}, {"A title", "0", 1, 1, 2}, {"It ended.", "0", 1, 2, 3},
		{"One sentence alone", "1", 2, 0, 0},
		{"Ende – äöü.", "2", 3, 1, 1}, {"New one.", "2", 3, 1, 2}, // and a sentence that stood before
		{"Short.", "4", 5, 0, 0}, {"After it.", "4", 5, 0, 2},
	}
	n := 0
	for row, err := range r.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		got := found{row.Text, row.Doc, row.Line, row.Place.Paragraph, row.Place.Position}
		if n >= len(want) || got != want[n] {
			t.Fatalf("row %d: %+v, want %+v", n, got, want[min(n, len(want)-1)])
		}
		if text := texts[row.Line-1][row.Place.Start:row.Place.End]; text != row.Text {
			t.Errorf("row %d: bytes %d to %d of its record are %q", n, row.Place.Start, row.Place.End, text)
		}
		n++
	}
	c := result.Counts
	if n != len(want) || c.Records != 5 || c.Kept != 9 || c.Duplicates != 1 || c.Skipped[corpus.ReasonHTML] != 1 || c.Skipped[corpus.ReasonTooLong] != 1 || c.Check() != nil {
		t.Errorf("%d rows, counts %+v", n, c)
	}
	if len(c.Examples) < 2 || c.Examples[0].Line != 4 || c.Examples[1].Line != 5 {
		t.Errorf("examples %+v", c.Examples)
	}
}

// TestDividedShardsAreCutAnywhere: places and texts are the same in shards of any size, and so are bytes of two cuts.
func TestDividedShardsAreCutAnywhere(t *testing.T) {
	text := documentLines(t, strings.Repeat("One came. Two left. ", 3), "Three ran. Four sat. One came.")
	opts := dividing("en")
	opts.ShardSize = 3
	_, once := shardBytes(t, "a.jsonl", text, opts)
	_, twice := shardBytes(t, "a.jsonl", text, opts)
	if len(once.Shards) != 2 || once.Shards[0].Rows != 3 || once.Shards[1].Rows != 2 {
		t.Fatalf("%+v", once.Shards)
	}
	for i := range once.Shards {
		if !reflect.DeepEqual(once.Shards[i], twice.Shards[i]) {
			t.Errorf("shard %d: %+v, then %+v", i, once.Shards[i], twice.Shards[i])
		}
	}
	if once.Counts.Duplicates != 4 || once.Counts.Check() != nil {
		t.Errorf("%+v", once.Counts)
	}
}

func TestDivideRefuses(t *testing.T) {
	html := documentLines(t, "<html>A. B.</html>")
	fails := dividing("en")
	fails.OnBadLine = corpus.FailBadLine
	long := documentLines(t, strings.Repeat("It rained on ", 100_000/13))
	for want, c := range map[string]struct {
		text string
		opts corpus.Options
	}{
		"a.jsonl: each of its 1 sentences has more than 65536 bytes: raise --max-line-bytes, or divide it with --splitter": {long, dividing("en")},
		"a.jsonl: none of its 1 records has a sentence (1 are HTML); extract their text, or leave the file out":            {html, dividing("en")},
		"a.jsonl:1: html (HTML: extract its text); correct the record or remove it":                                        {html, fails},
	} {
		in := input.File{FS: fstest.MapFS{"a.jsonl": {Data: []byte(c.text)}}, Path: "a.jsonl"}
		_, err := Cut(context.Background(), in, c.opts, t.TempDir(), Options{})
		if !badinput.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	old := dividing("en")
	old.Split = corpus.SplitBy("en", "other rules")
	in := input.File{FS: fstest.MapFS{"a.jsonl": {Data: []byte(html)}}, Path: "a.jsonl"}
	if _, err := Cut(context.Background(), in, old, t.TempDir(), Options{}); err == nil || badinput.Is(err) {
		t.Errorf("rules of another version: %v", err)
	}
}

// readDocuments are all documents of a file. The last that LastDocument reads must be the last of them.
func readDocuments(t *testing.T, path string, rows int) (all []Document, err error) {
	t.Helper()
	for d, err := range Documents(path, rows) {
		if err != nil {
			return nil, err
		}
		all = append(all, *d)
	}
	last, err := LastDocument(path, rows)
	if len(all) == 0 && last != nil || len(all) > 0 && !reflect.DeepEqual(*last, all[len(all)-1]) {
		t.Errorf("the last document of %s is %+v", path, last)
	}
	return all, err
}

// TestLastDocument: it may be the only one, longer than what is read at first, or there is none.
func TestLastDocument(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.docs.jsonl")
	for _, lengths := range [][]int{{}, {1}, {100_000}, {1, 100_000}, {100_000, 2}} {
		var docs documents
		for d, n := range lengths {
			docs = append(docs, Document{Name: strconv.Itoa(d), Rows: make([]uint32, n), Lines: make([]uint64, n)})
		}
		if err := docs.write(path); err != nil {
			t.Fatal(err)
		}
		if all, err := readDocuments(t, path, 1); err != nil || len(all) != len(lengths) {
			t.Errorf("%v: %d documents, error %v", lengths, len(all), err)
		}
	}
	if err := os.WriteFile(path, []byte("{}\n{\"rows\":[1],\"lines\":[1]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if d, err := LastDocument(path, 1); err == nil {
		t.Errorf("a row that the shard lacks: %+v", d)
	}
}

// TestDocumentsHaveEveryOccurrence: where a sentence repeats, its document has the row of its first occurrence.
func TestDocumentsHaveEveryOccurrence(t *testing.T) {
	opts := dividing("en")
	opts.Documents, opts.ShardSize = true, 3
	text := documentLines(t, "One came. Two left. One came.", "Two left. Three sat. Four ran. One came. Four ran.")
	dir, result := shardBytes(t, "a.jsonl", text, opts)
	want := [][]Document{
		{
			{Name: "0", URL: "u", Rows: []uint32{0, 1, 0}, Lines: []uint64{1, 1, 1}},
			{Name: "1", URL: "u", Rows: []uint32{1, 2}, Lines: []uint64{2, 2}},
		},
		{{Name: "1", URL: "u", Rows: []uint32{0, 1, 0}, Lines: []uint64{2, 2, 2}}},
	}
	for i, s := range result.Shards {
		got, err := readDocuments(t, filepath.Join(dir, DocumentsName(s.File)), s.Rows)
		if err != nil {
			t.Fatal(err)
		}
		for d := range got {
			for k, place := range got[d].Places {
				if place.Start == 0 && (k > 0 || i > 0) || place.End <= place.Start {
					t.Errorf("shard %d, document %d: sentence %d stands at %+v", i, d, k, place)
				}
			}
			got[d].Places = nil
		}
		if !reflect.DeepEqual(got, want[i]) {
			t.Errorf("shard %d: %+v, want %+v", i, got, want[i])
		}
		if _, err := readDocuments(t, filepath.Join(dir, DocumentsName(s.File)), 1); err == nil {
			t.Errorf("shard %d: rows that the shard lacks are no error", i)
		}
	}
	if !want[0][1].Goes(&want[1][0]) || want[0][0].Goes(&want[0][1]) {
		t.Error("what goes on from one shard to the next is not found")
	}
	opts.Documents = false
	_, without := shardBytes(t, "a.jsonl", text, opts)
	if !reflect.DeepEqual(without.Shards, result.Shards) {
		t.Error("the shards are others with documents beside them")
	}
}
