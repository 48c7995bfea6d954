package encode

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode/embedding"
	"bitextmine/internal/badinput"
)

// from yields texts, then err if there is one.
func from(texts []string, err error) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, text := range texts {
			if !yield(text, nil) {
				return
			}
		}
		if err != nil {
			yield("", err)
		}
	}
}

func TestEncodeFile(t *testing.T) {
	e := open(t, Options{Window: 100})
	texts := sentences(1234, 7)
	path := filepath.Join(t.TempDir(), "de.npy")
	last := 0
	meta, err := e.EncodeFile(context.Background(), path, embedding.Float32,
		Source{Name: "de.parquet", Digest: "5ad", Language: "de", Rows: len(texts), Texts: from(texts, nil)},
		func(rows int) {
			if rows <= last {
				t.Errorf("progress went from %d to %d", last, rows)
			}
			last = rows
		})
	if err != nil {
		t.Fatal(err)
	}
	if last != len(texts) || meta.N != len(texts) {
		t.Errorf("progress ended at %d and the file has %d rows of %d", last, meta.N, len(texts))
	}
	f, err := embedding.Open(path, embedding.Want{Encoder: e.Digest(), Shard: "5ad"})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !slices.Equal(f.F32, encodeAll(t, e, texts)) {
		t.Error("the file's rows are not those of Encode")
	}
}

func TestEncodeFileRefuses(t *testing.T) {
	broken := errors.New("row group 3 is damaged")
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name  string
		ctx   context.Context
		rows  int
		texts iter.Seq2[string, error]
		is    func(error) bool
	}{
		{"fewer sentences than rows", context.Background(), 301, from(sentences(300, 1), nil), badinput.Is},
		{"more sentences than rows", context.Background(), 299, from(sentences(300, 1), nil), badinput.Is},
		{"a source that fails", context.Background(), 300, from(sentences(150, 1), broken), func(err error) bool { return errors.Is(err, broken) }},
		{"cancelled", cancelled, 300, from(sentences(300, 1), nil), func(err error) bool { return errors.Is(err, context.Canceled) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := open(t, Options{Window: 64})
			dir := t.TempDir()
			_, err := e.EncodeFile(c.ctx, filepath.Join(dir, "x.npy"), embedding.Float16,
				Source{Name: "x.parquet", Language: "en", Rows: c.rows, Texts: c.texts}, nil)
			if !c.is(err) || !strings.Contains(err.Error(), "encode x.parquet: ") {
				t.Errorf("got %v", err)
			}
			if left, _ := os.ReadDir(dir); len(left) != 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}
