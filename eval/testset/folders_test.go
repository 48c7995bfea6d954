package testset

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestFoldersOfSets: sets are found in a folder whose name would be a pattern, and behind links to it or in it.
func TestFoldersOfSets(t *testing.T) {
	dir := t.TempDir()
	set, link := filepath.Join(dir, "a[1]"), filepath.Join(dir, "link")
	labelled := "sentence1\tsentence2\tlabel\na\tb\t1\na\tc\t0\n"
	for name, text := range map[string]string{
		"a[1]/de-en.train.de": "d1\tHallo.\n", "a[1]/de-en.train.en": "e1\tHello.\n", "a[1]/de-en.train.gold": "d1\te1\n",
		"a[1]/pairs/en/test.tsv": labelled,
		"a[1]/en.train":          "x\ta\ny\tb\n", "a[1]/en.test": "x\ta\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	outer := filepath.Join(dir, "outer")
	if err := os.Mkdir(outer, 0o755); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{link: set, filepath.Join(outer, "de-en"): set} {
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	pair := LanguagePair{Source: "de", Target: "en"}
	for _, in := range []string{set, link, outer} {
		if pairs, err := BUCCPairs(in, "en"); err != nil || !slices.Equal(pairs, []LanguagePair{pair}) {
			t.Errorf("%s: pairs %v, %v", in, pairs, err)
		}
		if files, err := FindBUCC(in, pair); err != nil || len(files) != 1 || files[0].Half != Train || files[0].Gold == "" {
			t.Errorf("%s: halves %v, %v", in, files, err)
		}
		if in == outer {
			continue
		}
		if sets, _, err := ReadPairs(in); err != nil || len(sets) != 1 || sets[0].Name != "en test" {
			t.Errorf("%s: labelled pairs %+v, %v", in, sets, err)
		}
		if trains, tests, err := ReadLabelled(in); err != nil || len(trains) != 1 || len(tests) != 1 || tests[0].File != filepath.Join(in, "en.test") {
			t.Errorf("%s: labelled texts %+v, %+v, %v", in, trains, tests, err)
		}
	}
}
