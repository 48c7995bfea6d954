package admin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/bitext"
	"bitextmine/internal/badinput"
)

// TestDiffOfOtherLanguages: runs of other languages are refused, a run without pairs is compared with any.
func TestDiffOfOtherLanguages(t *testing.T) {
	dir := t.TempDir()
	run := func(source, target string, rows int) string {
		path := filepath.Join(dir, source+"-"+target+".parquet")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w, err := bitext.NewWriter(f, bitext.Metadata{Version: "test"})
		if err != nil {
			t.Fatal(err)
		}
		for range rows {
			row := bitext.Row{Source: bitext.Sentence{Text: "a", Lang: source}, Target: bitext.Sentence{Text: "b", Lang: target}, Score: 1, Keep: true}
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
	german, french, empty := run("de", "en", 1), run("en", "fr", 1), run("de", "fr", 0)
	if _, err := Diff(t.Context(), german, french); !badinput.Is(err) || !strings.Contains(err.Error(), "de-en") || !strings.Contains(err.Error(), "en-fr") {
		t.Errorf("error %v", err)
	}
	for _, other := range []string{german, empty} {
		if _, err := Diff(t.Context(), german, other); err != nil {
			t.Errorf("%s: %v", other, err)
		}
		if _, err := Diff(t.Context(), other, german); err != nil {
			t.Errorf("%s: %v", other, err)
		}
	}
}
