package admin

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/bitext"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/record"
)

func writeBitext(t *testing.T, path string, rows ...bitext.Row) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := bitext.NewWriter(f, bitext.Metadata{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if err := w.Append(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestDiffOfARenamedFile: it did not go, so a pair of its that the threshold removed has that cause.
func TestDiffOfARenamedFile(t *testing.T) {
	run := func(file string, threshold float32) string {
		dir := t.TempDir()
		path := filepath.Join(dir, "de-en.parquet")
		var rows []bitext.Row
		for i := range 2 {
			side := func(lang, file string) bitext.Sentence {
				return bitext.Sentence{Text: "a", Lang: lang, Key: [16]byte{byte(i)}, Shard: file + "#0"}
			}
			score := float32(i + 1)
			rows = append(rows, bitext.Row{Source: side("de", file), Target: side("en", "en.txt"), Score: score, Keep: score > threshold})
		}
		writeBitext(t, path, rows...)
		report := &record.Report{Bitext: record.BitextReport{Path: path}, Inputs: []record.InputReport{
			{Path: file, SHA256: "german"}, {Path: "en.txt", SHA256: "english"},
		}}
		if err := report.Write(filepath.Join(dir, record.ReportName)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	d, err := Diff(t.Context(), run("old.txt", 0), run("new.txt", 1))
	if err != nil || len(d.Files) > 0 || d.Removed != 1 || d.Causes[Removed][OtherScore] != 1 {
		t.Errorf("error %v, %+v", err, d)
	}
}

// TestDiffOfOtherPartners: a pair with a sentence of another pair of the other run, on the same side, gave way to it.
func TestDiffOfOtherPartners(t *testing.T) {
	dir := t.TempDir()
	run := func(name string, pairs ...[2]byte) string {
		var rows []bitext.Row
		for _, p := range pairs {
			rows = append(rows, bitext.Row{Source: bitext.Sentence{Lang: "de", Key: [16]byte{p[0]}}, Target: bitext.Sentence{Lang: "en", Key: [16]byte{p[1]}}, Score: 1, Keep: true})
		}
		writeBitext(t, filepath.Join(dir, name), rows...)
		return filepath.Join(dir, name)
	}
	d, err := Diff(t.Context(), run("before", [2]byte{9, 9}, [2]byte{1, 1}, [2]byte{2, 2}, [2]byte{3, 4}), run("after", [2]byte{9, 9}, [2]byte{5, 2}, [2]byte{1, 6}, [2]byte{4, 3}))
	if err != nil {
		t.Fatal(err)
	}
	for kind, causes := range d.Causes {
		if causes[OtherPartner] != 2 || causes[OtherScore] != 1 {
			t.Errorf("%s: %v", kind, causes)
		}
	}
}

// TestDiffOfOtherLanguages: runs of other languages are refused, a run without pairs is compared with any.
func TestDiffOfOtherLanguages(t *testing.T) {
	dir := t.TempDir()
	run := func(source, target string, rows int) string {
		path := filepath.Join(dir, source+"-"+target+".parquet")
		row := bitext.Row{Source: bitext.Sentence{Text: "a", Lang: source}, Target: bitext.Sentence{Text: "b", Lang: target}, Score: 1, Keep: true}
		writeBitext(t, path, slices.Repeat([]bitext.Row{row}, rows)...)
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

// TestDiffOfAlignedDocuments: a pair without a probability does not have the others compared by their margins.
func TestDiffOfAlignedDocuments(t *testing.T) {
	dir := t.TempDir()
	run := func(name string, probability, margin float32) string {
		path := filepath.Join(dir, name)
		var rows []bitext.Row
		for i, p := range []*float32{nil, &probability} {
			rows = append(rows, bitext.Row{Source: bitext.Sentence{Text: "a", Key: [16]byte{byte(i)}}, Prob: p, Score: margin * float32(i), Keep: true})
		}
		writeBitext(t, path, rows...)
		return path
	}
	first := run("1.parquet", 0.5, 1.5)
	if d, err := Diff(t.Context(), first, run("2.parquet", 0.75, 1.5)); err != nil || d.Rescored != 1 || d.Changes[0].Before != 0.5 || d.Changes[0].After != 0.75 {
		t.Errorf("error %v, %+v", err, d)
	}
	if d, err := Diff(t.Context(), first, run("3.parquet", 0.5, 1.25)); err != nil || d.Rescored != 0 || len(d.Changes) != 0 {
		t.Errorf("error %v, %+v", err, d)
	}
}
