// Package webtest makes finished runs for tests, without mining.
package webtest

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"bitextmine/bitext"
	"bitextmine/corpus"
	"bitextmine/pipeline/record"
)

// Threshold is the threshold of the test runs.
const Threshold = 0.5

// Hostile is a sentence that would be a script, were it not escaped. It stands in row 3.
const Hostile = `<script>document.title="broken"</script><img src=x onerror=alert(1)> "quoted" & 'so'`

// Rows makes German–Arabic pairs. Every third is not kept, and every ninth of all for the reason untranslated.
func Rows(n int) []bitext.Row {
	random := rand.New(rand.NewPCG(1, 2))
	side := func(language, text string, row int) bitext.Sentence {
		return bitext.Sentence{
			Text: text, Lang: language, Key: corpus.KeyOf(corpus.Normalise(text)), Shard: "corpus." + language + "#0",
			Row: uint32(row), Line: uint64(row + 1),
			URL: fmt.Sprintf("https://example.org/%s/%d", language, row/10), Identified: language, Share: 0.98,
		}
	}
	rows := make([]bitext.Row, n)
	for i := range rows {
		german, arabic := fmt.Sprintf("Das Haus Nummer %d steht am Fluss.", i),
			fmt.Sprintf("يقع المنزل رقم %d على النهر.", i)
		if i == 3 {
			german = Hostile
		}
		probability := Threshold + random.Float32()*(1-Threshold)
		row := bitext.Row{
			Source: side("de", german, i), Target: side("ar", arabic, i), Keep: i%3 != 2, Cosine: random.Float32(),
			Score: 1 + random.Float32(), SourceMean: 0.4, TargetMean: 0.5, TargetRank: 255,
			Features: []float32{float32(i), 0.25},
		}
		if !row.Keep {
			probability -= Threshold
			row.Reasons = []string{"below_threshold"}
			if i%9 == 2 {
				row.Reasons = []string{"untranslated"}
			}
		}
		row.Prob = &probability
		rows[i] = row
	}
	return rows
}

// Began is when runs began.
var Began = time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)

// Run makes the output directory of a run with so many pairs.
func Run(t testing.TB, dir string, n int) {
	t.Helper()
	Write(t, dir, Rows(n), Began)
}

// Night adds a night to the output directory of nightly runs.
func Night(t testing.TB, out string, number int, rows []bitext.Row) (name string) {
	t.Helper()
	name = fmt.Sprintf("%06d-2026-03-%02d", number, number)
	Write(t, filepath.Join(out, "runs", name), rows, Began.AddDate(0, 0, number-1))
	latest := filepath.Join(out, record.LatestName)
	if err := os.Remove(latest); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("runs", name), latest); err != nil {
		t.Fatal(err)
	}
	return name
}

// Write makes the output directory of a run with pairs.
func Write(t testing.TB, dir string, rows []bitext.Row, started time.Time) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "de-ar.parquet")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	kept := write(t, file, rows)
	r := &record.Report{Version: "test", RunID: "0123456789abcdef", Threshold: Threshold, Started: started, Threads: 2,
		Work: filepath.Join(dir, "work"), PlanID: "none"}
	r.Settings.Source, r.Settings.Target, r.Settings.Scorer = "de", "ar", "scorer"
	r.Settings.K, r.Settings.Margin, r.Settings.Retrieval = 4, "ratio", "max"
	r.Encoder, r.Search.Backend = record.EncoderReport{Name: "use-static", Dim: 512}, "exact"
	r.Counts = record.Counts{SourceIn: len(rows), TargetIn: len(rows) + 5, SourceUnique: len(rows),
		TargetUnique: len(rows), Candidates: len(rows), Kept: kept}
	r.Bitext = record.BitextReport{Path: path, Rows: len(rows)}
	r.Stages = []record.StageReport{{Name: "shard", Items: 1000, Unit: "B", Seconds: 0.1, Rate: 10000, Tasks: 2,
		Cached: 1}}
	r.Inputs = []record.InputReport{{Language: "de", Path: "corpus.de", SHA256: fmt.Sprint(len(rows)),
		Counts: corpus.Counts{Lines: 10, Kept: 9, Duplicates: 1}}}
	for _, row := range rows[:min(len(rows), 2)] {
		r.Samples = append(r.Samples,
			record.Sample{Score: row.Score, Prob: row.Prob, Source: row.Source.Text, Target: row.Target.Text})
	}
	if err := r.Write(filepath.Join(dir, record.ReportName)); err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, to io.WriteCloser, rows []bitext.Row) (kept int) {
	t.Helper()
	about := bitext.Metadata{Features: []string{"first", "second"}}
	if slices.ContainsFunc(rows, func(row bitext.Row) bool { return row.Prob != nil }) {
		about.Scorer = "0123"
	}
	if slices.ContainsFunc(rows, func(row bitext.Row) bool { return row.Alignment != nil }) {
		about.Documents = &bitext.Documents{}
	}
	w, err := bitext.NewWriter(to, about)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if err := w.Append(row); err != nil {
			t.Fatal(err)
		}
		if row.Keep {
			kept++
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_ = to.Close() // Parquet's writer may have closed it
	return kept
}
