package sample

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"bitextmine/eval/testset"
	"bitextmine/train"
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

// TestMining: of gold every second pair stays with its sentences, of the other sentences every second one, and a
// sentence of a pair that is left out is in neither.
func TestMining(t *testing.T) {
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "part")
	for name, text := range map[string]string{
		"de-en.train.de":   "d1\ta\nd2\tb\nd3\tc\nd4\td\nd5\te\nd6\tf\n",
		"de-en.train.en":   "e1\tA\ne2\tB\ne3\tC\ne4\tD\n",
		"de-en.train.gold": "d2\te3\nd4\te1\nd5\te2\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second time it is there
		if err := Mining([]train.DevSet{{Dir: "flores", Src: []string{"fr"}}, {Dir: dir, Src: []string{"de"}}}, dir, 2, out); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"de-en.train.de":   "d1\ta\nd2\tb\nd5\te\nd6\tf\n",
		"de-en.train.en":   "e2\tB\ne3\tC\ne4\tD\n",
		"de-en.train.gold": "d2\te3\nd5\te2\n",
	} {
		if got, err := os.ReadFile(filepath.Join(out, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, want %q, %v", name, got, want, err)
		}
	}
	if err := Mining([]train.DevSet{{Dir: dir, Src: []string{"fr"}}}, dir, 2, out); err == nil {
		t.Error("a part of a set that is not there")
	}
}

// TestAligned: the pairs of a split, in files that evaluation finds by their languages.
func TestAligned(t *testing.T) {
	dir := t.TempDir()
	file, out := filepath.Join(dir, "all.tsv"), filepath.Join(dir, "held")
	if err := os.WriteFile(file, []byte("en-hau\ttrain\tOne here.\tDaya.\nen-hau\ttest\tTwo there.\tBiyu.\nen-yor\ttest\tThree.\tMeta.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := data.DefaultSource()
	s.Files, s.Src, s.Tgt, s.Columns = []string{file}, "en", "ha", []string{"pair", "split", "src", "tgt"}
	s.Where = map[string][]string{"pair": {"en-hau"}, "split": {"test"}}
	for range 2 {
		if err := Aligned(t.Context(), []data.Source{s}, out); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"held.ha-en.en": "Two there.\n", "held.ha-en.ha": "Biyu.\n"} {
		if got, err := os.ReadFile(filepath.Join(out, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, want %q, %v", name, got, want, err)
		}
	}
	found, err := testset.FindAligned(out, "", []string{"ha"}, "en")
	if err != nil || len(found) != 1 {
		t.Errorf("found %+v, %v", found, err)
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
