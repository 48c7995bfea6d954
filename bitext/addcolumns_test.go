package bitext

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

func bitextFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewWriter(f, Metadata{RunID: "run"})
	if err != nil {
		t.Fatal(err)
	}
	for _, texts := range [][2]string{{"eins", "one"}, {"zwei", "two"}, {"drei", "three"}} {
		row := Row{Source: Sentence{Text: texts[0], Lang: "de"}, Target: Sentence{Text: texts[1], Lang: "en"}, Reasons: []string{"because"}}
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

// TestAddColumnsDropsNothing checks that the copy is a bitext file with all rows and the new columns.
func TestAddColumnsDropsNothing(t *testing.T) {
	in := bitextFile(t)
	out := filepath.Join(t.TempDir(), "out.parquet")
	valid := []bool{true, false, true}
	err := AddColumns(t.Context(), in, out, []Column{
		{Name: "own_score", Float32: []float32{1.5, 0, 0.5}, Valid: valid}, {Name: "own_rank", Uint8: []uint8{0, 0, 255}, Valid: valid},
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(out)
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
	table, copied, err := readTable(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	if at := table.Schema().FieldIndices("own_score"); len(at) != 1 || table.Column(at[0]).NullN() != 1 {
		t.Errorf("own_score at %v", at)
	}
	if err := copied.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTextsAndRefusals(t *testing.T) {
	in := bitextFile(t)
	sources, targets, err := ReadTexts(t.Context(), in, "src_text", "tgt_lang")
	if err != nil || !slices.Equal(sources, []string{"eins", "zwei", "drei"}) || !slices.Equal(targets, []string{"en", "en", "en"}) {
		t.Errorf("%q %q %v", sources, targets, err)
	}
	notParquet := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(notParquet, []byte("no"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"--src-column": second(ReadTexts(t.Context(), in, "nothing", "tgt_text")),
		"not text":     second(ReadTexts(t.Context(), in, "score", "tgt_text")),
		"--prefix":     AddColumns(t.Context(), in, in+".out", []Column{{Name: "score", Float32: make([]float32, 3), Valid: make([]bool, 3)}}),
		"not Parquet":  second(ReadTexts(t.Context(), notParquet, "src_text", "tgt_text")),
		"absent":       second(ReadTexts(t.Context(), "absent.parquet", "src_text", "tgt_text")),
	} {
		if !badinput.Is(err) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second(_, _ []string, err error) error { return err }

// FuzzTable reads arbitrary bytes as a table to score and copies it with one more column.
func FuzzTable(f *testing.F) {
	f.Add(write(f, sampleRows(3)))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "x.parquet")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		sources, targets, err := ReadTexts(t.Context(), path, "src_text", "tgt_text")
		if err == nil && len(sources) != len(targets) || err != nil && !badinput.Is(err) {
			t.Fatalf("%d sources, %d targets, %v", len(sources), len(targets), err)
		}
		if err == nil {
			column := Column{Name: "own", Uint8: make([]uint8, len(sources)), Valid: make([]bool, len(sources))}
			// a file whose texts can be read may be damaged elsewhere
			_ = AddColumns(t.Context(), path, path+".out", []Column{column})
		}
	})
}
