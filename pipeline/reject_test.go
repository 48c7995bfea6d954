package pipeline

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/bitext"
	"bitextmine/fixtures"
	"bitextmine/mine"
	"bitextmine/pipeline/record"
)

// sentences are the sentences of a text of fixtures, without their ids, as a file of the test.
func sentencesOf(t *testing.T, dir, name string) (path string, lines []string) {
	t.Helper()
	data, err := fixtures.Text.ReadFile("text/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		_, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		lines = append(lines, text)
	}
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, lines
}

// TestWrongLanguages: text on the wrong side, or the same text on both, makes no bitext, and a warning says why; the
// settings keep such pairs.
func TestWrongLanguages(t *testing.T) {
	dir := t.TempDir()
	de, _ := sentencesOf(t, dir, "de.txt")
	en, _ := sentencesOf(t, dir, "en.txt")
	for name, c := range map[string]struct {
		source, target string
		reasons, says  []string
	}{
		"English on both sides": {en, en, []string{"src_language", "untranslated"}, []string{"said to be de is not", en + " is ", "% en", "give each file", "pairs are rejected"}},
		"German on both sides":  {de, de, []string{"tgt_language", "untranslated"}, []string{"said to be en is not", "pairs are rejected"}},
		"sides swapped":         {en, de, []string{"src_language", "tgt_language"}, []string{"said to be de is not", "said to be en is not", "swap the languages"}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := scored(testConfig(dir, filepath.Join(t.TempDir(), "out")))
			cfg.SourceText, cfg.TargetText, cfg.KeepBelow = []string{c.source}, []string{c.target}, true
			cfg.Swapped = name == "sides swapped"
			report, log := runLogged(t, cfg)
			found, rejected := map[string]int{}, bitext.Row{}
			for _, row := range pairs(t, report) {
				for _, reason := range row.Reasons {
					if found[reason]++; reason == c.reasons[0] {
						rejected = row
					}
				}
			}
			x, err := openExplainer(t, cfg.Out).Explain(t.Context(), rejected.Source.Text, rejected.Target.Text)
			if err != nil || x.Verdict != mine.Rejected || !slices.Equal(x.Rejection.Reasons(), rejected.Reasons) || len(x.Winners) > 0 {
				t.Errorf("mine explain says %+v (%v) of a pair with the reasons %v", x, err, rejected.Reasons)
			}
			for _, reason := range c.reasons {
				if found[reason] < 5 {
					t.Errorf("%d pairs are rejected by %s: %v", found[reason], reason, found)
				}
			}
			for _, text := range c.says {
				if !strings.Contains(log, text) {
					t.Errorf("no warning says %q:\n%s", text, log)
				}
			}
			if len(report.Warnings) < 2 || len(report.Rejected) == 0 || len(report.Rejected[0].Samples) == 0 {
				t.Errorf("the report has warnings %q, rejected %+v", report.Warnings, report.Rejected)
			}
			cfg.Out, cfg.KeepCopies, cfg.KeepForeign, cfg.KeepBelow = filepath.Join(t.TempDir(), "kept"), true, true, false
			if kept, _ := runLogged(t, cfg); kept.Counts.Kept < 3*report.Counts.Kept || len(kept.Rejected) > 0 {
				t.Errorf("%d pairs are kept, with --keep-copies and --keep-foreign %d", report.Counts.Kept, kept.Counts.Kept)
			}
		})
	}
}

// TestCopiesAreNoNeighbours: text of the other side that stands untranslated on one side, which no translation is as
// near to, costs no pairs, and is counted.
func TestCopiesAreNoNeighbours(t *testing.T) {
	dir := t.TempDir()
	de, german := sentencesOf(t, dir, "de.txt")
	en, english := sentencesOf(t, dir, "en.txt")
	cfg := scored(testConfig(dir, filepath.Join(t.TempDir(), "out")))
	cfg.SourceText, cfg.TargetText = []string{de}, []string{en}
	want := mustRun(t, cfg)
	mixed := filepath.Join(dir, "mixed.txt")
	writeFile(t, mixed, strings.Join(append(slices.Clone(german), english...), "\n")+"\n")
	cfg.SourceText, cfg.Out, cfg.Work = []string{mixed}, filepath.Join(t.TempDir(), "mixed"), filepath.Join(t.TempDir(), "work")
	got := mustRun(t, cfg)
	lost := func(r *record.Report) (n int) {
		found := map[[2]string]bool{}
		for _, row := range pairs(t, r) {
			found[[2]string{row.Source.Text, row.Target.Text}] = true
		}
		for _, row := range pairs(t, want) {
			if !found[[2]string{row.Source.Text, row.Target.Text}] {
				n++
			}
		}
		return n
	}
	at := slices.IndexFunc(got.Rejected, func(r record.Rejected) bool { return r.Reason == "untranslated" })
	if at < 0 || got.Rejected[at].Pairs < len(english)*3/4 || len(got.Rejected[at].Samples) != record.MaxSamples ||
		got.Rejected[at].Samples[0].Source != got.Rejected[at].Samples[0].Target {
		t.Errorf("of %d copies these are rejected: %+v", len(english), got.Rejected)
	}
	x, err := openExplainer(t, cfg.Out).Explain(t.Context(), english[0], english[0])
	if err != nil || x.Verdict != mine.Rejected || !slices.Equal(x.Rejection.Reasons(), []string{"untranslated"}) {
		t.Errorf("mine explain says %+v of a copy, error %v", x, err)
	}
	byMargin := cfg
	byMargin.Scorer, byMargin.Out = "none", filepath.Join(t.TempDir(), "margin")
	found := mustRun(t, byMargin)
	rejected := 0
	for _, r := range found.Rejected {
		rejected += r.Pairs
	}
	if rejected > len(english) || found.Counts.Kept < want.Counts.Kept/2 {
		t.Errorf("where the margin decides, %d pairs are kept instead of %d, and of %d copies %d are rejected", found.Counts.Kept, want.Counts.Kept, len(english), rejected)
	}
	// What an earlier run left of the features has no copies.
	cfg.KeepCopies, cfg.KeepForeign, cfg.Out = true, true, filepath.Join(t.TempDir(), "kept")
	kept := mustRun(t, cfg)
	if kept.Counts.Kept < len(english)*3/4 {
		t.Errorf("%d pairs are kept with --keep-copies", kept.Counts.Kept)
	}
	if without, with := lost(got), lost(kept); 2*without > with {
		t.Errorf("of %d pairs %d are lost, %d with --keep-copies", want.Counts.Kept, without, with)
	}
}

