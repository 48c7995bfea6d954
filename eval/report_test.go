package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/eval/report"
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

func buccReports(t *testing.T, dir string) []*report.Report {
	t.Helper()
	runner := Runner{Vectors: &testset.Embedder{Encoder: &hashEncoder{}}, Searcher: exactSearch{}}
	reports, err := runner.BUCC(t.Context(), []*Protocol{BUCCLaser, BUCCST, BUCCCosine, BUCCMTEB}, filepath.Join(dir, "bucc2018"), []testset.LanguagePair{{Source: "de", Target: "en"}})
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

// TestIntervalsAreOfTheirColumn: what is resampled gives the figure that the interval stands behind.
func TestIntervalsAreOfTheirColumn(t *testing.T) {
	reports := buccReports(t, buccDir(t))
	runner := Runner{Vectors: &testset.Embedder{Encoder: &hashEncoder{}}, Searcher: exactSearch{}}
	set := put(t, map[string]string{"x.deu-eng.deu": "one\ntwo\ndrei\n", "x.deu-eng.eng": "one\ntwo\nthree\n"})
	sets, err := testset.FindAligned(set, "devtest", nil, "en")
	if err != nil {
		t.Fatal(err)
	}
	aligned, err := runner.Aligned(t.Context(), []*Protocol{Tatoeba, XSim, XSimPlusPlus, Retrieval}, sets,
		AlignedOptions{Negatives: []testset.Negative{{Text: "no one", Of: "one", Kind: "Negation"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range append(reports, aligned...) {
		at := slices.IndexFunc(r.Columns, func(c report.Column) bool { return c.Name == r.Sampled })
		if at < 0 {
			t.Fatalf("%s has no column %q", r.Protocol, r.Sampled)
		}
		want := r.Rows[0].Items.Figure(nil)
		if r.Sampled == "error" {
			want = 100 - want
		}
		if got := r.Rows[0].Cells[at].(float64); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %s is %v, of what is resampled %v", r.Protocol, r.Sampled, got, want)
		}
	}
}

// TestTestHalfWithoutGold: BUCC's own test halves have no gold.
func TestTestHalfWithoutGold(t *testing.T) {
	dir := buccDir(t)
	remove(t, filepath.Join(dir, "bucc2018/de-en/de-en.test.gold"))
	found := buccReports(t, dir)[0]
	if found.Rows[0].Cells[5] != testset.Train || !strings.Contains(strings.Join(found.Notes, "\n"), "no gold file") {
		t.Errorf("reported half %v, notes %q", found.Rows[0].Cells[5], found.Notes)
	}
}

func TestSTSYears(t *testing.T) {
	dir := put(t, map[string]string{
		"2013/headlines.test.tsv": "1\ta\tb\n2\tc\td\n3\te\tf\n\tleft\tout\n", "2013/OnWN.test.tsv": "1\tg\th\n4\ti\tj\n",
		"sts17/STS.input.track6.tr-en.txt": strings.Repeat("k\tl\nm\tn\n", 150), "sts17/STS.gs.track6.tr-en.txt": strings.Repeat("1.0\n2.0\n", 125),
		"sts-test.csv": "main\tnews\t2012\t1\t2.5\tq\tr\nmain\tnews\t2012\t2\t5\ts\tt\tsource\n",
	})
	files, err := testset.FindSTS(dir)
	if err != nil {
		t.Fatal(err)
	}
	runner := Runner{Vectors: &testset.Embedder{Encoder: &hashEncoder{}}}
	reports, err := runner.STS(t.Context(), []*Protocol{STS}, files)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, row := range append(reports[0].Rows, reports[0].Means...) {
		names = append(names, row.Name)
	}
	want := "2013 OnWN|2013 headlines|2017 track6.tr-en|STSb test|2013 all|2013 unweighted mean|2013 mean|average of the years' unweighted means|average of the years' means"
	if got := strings.Join(names, "|"); got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
	if reports[0].Rows[1].Cells[2] != 3 {
		t.Errorf("%v pairs, want the 3 that have a score", reports[0].Rows[1].Cells[2])
	}
	rows, unweighted := reports[0].Rows, reports[0].Means[1]
	if want := (rows[0].Cells[1].(float64) + rows[1].Cells[1].(float64)) / 2; unweighted.Cells[1] != want || unweighted.Cells[2] != 5 {
		t.Errorf("%v is not the mean %v of both sets", unweighted, want)
	}
	average := reports[0].Means[3]
	if want := (unweighted.Cells[1].(float64) + rows[2].Cells[1].(float64) + rows[3].Cells[1].(float64)) / 3; math.Abs(average.Cells[1].(float64)-want) > 1e-12 {
		t.Errorf("%v is not the mean %v of three years", average, want)
	}
	for n, want := range map[int]string{2: "2013 mean", 3: "average of the years' means"} { // sets of a year, or of two
		reports, err := runner.STS(t.Context(), []*Protocol{STS}, files[:n])
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		var main struct{ Pearson float64 }
		err = errors.Join(report.Write(&text, report.JSON, reports), json.Unmarshal(text.Bytes(), &main))
		means := reports[0].Means
		at := slices.IndexFunc(means, func(r report.Row) bool { return r.Name == want })
		if err != nil || at < 0 || main.Pearson != means[at].Cells[0] {
			t.Errorf("of %d sets JSON has %v as its own figure, want the %s, of %+v: %v", n, main.Pearson, want, means, err)
		}
	}
	notes := strings.Join(reports[0].Notes, "\n")
	if !strings.Contains(notes, ": 1 pairs of") || !strings.Contains(notes, "2013 lacks the set FNWN") {
		t.Errorf("notes:\n%s", notes)
	}
}
