package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

// thresholded is a report with a curve of three pairs.
func thresholded() *Report {
	pairs := []Scored{{Score: 1.3, Correct: true}, {Score: 1.2}, {Score: 1.1, Correct: true}}
	return &Report{
		Protocol: "bucc-laser", Definition: [2]string{"Mined one-to-one.", "Pairs with score >= threshold."}, Encoder: "toy", Label: "pair",
		Columns: []Column{{"f1", Percentage}, {"threshold", Threshold}, {"half", Text}, {"gold", Count}},
		Rows:    []Row{{Name: "de-en", Cells: []any{80.0, 1.1, "test", 2}}},
		Notes:   []string{"one half only"},
		Curves:  []Curve{{Name: "de-en", Points: CurveOf(pairs, 2)}},
	}
}

func TestFormats(t *testing.T) {
	for format, want := range map[Format][]string{
		Table:    {"bucc-laser   encoder toy\n", "score >= threshold", "de-en  80.00   1.100000  test     2", "note: one half only\n"},
		Markdown: {"**bucc-laser**, encoder toy.", "score >= threshold", "| pair | f1 | threshold | half | gold |", "| de-en | 80.00 | 1.100000 | test | 2 |", "Note: one half only"},
		TSV:      {"protocol\tpair\tf1\tthreshold\thalf\tgold\n", "bucc-laser\tde-en\t80\t1.1\ttest\t2\n"},
		JSON:     {`"protocol": "bucc-laser"`, "score >= threshold", `"notes": [`},
	} {
		var b strings.Builder
		if err := thresholded().Write(&b, format); err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(b.String(), w) {
				t.Errorf("%s lacks %q:\n%s", format, w, b.String())
			}
		}
	}
}

func TestJSONHasTheFiguresAtTheTop(t *testing.T) {
	var b strings.Builder
	if err := thresholded().Write(&b, JSON); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Protocol, Unit, Half string
		F1, Threshold        float64
		Counts               map[string]int
		Rows                 []map[string]any
	}
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Protocol != "bucc-laser" || got.Unit != "percent" || got.Half != "test" || got.F1 != 80 || got.Threshold != 1.1 ||
		got.Counts["gold"] != 2 || len(got.Rows) != 1 {
		t.Errorf("%s", b.String())
	}
}

// TestSeveralReports: those of one evaluation are one document.
func TestSeveralReports(t *testing.T) {
	other := &Report{Protocol: "xsim", Label: "language", Columns: []Column{{"error", Percentage}, {"gold", Count}}, Rows: []Row{{Name: "de", Cells: []any{nil, 3}}}}
	both := []*Report{thresholded(), other}
	var b strings.Builder
	if err := Write(&b, JSON, both); err != nil {
		t.Fatal(err)
	}
	var got []struct{ Protocol string }
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil || len(got) != 2 || got[1].Protocol != "xsim" {
		t.Errorf("%v in %s", err, b.String())
	}
	b.Reset()
	if err := Write(&b, TSV, both); err != nil {
		t.Fatal(err)
	}
	want := "protocol\tpair\tf1\tthreshold\thalf\tgold\tlanguage\terror\nbucc-laser\tde-en\t80\t1.1\ttest\t2\t\t\nxsim\t\t\t\t\t3\tde\t\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestAverageOverPairs(t *testing.T) {
	r := &Report{Label: "pair", Columns: []Column{{"f1", Percentage}, {"threshold", Threshold}, {"gold", Count}},
		Rows: []Row{{Name: "a", Cells: []any{80.0, 1.1, 10}}, {Name: "b", Cells: []any{60.0, 1.2, 30}}}}
	r.Average()
	mean := r.Means[0]
	if mean.Cells[0] != 70.0 || mean.Cells[1] != nil || mean.Cells[2] != 40 {
		t.Errorf("average %v, want 70, none, 40", mean.Cells)
	}
}

func TestCurveFiles(t *testing.T) {
	dir, reports := t.TempDir(), []*Report{thresholded(), {Protocol: "bucc-mteb"}}
	path := filepath.Join(dir, "pr.tsv")
	if err := WriteCurves(path, reports); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := "protocol\tpair\tscore\textracted\tcorrect\tprecision\trecall\tf1\n" +
		"bucc-laser\tde-en\t1.3\t1\t1\t100.0000\t50.0000\t66.6667\n" +
		"bucc-laser\tde-en\t1.2\t2\t1\t50.0000\t50.0000\t50.0000\n" +
		"bucc-laser\tde-en\t1.1\t3\t2\t66.6667\t100.0000\t80.0000\n"
	if string(text) != want {
		t.Errorf("the curve is\n%s", text)
	}
	if err := WriteCurves(filepath.Join(dir, "x.tsv"), reports[1:]); !badinput.Is(err) ||
		!strings.Contains(err.Error(), "x.tsv: none of the protocols has a precision-recall curve") {
		t.Errorf("%v, want bad input", err)
	}
}
