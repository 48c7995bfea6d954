package exporting

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"bitextmine/bitext/label"

	"bitextmine/corpus"
)

// TestLabels: rejected pairs are left out, and with --all a column says what was decided.
func TestLabels(t *testing.T) {
	in, out := source(t), filepath.Join(t.TempDir(), "out.tsv")
	of := func(i int, accepted bool) label.Label {
		source, target := corpus.KeyOf(fmt.Sprintf("Satz %d", i)), corpus.KeyOf(fmt.Sprintf("sentence %d", i))
		return label.Label{Source: fmt.Sprintf("%x", source[:]), Target: fmt.Sprintf("%x", target[:]), Accepted: accepted}
	}
	labels := []label.Label{of(1, false), of(2, true)}
	report := run(t, Options{Files: []string{in}, Format: "tsv", Out: out, Labels: labels})
	if got := rows(t, out, "src_text", "label")[:2]; !slices.Equal(got, []string{"Satz 2 accepted", "Satz 3 "}) || report.Written != 856 {
		t.Errorf("%q, %d pairs", got, report.Written)
	}
	run(t, Options{Files: []string{in}, Format: "tsv", Out: out, Labels: labels, All: true})
	if got := rows(t, out, "src_text", "label")[:3]; !slices.Equal(got, []string{"Satz 0 ", "Satz 1 rejected", "Satz 2 accepted"}) {
		t.Errorf("with all: %q", got)
	}
	labels[1].SourceText, labels[1].TargetText, labels[1].By = "Satz zwei", "second sentence", "Anna"
	run(t, Options{Files: []string{in}, Format: "tsv", Out: out, Labels: labels})
	if got := rows(t, out, "src_text", "tgt_text", "label", "label_by")[:2]; !slices.Equal(got, []string{"Satz zwei second sentence edited Anna", "Satz 3 sentence 3  "}) {
		t.Errorf("corrected: %q", got)
	}
}
