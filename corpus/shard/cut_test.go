package shard

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parquet-go/parquet-go"

	"bitextmine/corpus"
	"bitextmine/corpus/corpustest"
	"bitextmine/corpus/input"
)

// shardRow is a shard's row as another Parquet library sees it.
type shardRow struct {
	Key  [16]byte `parquet:"key"`
	Text string   `parquet:"text"`
	Doc  string   `parquet:"doc"`
	URL  string   `parquet:"url"`
	Line uint64   `parquet:"line"`
}

// Cut cuts one file.
func Cut(ctx context.Context, in input.File, opts corpus.Options, dir string, how Options) (*Result, error) {
	cut, err := CutTogether(ctx, []Text{{File: in, Options: opts}}, dir, how)
	if err != nil {
		return nil, err
	}
	cut.Files[0].Shards = cut.Shards
	return &cut.Files[0], nil
}

func shardBytes(t testing.TB, name, data string, opts corpus.Options) (string, *Result) {
	t.Helper()
	dir := t.TempDir()
	result, err := Cut(context.Background(), input.File{FS: fstest.MapFS{name: {Data: []byte(data)}}, Path: name}, opts, dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return dir, result
}

// gzipped returns the data as gzip.
func gzipped(t testing.TB, data []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestCut(t *testing.T) {
	opts := corpus.DefaultOptions()
	opts.ShardSize = 400
	// Every sentence three times in a row: shard 0 is full at the first of sentence 399, shard 1 starts with its
	// second.
	var text strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&text, "id-%d\tSatz  Nummer %d\n", i, i/3)
	}
	dir, result := shardBytes(t, "a.de", text.String()+"\n\n", opts)
	var got []uint64
	rows := 0
	for _, s := range result.Shards {
		data, err := os.ReadFile(filepath.Join(dir, s.File))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != s.SHA256 || int64(len(data)) != s.Bytes {
			t.Errorf("%s: digest or size differ from the file's", s.File)
		}
		read, err := parquet.Read[shardRow](bytes.NewReader(data), s.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if len(read) != s.Rows || s.Rows > opts.ShardSize {
			t.Errorf("%s: %d rows, said %d", s.File, len(read), s.Rows)
		}
		seen := make(map[[16]byte]bool)
		for _, row := range read {
			n := row.Line - 1
			want := shardRow{corpus.KeyOf(fmt.Sprintf("Satz Nummer %d", n/3)), fmt.Sprintf("Satz  Nummer %d", n/3), fmt.Sprintf("id-%d", n), "", n + 1}
			if row != want {
				t.Fatalf("%s: %+v, want %+v", s.File, row, want)
			}
			if seen[row.Key] {
				t.Errorf("%s: key %x twice", s.File, row.Key)
			}
			seen[row.Key] = true
			got = append(got, row.Line)
		}
		rows += s.Rows
	}
	if !slices.IsSorted(got) {
		t.Error("rows are not in the input's order")
	}
	c := result.Counts
	if c.Lines != 1502 || c.Kept != uint64(rows) || c.Skipped[corpus.ReasonEmpty] != 2 || c.Check() != nil || c.Kept != 501 || c.Duplicates != 999 {
		t.Errorf("counts %+v for %d rows", c, rows)
	}
	if len(result.Shards) < 2 || result.Shards[1].File != "shard-00001.parquet" || result.Format != corpus.FormatBUCC {
		t.Errorf("%+v", result)
	}
}

func TestShardSizeEqualsSentences(t *testing.T) {
	opts := corpus.DefaultOptions()
	opts.ShardSize = 50
	_, result := shardBytes(t, "a.de", corpustest.BUCC(100, 100), opts)
	if len(result.Shards) != 2 || result.Shards[0].Rows != 50 || result.Shards[1].Rows != 50 {
		t.Errorf("%+v, want two shards of 50", result.Shards)
	}
}

func TestShardBytesDependOnContentOnly(t *testing.T) {
	text := corpustest.BUCC(40000, 30000) // several row groups
	plainDir, plain := shardBytes(t, "a.de", text, corpus.DefaultOptions())
	_, again := shardBytes(t, "a.de", text, corpus.DefaultOptions())
	_, packed := shardBytes(t, "other/name.gz", string(gzipped(t, []byte(text))), corpus.DefaultOptions())
	if !reflect.DeepEqual(plain.Shards, again.Shards) || !reflect.DeepEqual(plain.Shards, packed.Shards) {
		t.Errorf("shards differ:\n%+v\n%+v\n%+v", plain.Shards, again.Shards, packed.Shards)
	}
	names, err := filepath.Glob(filepath.Join(plainDir, "*"))
	if err != nil || len(names) != 1 {
		t.Errorf("%q left in the directory, want one shard", names)
	}
}

// TestSample: the sample is of all of a file, and the same for any shards; of a short file it is all.
func TestSample(t *testing.T) {
	text := corpustest.BUCC(40000, 30000)
	opts := corpus.DefaultOptions()
	_, whole := shardBytes(t, "a.de", text, opts)
	opts.ShardSize = 700
	_, cut := shardBytes(t, "a.de", text, opts)
	if len(whole.Sample) != mostSampled || !slices.Equal(whole.Sample, cut.Sample) {
		t.Errorf("samples of %d and %d sentences differ", len(whole.Sample), len(cut.Sample))
	}
	late := 0
	for _, sentence := range whole.Sample {
		if strings.Index(text, sentence) > len(text)/2 {
			late++
		}
	}
	if late < mostSampled/5 {
		t.Errorf("%d of %d sentences are of the second half", late, mostSampled)
	}
	_, short := shardBytes(t, "a.de", corpustest.BUCC(60, 50), opts)
	if _, long := shardBytes(t, "a.de", corpustest.BUCC(2500, 2500), opts); len(short.Sample) != 50 || len(long.Sample) != 250 {
		t.Errorf("samples of %d and %d sentences", len(short.Sample), len(long.Sample))
	}
}

func TestFailedShardingLeavesNothing(t *testing.T) {
	text := []byte(corpustest.BUCC(100000, 100000))
	packed := gzipped(t, text)
	tests := []struct {
		name string
		data []byte
		edit func(*corpus.Options)
	}{
		{"truncated", packed[:len(packed)-100], func(*corpus.Options) {}},
		{"bad line", append(slices.Clone(text), "\xff\n"...), func(o *corpus.Options) { o.OnBadLine = corpus.FailBadLine }},
		{"nothing usable", []byte("\n\xff\n"), func(*corpus.Options) {}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opts := corpus.DefaultOptions()
			opts.ShardSize = 1000
			tt.edit(&opts)
			dir := t.TempDir()
			_, err := Cut(context.Background(), input.File{FS: fstest.MapFS{"a": {Data: tt.data}}, Path: "a"}, opts, dir, Options{})
			corpustest.BadInput(t, err, "a:")
			if left, _ := os.ReadDir(dir); len(left) != 0 {
				t.Errorf("%d files left, first %s", len(left), left[0].Name())
			}
		})
	}
}

func TestShardingStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	how := Options{Report: func(p Progress) { cancel() }}
	in := input.File{FS: fstest.MapFS{"a": {Data: []byte(corpustest.BUCC(100000, 100000))}}, Path: "a"}
	if _, err := Cut(ctx, in, corpus.DefaultOptions(), t.TempDir(), how); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func TestReader(t *testing.T) {
	text := corpustest.BUCC(40000, 36000)
	dir, result := shardBytes(t, "a.de", text, corpus.DefaultOptions())
	r, err := Open(filepath.Join(dir, result.Shards[0].File))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	keys, err := r.Keys()
	if err != nil || len(keys) != 36000 || r.NumRows() != 36000 {
		t.Fatal(len(keys), r.NumRows(), err)
	}
	var all []Row
	for row, err := range r.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		n := len(all)
		want := Row{Key: keys[n], Text: fmt.Sprintf("Satz  Nummer %d", n), Doc: fmt.Sprintf("id-%d", n), Line: uint64(n + 1)}
		if row != want || row.Key != corpus.KeyOf(corpus.Normalise(row.Text)) {
			t.Fatalf("row %d: %+v, want %+v", n, row, want)
		}
		all = append(all, row)
	}
	for _, rows := range [][]uint32{nil, {0}, {35999}, {0, 0, 5, 16383, 16384, 16384, 32767, 35999}, {20000}} {
		var got []Row
		for row, err := range r.RowsAt(rows) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, row)
		}
		var want []Row
		for _, n := range rows {
			want = append(want, all[n])
		}
		if !slices.Equal(got, want) {
			t.Errorf("rows %d: %+v", rows, got)
		}
	}
	for _, rows := range [][]uint32{{36000}, {5, 4}} {
		var last error
		for _, err := range r.RowsAt(rows) {
			last = err
		}
		if last == nil {
			t.Errorf("rows %d: no error", rows)
		}
	}
}

func TestLongTextsBoundTheRowGroup(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "%d%s\n", i, strings.Repeat(" wort", 12000))
	}
	dir, result := shardBytes(t, "a.de", b.String(), corpus.DefaultOptions())
	r, err := Open(filepath.Join(dir, result.Shards[0].File))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n := r.file.NumRowGroups(); n != 3 { // 18 MB at 8 MiB a group
		t.Errorf("%d row groups, want 3", n)
	}
}

func TestOpenRejects(t *testing.T) {
	type noDoc struct {
		Key  [16]byte `parquet:"key"`
		Text string   `parquet:"text"`
		URL  string   `parquet:"url"`
		Line uint64   `parquet:"line"`
	}
	type textLine struct {
		Key  [16]byte `parquet:"key"`
		Text string   `parquet:"text"`
		Doc  string   `parquet:"doc"`
		URL  string   `parquet:"url"`
		Line string   `parquet:"line"`
	}
	dir, result := shardBytes(t, "a.de", corpustest.BUCC(100, 100), corpus.DefaultOptions())
	whole, err := os.ReadFile(filepath.Join(dir, result.Shards[0].File))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"column missing", corpustest.Parquet(t, []noDoc{{Text: "x"}}), `"doc"`},
		{"column of another type", corpustest.Parquet(t, []textLine{{Text: "x"}}), `"line"`},
		{"another normalisation", corpustest.Parquet(t, []shardRow{{Text: "x"}}, parquet.KeyValueMetadata(metaNormalise, "0")), "normalisation"},
		{"text", []byte("some text in a file"), "corrupt"},
		{"truncated", whole[:len(whole)-9], "corrupt"},
		{"empty", nil, "corrupt"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.parquet")
			if err := os.WriteFile(path, tt.data, 0o644); err != nil {
				t.Fatal(err)
			}
			r, err := Open(path)
			if err == nil {
				r.Close()
			}
			corpustest.BadInput(t, err, path, tt.want)
		})
	}
	if _, err := Open(filepath.Join(dir, "none")); err == nil {
		t.Error("a missing file opens")
	} else {
		corpustest.BadInput(t, err, "none", "no such file")
	}
}
