package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/train"
	"bitextmine/train/data"
)

// TestHiddenPairsOfOtherSettings: the files are made again if a budget divides its bitext otherwise, in the same
// folder, because its name is a part of what identifies rows; files of the same settings stay.
func TestHiddenPairsOfOtherSettings(t *testing.T) {
	dir := t.TempDir()
	var lines strings.Builder
	for i := range 24 {
		fmt.Fprintf(&lines, "english %d\tother %d\n", i, i)
	}
	bitext := data.DefaultSource()
	bitext.Files, bitext.Src, bitext.Tgt = []string{filepath.Join(dir, "a.tsv")}, "en", "yo"
	if err := os.WriteFile(bitext.Files[0], []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &maker{options: options{out: filepath.Join(dir, "out")}, budget: budget{name: "toy"}}
	known := func(every int) (path string, pairs int, made os.FileInfo) {
		t.Helper()
		m.budget.Hidden.Every = every
		c := train.DefaultConfig()
		c.Bitext.Sources = []data.Source{bitext}
		if err := m.bitext(t.Context(), &c, system{}, []string{"yo"}, 1); err != nil {
			t.Fatal(err)
		}
		path = c.Bitext.Sources[0].Files[0]
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if made, err = os.Stat(path); err != nil {
			t.Fatal(err)
		}
		return path, strings.Count(string(text), "\n"), made
	}
	first, some, made := known(12)
	if first != filepath.Join(dir, "out", "hidden", "toy", "known.tsv") || some != 2 {
		t.Errorf("%s has %d pairs, want 2", first, some)
	}
	if _, _, again := known(12); !os.SameFile(made, again) {
		t.Error("files of the same settings were made again")
	}
	if second, more, _ := known(6); second != first || more != 4 {
		t.Errorf("%s has %d pairs, want 4", second, more)
	}
}
