package pipeline

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"bitextmine/bitext"
	"bitextmine/bitext/label"
	"bitextmine/pipeline/admin"
)

// TestLabels: a rejected pair does not come back, its sentences are free for others, and accepting it again gives the
// bytes of before.
func TestLabels(t *testing.T) {
	dir := t.TempDir()
	de, _ := sentencesOf(t, dir, "de.txt")
	en, _ := sentencesOf(t, dir, "en.txt")
	cfg := testConfig(dir, filepath.Join(dir, "out"))
	cfg.SourceText, cfg.TargetText = []string{de}, []string{en}
	cfg.KeepBelow = true
	report := mustRun(t, cfg)
	before := pairs(t, report)
	first, err := os.ReadFile(report.Bitext.Path)
	if err != nil {
		t.Fatal(err)
	}
	rejected, err := label.Rows(t.Context(), report.Bitext.Path, []uint64{0, 1, 2}, [2]string{})
	if err != nil {
		t.Fatal(err)
	}
	if err := label.Append(cfg.Out, rejected); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(dir, "before.parquet")
	if err := os.WriteFile(old, first, 0o600); err != nil {
		t.Fatal(err)
	}
	all := pairs(t, mustRun(t, cfg))
	if d, err := admin.Diff(t.Context(), old, cfg.Out); err != nil || d.Causes[admin.Removed][admin.Labelled] != 3 {
		t.Errorf("of 3 pairs that were rejected: %+v, %v", d, err)
	}
	for _, row := range before[:3] {
		same := func(r bitext.Row) bool { return r.Source.Key == row.Source.Key && r.Target.Key == row.Target.Key }
		at := slices.IndexFunc(all, same)
		if at < 0 || all[at].Keep || !slices.Equal(all[at].Reasons, []string{"label"}) {
			t.Errorf("the rejected pair %q is %+v", row.Source.Text, all[max(0, at)])
		}
		rival := slices.IndexFunc(all, func(r bitext.Row) bool { return !same(r) && r.Source.Key == row.Source.Key })
		if rival >= 0 && slices.Equal(all[rival].Reasons, []string{"taken"}) && !slices.ContainsFunc(all, func(r bitext.Row) bool {
			return r.Keep && (r.Source.Key == all[rival].Source.Key || r.Target.Key == all[rival].Target.Key)
		}) {
			t.Errorf("%q is taken, though the pair that took its sentence is rejected", all[rival].Source.Text)
		}
	}
	if len(all) != len(before) {
		t.Errorf("%d candidates are written, of %d before", len(all), len(before))
	}
	accepted := make([]label.Label, len(rejected))
	for i, l := range rejected {
		accepted[i] = label.Label{Source: l.Source, Target: l.Target, Accepted: true}
	}
	if err := label.Append(cfg.Out, accepted); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(mustRun(t, cfg).Bitext.Path); err != nil || !bytes.Equal(again, first) {
		t.Errorf("after accepting, the bitext is not that of before: %v", err)
	}
	if err := os.Remove(filepath.Join(cfg.Out, label.Name)); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(mustRun(t, cfg).Bitext.Path); err != nil || !bytes.Equal(again, first) {
		t.Errorf("without labels the bitext is not that of before: %v", err)
	}
}
