package pipeline

import (
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/fixtures"
)

// TestFoundThreshold: where the margin decides and no threshold is given, a scorer's probabilities find one whose pairs
// are good, and nights end with the bytes of one run.
func TestFoundThreshold(t *testing.T) {
	read := func(name string) string {
		data, err := fixtures.Text.ReadFile("text/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	gold := map[string]bool{}
	for line := range strings.Lines(read("de-en.gold")) {
		gold[strings.TrimSpace(line)] = true
	}
	x := newText(t)
	run := func(out string) (f1, threshold float64, digest string) {
		cfg := x.config(out)
		cfg.KeepBelow, cfg.Scorer, cfg.Threshold = false, "none", -1
		report := mustRun(t, cfg)
		kept, correct := 0, 0
		for _, row := range pairs(t, report) {
			kept++
			if float64(row.Score) <= report.Threshold || row.Prob != nil {
				t.Errorf("row %+v is kept above %v", row, report.Threshold)
			}
			if gold[row.Source.Doc+"\t"+row.Target.Doc] {
				correct++
			}
		}
		if !strings.Contains(report.Rule(), "which the scorer's probabilities found") {
			t.Errorf("the rule is %s", report.Rule())
		}
		return 200 * float64(correct) / float64(kept+len(gold)), report.Threshold, report.Bitext.SHA256
	}
	out := filepath.Join(t.TempDir(), "nights")
	put := func(night int) {
		for side, name := range []string{"de.txt", "en.txt"} {
			lines := strings.SplitAfter(read(name), "\n")
			half := len(lines) / 2
			x.put(side, []string{"a.txt", "b.txt"}[night], []byte(strings.Join([][]string{lines[:half], lines[half:]}[night], "")))
		}
	}
	put(0)
	_, first, _ := run(out)
	put(1)
	f1, second, digest := run(out)
	_, _, fresh := run(filepath.Join(t.TempDir(), "fresh"))
	t.Logf("F1 %.1f above %.3f; of half the text above %.3f", f1, second, first)
	if f1 < 75 || second < 1.1 || second > 1.5 {
		t.Errorf("F1 %.1f above %v", f1, second)
	}
	if digest != fresh {
		t.Error("the bytes of two nights differ from those of one run")
	}
}
