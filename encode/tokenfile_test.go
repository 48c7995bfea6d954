package encode

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"bitextmine/encode/embedding"
	"bitextmine/encode/model"

	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
)

// TestTokenFile checks that EncodeFile writes each token of a sentence once beside the embedding file.
func TestTokenFile(t *testing.T) {
	model, err := model.Load(fixtures.Encoder)
	if err != nil {
		t.Fatal(err)
	}
	texts := append(sentences(500, 8), "")
	path := filepath.Join(t.TempDir(), "x.npy")
	source := Source{Name: "x", Digest: "5ad", Language: "en", Rows: len(texts), Texts: from(texts, nil)}
	if _, err := open(t, Options{Window: 64}).EncodeFile(context.Background(), path, embedding.Float32, source, nil); err != nil {
		t.Fatal(err)
	}
	got, err := OpenTokenFile(path, len(texts))
	if err != nil || got == nil {
		t.Fatal(got, err)
	}
	want, err := openTokens(t, model).IDs(context.Background(), "en", texts)
	if err != nil {
		t.Fatal(err)
	}
	begin := 0
	for i, end := range want.Ends {
		ids := slices.Clone(want.IDs[begin:end])
		slices.Sort(ids)
		if ids = slices.Compact(ids); !slices.Equal(got.Of(uint32(i)), ids) {
			t.Fatalf("sentence %d has %v, want %v", i, got.Of(uint32(i)), ids)
		}
		begin = end
	}
	if err := got.Close(); err != nil {
		t.Error(err)
	}
	if _, err := OpenTokenFile(path, len(texts)+1); !badinput.Is(err) {
		t.Errorf("a file of other sentences: %v", err)
	}
	if none, err := OpenTokenFile(filepath.Join(t.TempDir(), "y.npy"), 1); none != nil || err != nil || none.Close() != nil {
		t.Errorf("no file: %v %v", none, err)
	}
}
