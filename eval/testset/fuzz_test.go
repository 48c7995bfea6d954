package testset

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"bitextmine/internal/badinput"
)

// FuzzReadGold reads arbitrary bytes as known pairs: none has an empty id, and none occurs twice.
func FuzzReadGold(f *testing.F) {
	f.Add([]byte("de-1\ten-1\nde-2\ten-2\r\n"))
	f.Add([]byte("a\tb\tc\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		gold, err := ReadGold(bytes.NewReader(content), "x.gold")
		if err != nil {
			if !badinput.Is(err) {
				t.Errorf("error %v is no bad input", err)
			}
			return
		}
		seen := map[IDs]bool{}
		for _, pair := range gold {
			if pair.Source == "" || pair.Target == "" || seen[pair] {
				t.Errorf("accepted %q", pair)
			}
			seen[pair] = true
		}
	})
}

// FuzzReadSTS reads arbitrary bytes as sentence pairs with scores in each layout: a score is a number.
func FuzzReadSTS(f *testing.F) {
	f.Add([]byte("0.5\tone\ttwo\n"), []byte("0.5\n"))
	f.Add([]byte("pair_ID\tsentence_A\tsentence_B\trelatedness_score\n1\tone\ttwo\t4.5\n"), []byte("1\n2\n"))
	f.Add([]byte("one\ttwo\n"), []byte("nan\n"))
	f.Fuzz(func(t *testing.T, text, gold []byte) {
		dir := t.TempDir()
		for name, content := range map[string][]byte{
			"2012/x.test.tsv": text, "SICK_test_annotated.txt": text,
			"STS.input.track1.en-en.txt": text, "STS.gs.track1.en-en.txt": gold,
		} {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		sets, err := FindSTS(dir)
		if err != nil || len(sets) != 3 {
			t.Fatalf("%d sets, error %v", len(sets), err)
		}
		for _, files := range sets {
			set, err := ReadSTS(files)
			if err != nil {
				if !badinput.Is(err) {
					t.Errorf("error %v is no bad input", err)
				}
				continue
			}
			for _, score := range set.Scores {
				if math.IsNaN(score) || math.IsInf(score, 0) {
					t.Errorf("%s: accepted the score %v", files.Text, score)
				}
			}
		}
	})
}

func FuzzReadSTSJSON(f *testing.F) {
	f.Add([]byte(`{"lang":"de-en","score":1.5,"sentence1":"a","sentence2":"b"}`))
	f.Add([]byte(`{"score":null,"sentence1":"a\tb"}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "de.jsonl"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		sets, err := FindSTS(dir)
		for _, files := range sets {
			set, err := ReadSTS(files)
			if err != nil && !badinput.Is(err) {
				t.Errorf("error %v is no bad input", err)
			}
			if len(set.Scores) != len(set.FirstSide.Texts) || len(set.Scores) != len(set.SecondSide.Texts) {
				t.Errorf("%s: %d scores for %d and %d texts", set.Name, len(set.Scores), len(set.FirstSide.Texts),
					len(set.SecondSide.Texts))
			}
		}
		if err != nil && !badinput.Is(err) {
			t.Errorf("error %v is no bad input", err)
		}
	})
}

func FuzzReadLabelled(f *testing.F) {
	f.Add([]byte("sentence1\tsentence2\tlabel\na\tb\t1\n"))
	f.Add([]byte("language\tgold_label\tsentence1\tsentence2\nde\tneutral\ta\tb\n"))
	f.Add([]byte("label\ttext\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := t.TempDir()
		for _, name := range []string{"de.tsv", "de.train.10", "de.test", "fr.train.tsv", "msr_paraphrase_test.txt"} {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		sets, _, err := ReadPairs(dir)
		trains, tests, failed := ReadLabelled(dir)
		for _, err := range []error{err, failed} {
			if err != nil && !badinput.Is(err) {
				t.Errorf("error %v is no bad input", err)
			}
		}
		for _, s := range slices.Concat(sets, trains, tests) {
			if len(s.First.Texts) != len(s.Labels) || len(s.Labels) == 0 || len(s.Second.Texts) != 0 && len(s.Second.Texts) != len(s.Labels) {
				t.Errorf("%s: %d and %d texts, %d labels", s.Name, len(s.First.Texts), len(s.Second.Texts), len(s.Labels))
			}
		}
	})
}
