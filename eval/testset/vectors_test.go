package testset

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/encode/embedding"
	"bitextmine/internal/badinput"
)

// countingEncoder gives every text the same vector and counts what it is asked for.
type countingEncoder struct{ calls, texts int }

func (*countingEncoder) Name() string { return "counting" }
func (*countingEncoder) Dim() int     { return 2 }

func (e *countingEncoder) Encode(_ context.Context, _ string, texts []string, dst []float32) error {
	e.calls++
	e.texts += len(texts)
	for i := range texts {
		dst[2*i] = 1
	}
	return nil
}

// TestEmbedderEncodesOnce checks that texts that two sets share are encoded once, until they are forgotten.
func TestEmbedderEncodesOnce(t *testing.T) {
	encoder := &countingEncoder{}
	e := &Embedder{Encoder: encoder}
	for _, texts := range [][]string{{"a", "b", "a"}, {"b", "c"}, {"a", "c"}} {
		v, err := e.Vectors(t.Context(), Side{Language: "en", Texts: texts}, Role{})
		if err != nil || v.Rows.N != len(texts) {
			t.Fatal(v.Rows.N, err)
		}
	}
	if encoder.texts != 3 || encoder.calls != 2 {
		t.Errorf("%d texts in %d calls, want 3 in 2", encoder.texts, encoder.calls)
	}
	if got := e.Asked(); len(got) != 1 || got[0] != "en" || len(e.Asked()) != 0 {
		t.Errorf("languages %v", got)
	}
	e.Forget("en")
	if _, err := e.Vectors(t.Context(), Side{Language: "en", Texts: []string{"a"}}, Role{}); err != nil || encoder.texts != 4 {
		t.Errorf("after Forget: %d texts, %v", encoder.texts, err)
	}
}

// TestEmbedderFitsIntoMemory: vectors that take more than is allowed are refused before any text is encoded.
func TestEmbedderFitsIntoMemory(t *testing.T) {
	encoder := &countingEncoder{}
	e := &Embedder{Encoder: encoder, MaxMemory: 3 * 4 * 2 * 10} // ten lines of two numbers
	side := Side{Language: "en", Texts: strings.Fields("a b c d e f g h i j k")}
	if _, err := e.Vectors(t.Context(), side, Role{}); !badinput.Is(err) || encoder.texts != 0 {
		t.Errorf("%v, %d texts are encoded", err, encoder.texts)
	}
	side.Texts = side.Texts[:10]
	if v, err := e.Vectors(t.Context(), side, Role{}); err != nil || v.Rows.N != 10 {
		t.Errorf("%d rows, %v", v.Rows.N, err)
	}
}

func TestFilesRefuses(t *testing.T) {
	side := Side{Language: "de", Texts: []string{"eins", "zwei"}}
	dir := t.TempDir()
	raw := func(name string, values ...float32) string {
		var b strings.Builder
		for _, v := range values {
			bits := math.Float32bits(v)
			b.Write([]byte{byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24)})
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	nan := float32(math.NaN())
	for _, c := range []struct {
		name, path string
		dim        int
		words      []string
	}{
		{"a NaN", raw("nan.emb", 1, 0, nan, 1), 2, []string{"nan.emb", "row 1", "not finite"}},
		{"a zero row", raw("zero.emb", 1, 0, 0, 0), 2, []string{"zero.emb", "row 1", "zeros"}},
		{"a wrong dim", raw("dim.emb", 1, 0, 0, 1), 3, []string{"dim.emb", "3"}},
		{"too few rows", raw("short.emb", 1, 0), 2, []string{"short.emb", "1 rows", "2 sentences"}},
		{"no dim", raw("raw.emb", 1, 0, 0, 1), 0, []string{"raw.emb", "--emb-dim"}},
		{"no .npy at all", raw("not.npy", 1, 0, 0, 1), 0, []string{"not.npy"}},
		{"no file", filepath.Join(dir, "absent.npy"), 0, []string{"absent.npy"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := VectorFiles{Source: c.path, Dim: c.dim, DType: embedding.Float32}.Vectors(t.Context(), side, Role{Pair: LanguagePair{Source: "de", Target: "en"}})
			if !badinput.Is(err) {
				t.Fatalf("%v is not bad input", err)
			}
			for _, w := range c.words {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q lacks %q", err, w)
				}
			}
		})
	}
	named := VectorFiles{Source: raw("width.emb", 1, 0, 0, 1), Dim: 2, DType: embedding.Float32, Encoder: "labse", Width: 3}
	if _, err := named.Vectors(t.Context(), side, Role{}); !badinput.Is(err) || !strings.Contains(err.Error(), "the encoder labse of 3") {
		t.Errorf("vectors of another encoder: %v", err)
	}
	if _, err := (VectorFiles{Source: "{lang}.emb"}).Vectors(t.Context(), side, Role{}); !badinput.Is(err) ||
		!strings.Contains(err.Error(), "{lang}") || !strings.Contains(err.Error(), "{src}, {tgt}, {pair}, {half}, {file}, {dir}") {
		t.Errorf("an unknown name in braces: %v", err)
	}
	lines := Side{Language: "de", Texts: []string{"eins", "drei"}, At: []int32{0, 2}, Lines: 3}
	for name, path := range map[string]string{"all": raw("all.emb", 1, 0, 1, 1, 0, 1), "scored": raw("scored.emb", 1, 0, 0, 1)} {
		v, err := VectorFiles{Source: path, Dim: 2, DType: embedding.Float32}.Vectors(t.Context(), lines, Role{})
		if err != nil || v.Rows.N != 2 || v.Rows.F32[0] != 1 || v.Rows.F32[3] != 1 {
			t.Errorf("%s: %v, %v", name, v.Rows, err)
		}
	}
	made := Side{Language: "en", Texts: []string{"one", "two", "no two"}, Negatives: 1}
	if _, err := (VectorFiles{Source: raw("made.emb", 1, 0, 0, 1), Dim: 2, DType: embedding.Float32}).Vectors(t.Context(), made, Role{}); !badinput.Is(err) ||
		!strings.Contains(err.Error(), "each of the 2 en sentences, in order, and then one for each of the 1 negatives") {
		t.Errorf("vectors without those of negatives: %v", err)
	}
	const both = 2 * 2 * 2 * 4 // bytes of two rows of two numbers on two sides
	bound := VectorFiles{Source: raw("bound.emb", 1, 0, 0, 1), Dim: 2, DType: embedding.Float32, MaxMemory: both}
	if _, err := bound.Vectors(t.Context(), side, Role{}); err != nil {
		t.Errorf("vectors of as many bytes as are allowed: %v", err)
	}
	bound.MaxMemory--
	if _, err := bound.Vectors(t.Context(), side, Role{}); !badinput.Is(err) || !strings.Contains(err.Error(), "bound.emb: the vectors take") ||
		!strings.Contains(err.Error(), "raise --max-memory") {
		t.Errorf("vectors of more bytes than are allowed: %v", err)
	}
	path := raw("good.emb", 3, 4, 0, 2)
	v, err := VectorFiles{Source: filepath.Join(dir, "{half}.emb"), Dim: 2, DType: embedding.Float32}.Vectors(t.Context(), side, Role{Pair: LanguagePair{Source: "de", Target: "en"}, Half: "good"})
	if err != nil || v.Rows.N != 2 || math.Abs(float64(v.Rows.F32[1])-0.8) > 1e-6 || v.Rows.F32[3] != 1 {
		t.Errorf("%s: %v %v, want rows of norm 1", path, v.Rows, err)
	}
}
