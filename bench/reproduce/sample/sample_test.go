package sample

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
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

// TestHide: every pair is known or hidden, and the hidden text says nothing of the pairs.
func TestHide(t *testing.T) {
	dir := t.TempDir()
	var lines, other strings.Builder
	for i := range 26 {
		fmt.Fprintf(&lines, "english %d\tother %d\n", i, i)
		fmt.Fprintf(&other, "more %d\tlangue %d\n", i, i)
	}
	source := func(name, text, language string) data.Source {
		s := data.DefaultSource()
		s.Files, s.Src, s.Tgt = []string{filepath.Join(dir, name)}, "en", language
		if err := os.WriteFile(s.Files[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return s
	}
	c := data.DefaultConfig()
	c.Sources = []data.Source{source("a.tsv", lines.String(), "yo")}
	h, err := Hide(t.Context(), c, 13, []data.Source{source("b.tsv", other.String(), "ha")}, filepath.Join(dir, "hidden"))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, path := range []string{h.Known, h.True, h.English, h.Other} {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		counts[filepath.Base(path)] = strings.Count(string(raw), "\n")
		if path == h.Other && strings.HasPrefix(string(raw), "other 1\nother 2\nother 3\n") {
			t.Errorf("the hidden text is in the order of the pairs: %s", raw)
		}
	}
	if want := map[string]int{"known.tsv": 2, "true.tsv": 24, "text.en": 50, "text.other": 24}; !reflect.DeepEqual(counts, want) {
		t.Errorf("%v, want %v", counts, want)
	}
}
