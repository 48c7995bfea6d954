package pipeline

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSidesOfTwoFormats: TSV against JSONL with other columns gives the pairs of the same text in plain files, and
// what one side's settings change leaves the other side's shards.
func TestSidesOfTwoFormats(t *testing.T) {
	plain := corpora(t, 60)
	cfg := testConfig(plain, filepath.Join(t.TempDir(), "plain"))
	cfg.SourceText = []string{filepath.Join(plain, "de.txt")}
	want := pairs(t, mustRun(t, cfg))

	dir := t.TempDir()
	var tsv, jsonl strings.Builder
	tsv.WriteString("url\tSatz\tandere\n")
	for i, line := range lines(t, filepath.Join(plain, "de.txt")) {
		fmt.Fprintf(&tsv, "u%d\t%s\tnichts %d\n", i, line, i)
	}
	for i, line := range lines(t, filepath.Join(plain, "en.txt")) {
		text, err := json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&jsonl, `{"body": %s, "id": "d%d"}`+"\n", text, i)
	}
	source, target := filepath.Join(dir, "de.data"), filepath.Join(dir, "en.data")
	for path, text := range map[string]string{source: tsv.String(), target: jsonl.String()} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg = testConfig(dir, filepath.Join(t.TempDir(), "mixed"))
	cfg.SourceText, cfg.TargetText = []string{source}, []string{target}
	cfg.SourceFormat, cfg.SourceTextColumn = "tsv", "Satz"
	cfg.TargetFormat, cfg.TargetTextColumn, cfg.TargetDocColumn = "jsonl", "body", "id"
	report := mustRun(t, cfg)
	got := pairs(t, report)
	if len(got) != len(want) || len(want) == 0 {
		t.Fatalf("%d pairs, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i].Source.Text != want[i].Source.Text || got[i].Target.Text != want[i].Target.Text || got[i].Score != want[i].Score {
			t.Errorf("row %d: %q %q %v, want %q %q %v", i, got[i].Source.Text, got[i].Target.Text, got[i].Score,
				want[i].Source.Text, want[i].Target.Text, want[i].Score)
		}
		if got[i].Source.Doc != "" || !strings.HasPrefix(got[i].Target.Doc, "d") {
			t.Errorf("row %d has documents %q and %q", i, got[i].Source.Doc, got[i].Target.Doc)
		}
	}
	if report.Settings.SourceTextColumn != "Satz" || report.Settings.TargetTextColumn != "body" {
		t.Errorf("run.json has %+v", report.Settings.Sides)
	}

	cfg.SourceURLColumn, cfg.Overwrite = "url", true
	again := mustRun(t, cfg)
	if s := again.Stages[0]; s.Tasks != 2 || s.Cached != 1 {
		t.Errorf("of %d sharding tasks %d were cached; only the source is read otherwise", s.Tasks, s.Cached)
	}
	if rows := pairs(t, again); rows[0].Source.URL == "" || rows[0].Target.URL != "" {
		t.Errorf("URLs %q and %q", rows[0].Source.URL, rows[0].Target.URL)
	}
}

// lines are the lines of a text file.
func lines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}
