package main

import (
	"os"
	"path/filepath"
	"testing"

	"bitextmine/train"
)

// TestTextsOf reads each kind of set.
func TestTextsOf(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tatoeba.deu-eng.deu": "Hallo\nWelt\n", "tatoeba.deu-eng.eng": "hello\nworld\n",
		"de-en.train.de": "de-1\tHallo\nde-2\tWelt\n", "de-en.train.en": "en-1\thello\n", "de-en.train.gold": "de-1\ten-1\n",
		"2013/news.test.tsv": "4.5\thello\thi there\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for protocol, want := range map[string]int{"tatoeba": 4, "bucc-mteb": 3, "sts": 2} {
		all, err := textsOf(train.DevSet{Protocol: protocol, Dir: dir, Src: []string{"de"}, Tgt: "en"})
		if err != nil || len(all) != want || all[0] == "" {
			t.Errorf("%s: texts %q, want %d, %v", protocol, all, want, err)
		}
	}
}
