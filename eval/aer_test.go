package eval

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/align/word"

	"bitextmine/corpus/corpustest"
	"bitextmine/internal/badinput"
)

// TestCounts: |A| = 4, |S| = 3, |A∩S| = 2, |A∩P| = 3.
func TestCounts(t *testing.T) {
	parse := func(line string) []word.Link {
		links, err := word.ParseLinks(nil, line, 0)
		if err != nil {
			t.Fatal(err)
		}
		return links
	}
	var c LinkCounts
	c.Add(parse("0-0 1-1 2-2 1-1"), parse("0-0 1-1 1p1 2p2"))
	c.Add(parse("5-5"), parse("0-0"))
	c.Add(parse(""), parse(""))
	want := LinkCounts{Pairs: 3, Unlinked: 1, NoGold: 1, Links: 4, Sure: 3, InSure: 2, InGold: 3}
	if c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
	for name, v := range map[string][2]float64{
		"AER": {c.AER(), 100 * (1 - 5./7)}, "precision": {c.Precision(), 75}, "recall": {c.Recall(), 200. / 3},
	} {
		if math.Abs(v[0]-v[1]) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, v[0], v[1])
		}
	}
}

// examples unpacks the shared test sets.
func examples(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	corpustest.Archive(t, "align.tar.xz", func(name string, content io.Reader) {
		if !strings.Contains(name, "awesome-align/examples/") {
			return
		}
		data, err := io.ReadAll(content)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(name)), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	return dir
}

// TestSharedSets scores awesome-align's published alignments against the figures of its own Python script. Then it
// aligns the sets: no way to combine the directions may be more than 0.7 points worse than fast_align on the same
// pairs, and grow-diag-final-and may not be worse at all.
func TestSharedSets(t *testing.T) {
	dir := examples(t)
	sets, err := ReadAlignmentSets(dir, 1)
	if err != nil {
		t.Fatal(err)
	}
	published := map[string]float64{"enfr": 4.0691, "roen": 20.7456, "jaen": 37.3583, "zhen": 13.3139}
	fastAlign := map[string]map[word.Symmetry]float64{
		"enfr": {word.Forward: 30.1741, word.Backward: 28.4291, word.Intersect: 25.1438, word.Union: 32.1179, word.GrowDiag: 28.8323, word.GrowDiagFinalAnd: 29.2927},
		"roen": {word.Forward: 50.5303, word.Backward: 49.1615, word.Intersect: 49.2566, word.Union: 50.2665, word.GrowDiag: 48.0310, word.GrowDiagFinalAnd: 48.2985},
		"jaen": {word.Forward: 74.0376, word.Backward: 71.7434, word.Intersect: 73.0267, word.Union: 72.7752, word.GrowDiag: 70.5231, word.GrowDiagFinalAnd: 71.4372},
		"zhen": {word.Forward: 52.3109, word.Backward: 54.1435, word.Intersect: 49.7024, word.Union: 55.2979, word.GrowDiag: 49.8686, word.GrowDiagFinalAnd: 50.9698},
	}
	if len(sets) != len(published) {
		t.Errorf("%d sets", len(sets))
	}
	for _, s := range sets {
		c, err := CompareLinks(filepath.Join(dir, s.Name+".awesome-align.out"), 0, filepath.Join(dir, s.Name+".gold"), 1, "")
		if err != nil || math.Abs(c.AER()-published[s.Name]) > 1e-4 {
			t.Errorf("%s: AER %.4f, %v; want %v", s.Name, c.AER(), err, published[s.Name])
		}
		results, err := s.Align(t.Context(), nil, word.DefaultFileAligner())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			margin := 0.7
			if r.Symmetry == word.GrowDiagFinalAnd {
				margin = 0
			}
			if want := fastAlign[s.Name][r.Symmetry]; r.AER() > want+margin {
				t.Errorf("%s %s: AER %.2f, fast_align's is %.2f", s.Name, r.Symmetry, r.AER(), want)
			}
			t.Logf("%s %s: AER %.2f, fast_align %.2f", s.Name, r.Symmetry, r.AER(), fastAlign[s.Name][r.Symmetry])
		}
	}
}

// TestAlignmentSetsInAnyFolder: the name of a folder is no pattern.
func TestAlignmentSetsInAnyFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[1]")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"x.src-tgt": "a ||| b\n", "x.gold": "1-1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if sets, err := ReadAlignmentSets(dir, 1); err != nil || len(sets) != 1 || sets[0].Name != "x" || len(sets[0].Gold) != 1 {
		t.Errorf("%+v, %v", sets, err)
	}
}

func TestFilesAreChecked(t *testing.T) {
	write := func(name, content string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	set := func(text, gold string) string {
		path := write("x.src-tgt", text)
		if err := os.WriteFile(strings.TrimSuffix(path, textSuffix)+goldSuffix, []byte(gold), 0o644); err != nil {
			t.Fatal(err)
		}
		return filepath.Dir(path)
	}
	sets := func(dir string) error { _, err := ReadAlignmentSets(dir, 1); return err }
	compare := func(links, gold string, base int) error {
		_, err := CompareLinks(write("a", links), 0, write("b", gold), base, "")
		return err
	}
	tokens := func(links, gold, tokens string) error {
		_, err := CompareLinks(write("a", links), 0, write("b", gold), 1, write("t", tokens))
		return err
	}
	for _, c := range []struct {
		name string
		err  error
		says string
	}{
		{"other numbers of lines", compare("0-0\n", "1-1\n1-1\n", 1), "has 1 lines but the gold standard"},
		{"counted from 0", compare("0-0\n", "0-0\n", 1), "word 0 does not exist where words count from 1"},
		{"possible links only", compare("0-0\n", "1p1\n", 1), "no sure link"},
		{"links of other words", tokens("0-2\n", "1-1\n", "a b ||| c d\n"), "a:1: the link 0-2 is outside its sentences, which have 2 and 2 words in"},
		{"gold of other words", tokens("0-1\n", "3-1\n", "a b ||| c d\n"), "b:1: the link 3-1 is outside its sentences"},
		{"words of other pairs", tokens("0-0\n", "1-1\n", "a ||| b\na ||| b\n"), "t has 2 lines but"},
		{"words that are no pairs", tokens("0-0\n", "1-1\n", "a b\n"), "t:1: the line has no |||"},
		{"no such file", sets(t.TempDir()), "has no test set"},
		{"no gold standard", sets(filepath.Dir(write("y.src-tgt", "a ||| b\n"))), "y.gold"},
		{"no separator", sets(set("a b\n", "1-1\n")), "x.src-tgt:1: the line has no |||"},
		{"shorter gold", sets(set("a ||| b\nc ||| d\n", "1-1\n")), "has 2 lines but"},
		{"a link outside", sets(set("a ||| b\n", "1-2\n")), "x.gold:1: the link 1-2 is outside its sentences, which have 1 and 1 words"},
	} {
		if !badinput.Is(c.err) || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, c.err, c.says)
		}
	}
}
