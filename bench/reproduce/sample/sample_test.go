package sample

import (
	"os"
	"path/filepath"
	"testing"

	"bitextmine/train/data"
)

func TestSample(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "long.tsv")
	if err := os.WriteFile(file, []byte("a\nb\nc\nd\ne\nf"), 0o600); err != nil {
		t.Fatal(err)
	}
	for lines, want := range map[int]string{3: "b\nd\nf\n", 6: "a\nb\nc\nd\ne\nf\n", 10: "a\nb\nc\nd\ne\nf\n", 4: "b\nc\ne\nf\n"} {
		sources := []data.Source{{Files: []string{file}}}
		if err := Files(sources, lines, 0, filepath.Join(dir, "of", string(rune('0'+lines)))); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(sources[0].Files[0]); err != nil || string(got) != want {
			t.Errorf("%d lines: %q, want %q, %v", lines, got, want, err)
		}
	}
}

// TestHalves: no line is in both.
func TestHalves(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.tsv")
	if err := os.WriteFile(file, []byte("a\nb\nc\nd\ne\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for half, want := range map[int]string{0: "a\nb\nc\nd\ne\n", 1: "a\nc\ne\n", 2: "b\nd\n"} {
		got := ""
		if err := Lines(file, half, func(line string) error { got += line; return nil }); err != nil || got != want {
			t.Errorf("half %d: %q, %v", half, got, err)
		}
	}
}
