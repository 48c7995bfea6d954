package eval

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/eval/testset"
)

func buccDir(t *testing.T) string {
	t.Helper()
	return put(t, map[string]string{
		"bucc2018/de-en/de-en.training.de":   "d1\teins\nd2\tzwei\nd3\tdrei\nd4\tvier\n",
		"bucc2018/de-en/de-en.training.en":   "e1\teins\ne2\tzwei\ne3\tthree\ne4\tfour\n",
		"bucc2018/de-en/de-en.training.gold": "d1\te1\nd2\te2\nd3\te3\n",
		"bucc2018/de-en/de-en.test.de":       "d1\tfünf\nd2\tsechs\nd3\tsieben\n",
		"bucc2018/de-en/de-en.test.en":       "e1\tfünf\ne2\tsix\ne3\tseven\n",
		"bucc2018/de-en/de-en.test.gold":     "d1\te1\nd2\te2\n",
	})
}

func buccReports(t *testing.T, dir string) []*Report {
	t.Helper()
	runner := Runner{Vectors: &Embedder{Encoder: &hashEncoder{}}, Searcher: exactSearch{}}
	reports, err := runner.BUCC(t.Context(), []Protocol{BUCCLaser, BUCCST, BUCCCosine, BUCCMTEB}, filepath.Join(dir, "bucc2018"), []testset.LanguagePair{{Source: "de", Target: "en"}})
	if err != nil {
		t.Fatal(err)
	}
	return reports
}

// TestThresholdFromTrainReportOnTest checks that the threshold of the train half is applied to the test half.
func TestThresholdFromTrainReportOnTest(t *testing.T) {
	dir := buccDir(t)
	both := buccReports(t, dir)[0]
	row := both.Rows[0].Cells
	if row[4] != testset.Train || row[5] != testset.Test || row[8] != 2 {
		t.Errorf("threshold of %v, report of %v with %v gold pairs, want train, test, 2", row[4], row[5], row[8])
	}
	for _, ext := range []string{"de", "en", "gold"} {
		remove(t, filepath.Join(dir, "bucc2018/de-en/de-en.test."+ext))
	}
	one := buccReports(t, dir)[0]
	if one.Rows[0].Cells[3] != row[3] {
		t.Errorf("threshold %v with the train half alone, %v with both", one.Rows[0].Cells[3], row[3])
	}
	if len(one.Notes) != 1 || !strings.Contains(one.Notes[0], "only its train half") {
		t.Errorf("notes %q do not say that one half served for both", one.Notes)
	}
}

// TestTestHalfWithoutGold: BUCC's own test halves have no gold.
func TestTestHalfWithoutGold(t *testing.T) {
	dir := buccDir(t)
	remove(t, filepath.Join(dir, "bucc2018/de-en/de-en.test.gold"))
	report := buccReports(t, dir)[0]
	if report.Rows[0].Cells[5] != testset.Train || !strings.Contains(strings.Join(report.Notes, "\n"), "no gold file") {
		t.Errorf("reported half %v, notes %q", report.Rows[0].Cells[5], report.Notes)
	}
}

func TestFormats(t *testing.T) {
	reports := buccReports(t, buccDir(t))
	for _, format := range []Format{Table, JSON, TSV, Markdown} {
		var b strings.Builder
		if err := reports[0].Write(&b, format); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "bucc-laser") || !strings.Contains(b.String(), "de-en") {
			t.Errorf("%s names neither protocol nor pair:\n%s", format, b.String())
		}
		if format != TSV && !strings.Contains(b.String(), "score >= threshold") {
			t.Errorf("%s does not say what was measured:\n%s", format, b.String())
		}
	}
}

func TestJSONHasTheFiguresAtTheTop(t *testing.T) {
	var b strings.Builder
	if err := buccReports(t, buccDir(t))[0].Write(&b, JSON); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Protocol, Unit, Half             string
		F1, Precision, Recall, Threshold *float64
		Counts                           map[string]int
		Rows                             []map[string]any
	}
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Protocol != "bucc-laser" || got.Unit != "percent" || got.F1 == nil || got.Precision == nil || got.Recall == nil ||
		got.Threshold == nil || got.Counts["gold"] != 2 || got.Counts["source"] != 3 || len(got.Rows) != 1 {
		t.Errorf("%s", b.String())
	}
}

func TestAverageOverPairs(t *testing.T) {
	r := &Report{Label: "pair", Columns: []Column{{"f1", Percentage}, {"threshold", Threshold}, {"gold", Count}},
		Rows: []Row{{"a", []any{80.0, 1.1, 10}}, {"b", []any{60.0, 1.2, 30}}}}
	r.average()
	mean := r.Means[0]
	if mean.Cells[0] != 70.0 || mean.Cells[1] != nil || mean.Cells[2] != 40 {
		t.Errorf("average %v, want 70, none, 40", mean.Cells)
	}
}

func TestCurveFiles(t *testing.T) {
	dir, reports := t.TempDir(), buccReports(t, buccDir(t))
	path := filepath.Join(dir, "pr.tsv")
	if err := WriteCurves(path, reports); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	points := 0
	for _, r := range reports {
		for _, c := range r.Curves {
			points += len(c.Points)
		}
	}
	if len(lines) != points+1 || points == 0 {
		t.Errorf("%d lines for %d points", len(lines), points)
	}
	for ext, start := range map[string]string{"svg": "<?xml", "png": "\x89PNG"} {
		path := filepath.Join(dir, "pr."+ext)
		if err := PlotCurves(path, ext, reports); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(data), start) {
			t.Errorf("%s does not look like %s (%v)", path, ext, err)
		}
	}
	refused(t, PlotCurves(filepath.Join(dir, "pr.pdf"), "pdf", reports), ".svg or .png")
	refused(t, PlotCurves(filepath.Join(dir, "x.svg"), "svg", reports[3:]), "curve")
}

func TestSTSYears(t *testing.T) {
	dir := put(t, map[string]string{
		"2013/headlines.test.tsv": "1\ta\tb\n2\tc\td\n3\te\tf\n\tleft\tout\n", "2013/OnWN.test.tsv": "1\tg\th\n4\ti\tj\n",
		"sts17/STS.input.track6.tr-en.txt": "k\tl\nm\tn\no\tp\n", "sts17/STS.gs.track6.tr-en.txt": "1.0\n2.0\n",
	})
	files, err := testset.FindSTS(dir)
	if err != nil {
		t.Fatal(err)
	}
	runner := Runner{Vectors: &Embedder{Encoder: &hashEncoder{}}}
	report, err := runner.STS(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, row := range report.allRows() {
		names = append(names, row.Name)
	}
	want := "2013 OnWN|2013 headlines|2017 track6.tr-en|2013 mean|2013 all|average of the years' means"
	if got := strings.Join(names, "|"); got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
	if report.Rows[1].Cells[2] != 3 {
		t.Errorf("%v pairs, want the 3 that have a score", report.Rows[1].Cells[2])
	}
	notes := strings.Join(report.Notes, "\n")
	if !strings.Contains(notes, "last 1 pairs") || !strings.Contains(notes, "2013 lacks the set FNWN") {
		t.Errorf("notes:\n%s", notes)
	}
}