// TestMixedSide: where a part of a side is in another language, a warning says so, and its short sentences make no pair
// either.
func TestMixedSide(t *testing.T) {
	dir := t.TempDir()
	_, german := sentencesOf(t, dir, "de.txt")
	en, english := sentencesOf(t, dir, "en.txt")
	mixed := filepath.Join(dir, "mixed.txt")
	var copies []string
	for _, text := range english[:len(german)/2] { // changed enough to be no copies
		copies = append(copies, "Indeed, "+text)
	}
	if err := os.WriteFile(mixed, []byte(strings.Join(append(copies, german...), "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := scored(testConfig(dir, filepath.Join(t.TempDir(), "out")))
	cfg.SourceText, cfg.TargetText = []string{mixed}, []string{en}
	report, log := runLogged(t, cfg)
	if !strings.Contains(log, "said to be de is only in part") || report.Counts.Kept < 50 {
		t.Errorf("%d pairs are kept:\n%s", report.Counts.Kept, log)
	}
	short := 0 // texts of a few words, whose language is not known
	for _, row := range pairs(t, report) {
		if foreign, _ := strings.CutPrefix(row.Source.Text, "Indeed, "); foreign != row.Source.Text && len(strings.Fields(foreign)) > 5 {
			t.Errorf("%q makes a pair with %q", row.Source.Text, row.Target.Text)
		} else if foreign != row.Source.Text {
			short++
		}
	}
	if short > 5 {
		t.Errorf("%d short foreign sentences make pairs", short)
	}
}

// TestRejectedTakeNoSentence: a copy of the source among the targets does not take the place of its translation, and
// the columns of language identification are filled.
func TestRejectedTakeNoSentence(t *testing.T) {
	dir := t.TempDir()
	de, german := sentencesOf(t, dir, "de.txt")
	en, english := sentencesOf(t, dir, "en.txt")
	cfg := testConfig(dir, filepath.Join(t.TempDir(), "out"))
	cfg.SourceText, cfg.TargetText = []string{de}, []string{en}
	clean, log := runLogged(t, cfg)
	if clean.Counts.Kept < 100 || len(clean.Rejected) > 0 || len(clean.Warnings) > 0 || log != "" {
		t.Fatalf("of text that is as it should be %d pairs are kept, %+v rejected; warnings: %s", clean.Counts.Kept, clean.Rejected, log)
	}
	identified := 0
	for _, row := range pairs(t, clean) {
		if row.Source.Identified == "de" && row.Target.Identified == "en" && row.Source.Share > 0.5 {
			identified++
		} else if row.Source.Identified == "" && row.Source.Share != 0 {
			t.Errorf("no language with a share: %+v", row.Source)
		}
	}
	if identified < clean.Counts.Kept*8/10 {
		t.Errorf("of %d pairs %d are identified", clean.Counts.Kept, identified)
	}
	if err := os.WriteFile(en, []byte(strings.Join(append(german[:300:300], english...), "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.Out, cfg.Threshold = filepath.Join(t.TempDir(), "mixed"), 1
	mixed, _ := runLogged(t, cfg)
	for _, row := range pairs(t, mixed) {
		if row.Source.Text == row.Target.Text && len(strings.Fields(row.Source.Text)) > 10 {
			t.Errorf("kept: %s", row.Source.Text)
		}
	}
	if mixed.Counts.Kept < 50 {
		t.Errorf("beside copies %d of %d pairs are kept", mixed.Counts.Kept, clean.Counts.Kept)
	}
}
