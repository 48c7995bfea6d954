package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
	"bitextmine/train"
)

// TestPower: a budget that cannot tell says so before it runs.
func TestPower(t *testing.T) {
	b := budget{name: "small", Parts: [][]string{{"de"}}, Expect: expectation{Differ: 25, Spread: 1.3},
		Groups: []group{{Systems: []system{{Name: "ems"}, {Name: "ems-no-contrastive"}}}}}
	dir := t.TempDir()
	for _, file := range []string{"tatoeba.deu-eng.deu", "tatoeba.deu-eng.eng"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(strings.Repeat("x\n", 1000)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.Sets = []train.DevSet{{Protocol: "tatoeba", Dir: dir}}
	var said strings.Builder
	if err := b.power(&said, 1, ""); !badinput.Is(err) || !strings.Contains(err.Error(), "cannot tell any claim") || !strings.Contains(said.String(), "they cannot tell, 2 seeds can") ||
		strings.Contains(said.String(), "Inf") {
		t.Errorf("one seed: %v, %s", err, said.String())
	}
	said.Reset()
	// (1.96 + 0.84) hypot(1.3/√10, 10√(25/1000)), and a little more for ten seeds
	if err := b.power(&said, 10, ""); err != nil || !strings.Contains(said.String(), "10 seeds and 1000 items tell 4.6 points in four of five experiments, the paper's are 5.5: they can tell") {
		t.Errorf("ten seeds: %v, %s", err, said.String())
	}
	said.Reset()
	b.Untested = []untestable{{Because: "a toy"}}
	if err := b.power(&said, 10, ""); !badinput.Is(err) || !strings.Contains(err.Error(), "tests no claim") || !strings.Contains(said.String(), ": not tested: a toy\n") {
		t.Errorf("all untested: %v, %s", err, said.String())
	}
	said.Reset()
	b.Untested, b.Groups = nil, []group{{Systems: []system{{Name: "bag"}}}, {Start: "bag", Systems: b.Groups[0].Systems}}
	start := rows("bag", 96, func(r *result) { r.Measures[0].Set = nameOf(b.Sets[0]) })[0]
	folder := t.TempDir()
	if err := start.write(rowFile(folder, b, b.Parts[0], "bag", "seed-0")); err != nil {
		t.Fatal(err)
	}
	if err := b.power(&said, 10, folder); err != nil || !strings.Contains(said.String(), "they can tell; `bag`, the start, finds 96.0% already, so 5.5 points cannot be gained") {
		t.Errorf("a start that finds nearly all: %v, %s", err, said.String())
	}
	if can, told := b.Expect.can(6, 10, 1000); !told || !strings.HasSuffix(can, "they can tell") {
		t.Errorf("%s", can)
	}
	if can, told := b.Expect.can(1, 10, 1000); told || !strings.HasSuffix(can, "nor can more seeds") {
		t.Errorf("%s", can)
	}
}

// TestSTSItems: Spanish STS has the pairs of its one set, English those of its years.
func TestSTSItems(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"2012/MSRpar.test.tsv": "4.5\ta\tb\n", "2013/FNWN.test.tsv": "4.5\ta\tb\n3\tc\td\n", "2016/headlines.test.tsv": "4.5\ta\tb\n",
		"STS.input.track3.es-es.txt": "a\tb\nc\td\ne\tf\ng\th\n", "STS.gs.track3.es-es.txt": "1\n2\n3\n4\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for language, want := range map[string]int{"en": 3, "es": 4} {
		if n, err := items(train.DevSet{Protocol: "sts", Dir: dir}, language); err != nil || n != want {
			t.Errorf("%s: %d items, want %d, %v", language, n, want, err)
		}
	}
}
