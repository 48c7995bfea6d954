package data

import (
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/bitext/label"
	"bitextmine/corpus"
	"bitextmine/internal/badinput"
)

func keyOf(text string) string {
	key := corpus.KeyOf(corpus.Normalise(text))
	return hex.EncodeToString(key[:])
}

// TestLabels: rejected pairs are dropped, in either direction, or all but accepted ones; corrected texts are used.
func TestLabels(t *testing.T) {
	run := t.TempDir()
	file := write(t, "pairs.tsv", "eins\tone\nzwei\ttwo\ndrei\tthree\nvier\tfour\n")
	err := label.Append(run, []label.Label{
		{Source: keyOf("eins"), Target: keyOf("one")},
		{Source: keyOf("two"), Target: keyOf("zwei")}, // the run had the languages the other way round
		{Source: keyOf("four"), Target: keyOf("vier"), Accepted: true, SourceText: "Four.", TargetText: " Vier."},
		{Source: keyOf("drei"), Target: keyOf("four")},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := source(file)
	s.Labels = run
	got, stats := read(t, config(s))
	if !slices.Equal(got, []string{"drei|three", "Vier.|Four."}) || stats.Files[0].Dropped[Rejected] != 2 {
		t.Errorf("%q, %v", got, stats.Files)
	}
	s.Accepted = true
	got, stats = read(t, config(s))
	if !slices.Equal(got, []string{"Vier.|Four."}) || stats.Files[0].Dropped[NotAccepted] != 1 {
		t.Errorf("accepted alone: %q, %v", got, stats.Files)
	}
}

func TestBadLabels(t *testing.T) {
	s := source(write(t, "pairs.tsv", "eins\tone\n"))
	s.Accepted = true
	if err := config(s).Validate(); !badinput.Is(err) || !strings.Contains(err.Error(), "accepted needs labels") {
		t.Errorf("accepted without labels: %v", err)
	}
	s.Labels = t.TempDir()
	if _, err := openLabels(s.Labels, false); !badinput.Is(err) || !strings.Contains(err.Error(), filepath.Join(s.Labels, label.Name)) {
		t.Errorf("no labels: %v", err)
	}
	if err := label.Append(s.Labels, []label.Label{{Source: keyOf("null"), Target: keyOf("zero"), Accepted: true}}); err != nil {
		t.Fatal(err)
	}
	for _, err := range Pairs(t.Context(), config(s), &Stats{}) {
		if !badinput.Is(err) || !strings.Contains(err.Error(), "1 not_accepted") {
			t.Errorf("labels of another run: %v", err)
		}
	}
}
