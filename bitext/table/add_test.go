package table

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/bitext"
	"bitextmine/internal/badinput"
)

func bitextFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := bitext.NewWriter(f, bitext.Metadata{RunID: "run"})
	if err != nil {
		t.Fatal(err)
	}
	for _, texts := range [][2]string{{"eins", "one"}, {"zwei", "two"}, {"drei", "three"}} {
		row := bitext.Row{Source: bitext.Sentence{Text: texts[0], Lang: "de"}, Target: bitext.Sentence{Text: texts[1], Lang: "en"}, Reasons: []string{"because"}}
		if err := w.Append(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// pairsOf lists the texts of two columns.
func pairsOf(ctx context.Context, path, source, target string) (pairs [][2]string, err error) {
	err = EachPair(ctx, path, source, target, func(source, target string) error {
		pairs = append(pairs, [2]string{source, target})
		return nil
	})
	return pairs, err
}

// TestAddColumnsDropsNothing checks that the copy is a bitext file with all rows and the new columns.
func TestAddColumnsDropsNothing(t *testing.T) {
	in := bitextFile(t)
	out := filepath.Join(t.TempDir(), "out.parquet")
	err := AddColumns(t.Context(), in, out, DefaultOptions(), 3, Values{Name: "own_score", Float32: []float32{1.5, float32(math.NaN()), 0.5}},
		Values{Name: "own_rank", Uint8: []uint8{0, 0, 255}, Known: []bool{true, false, true}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := bitext.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for row, err := range r.Rows(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, row.Source.Text+row.Source.Lang+row.Target.Text+row.Reasons[0])
	}
	if want := []string{"eins" + "de" + "one" + "because", "zweidetwobecause", "dreidethreebecause"}; !slices.Equal(texts, want) {
		t.Errorf("rows %q, want %q", texts, want)
	}
	if r.Metadata()["run_id"] != "run" {
		t.Errorf("metadata %v is lost", r.Metadata())
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	err = Each(t.Context(), []string{out}, DefaultOptions(), func(_ *Reader, b *Batch) error {
		for _, name := range []string{"own_score", "own_rank"} {
			if column, err := columnOf(b, name); err != nil || column.NullN() != 1 || !column.IsNull(1) {
				t.Errorf("%s: %v, %v", name, column, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPairsAndRefusals(t *testing.T) {
	in := bitextFile(t)
	pairs, err := pairsOf(t.Context(), in, "src_text", "tgt_lang")
	if err != nil || !slices.Equal(pairs, [][2]string{{"eins", "en"}, {"zwei", "en"}, {"drei", "en"}}) {
		t.Errorf("%q %v", pairs, err)
	}
	notParquet := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(notParquet, []byte("no"), 0o644); err != nil {
		t.Fatal(err)
	}
	refused := func(path, source string) error {
		_, err := pairsOf(t.Context(), path, source, "tgt_text")
		return err
	}
	score := Values{Name: "score", Float32: make([]float32, 3)}
	own := Values{Name: "own", Float32: make([]float32, 2)}
	for name, err := range map[string]error{
		`in.parquet: there is no column "nothing"`: refused(in, "nothing"),
		"in.parquet: column score holds":           refused(in, "score"),
		"--prefix":                                 AddColumns(t.Context(), in, in+".out", DefaultOptions(), 3, score),
		"has changed":                              AddColumns(t.Context(), in, in+".out", DefaultOptions(), 2, own),
		"not Parquet":                              refused(notParquet, "src_text"),
		"absent":                                   refused("absent.parquet", "src_text"),
	} {
		if !badinput.Is(err) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(in + ".out"); err == nil {
		t.Error("a refused copy is there")
	}
}

// FuzzAddColumns reads arbitrary bytes as a table to score and copies it with one more column.
func FuzzAddColumns(f *testing.F) {
	seed, err := os.ReadFile(bitextFile(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "x.parquet")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		pairs, err := pairsOf(t.Context(), path, "src_text", "tgt_text")
		if err != nil && !badinput.Is(err) {
			t.Fatal(err)
		}
		if err == nil && len(pairs) > 0 {
			// a file whose texts can be read may be damaged elsewhere
			_ = AddColumns(t.Context(), path, path+".out", DefaultOptions(), len(pairs), Values{Name: "own", Uint8: make([]uint8, len(pairs))})
		}
	})
}
