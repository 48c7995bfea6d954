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
	got, ok, err := ReadTokens(path, len(texts))
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	want, err := openTokens(t, model).IDs(context.Background(), "en", texts)
	if err != nil {
		t.Fatal(err)
	}
	begin, at := 0, 0
	for i, end := range want.Ends {
		ids := slices.Clone(want.IDs[begin:end])
		slices.Sort(ids)
		if ids = slices.Compact(ids); !slices.Equal(got.IDs[at:got.Ends[i]], ids) {
			t.Fatalf("sentence %d has %v, want %v", i, got.IDs[at:got.Ends[i]], ids)
		}
		begin, at = end, got.Ends[i]
	}
	if _, _, err := ReadTokens(path, len(texts)+1); !badinput.Is(err) {
		t.Errorf("a file of other sentences: %v", err)
	}
	if _, ok, err := ReadTokens(filepath.Join(t.TempDir(), "y.npy"), 1); ok || err != nil {
		t.Errorf("no file: %v %v", ok, err)
	}
}
