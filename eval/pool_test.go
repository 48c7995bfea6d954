package eval

import (
	"fmt"
	"strings"
	"testing"

	"bitextmine/eval/testset"
	"bitextmine/index"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
)

// poolOf makes a pool of texts. The texts of the result are those of its rows.
func poolOf(t *testing.T, encoder testset.Encoder, searcher index.Searcher, sides [2]testset.Side) (p *Pool, texts [2][]string) {
	t.Helper()
	p, err := NewPool(t.Context(), encoder, PoolOptions{Languages: [2]string{sides[0].Language, sides[1].Language}, Dir: t.TempDir()},
		func(add func(side int, text string) (int32, error)) error {
			for side := range sides {
				for _, text := range sides[side].Texts {
					row, err := add(side, text)
					if err != nil {
						return err
					}
					if int(row) == len(texts[side]) {
						texts[side] = append(texts[side], text)
					}
				}
			}
			return nil
		})
	if err == nil {
		t.Cleanup(func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
		err = p.Search(t.Context(), searcher, 4, mine.Ratio)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p, texts
}

// TestPoolScoresAsMiningDoes: a candidate has the same score, means and ranks as in package mine. Repeats and blanks
// count once or not at all.
func TestPoolScoresAsMiningDoes(t *testing.T) {
	sides := [2]testset.Side{{Language: "de"}, {Language: "en"}}
	for i := range 30 {
		sides[0].Texts = append(sides[0].Texts, fmt.Sprintf("Satz %d", i))
	}
	for j := range 40 {
		sides[1].Texts = append(sides[1].Texts, fmt.Sprintf("sentence %d", j))
	}
	sides[0].Texts = append(sides[0].Texts, "Satz 0", " Satz 1 ", "")
	p, texts := poolOf(t, &hashEncoder{}, exactSearch{}, sides)
	if n, m := p.Len(); n != 30 || m != 40 || len(texts[0]) != 30 {
		t.Errorf("%d and %d distinct sentences, want 30 and 40", n, m)
	}
	for _, c := range p.Lists.Candidates() {
		got, want := p.Score(c.Source, c.Target), c
		want.Forward, want.Backward = false, false // only the best of a list is proposed
		if got != want {
			t.Fatalf("%+v, mining gives %+v", got, want)
		}
	}
}

// TestPoolRefuses: a pool that would take more memory than it may, before all text is read, and one without sentences.
func TestPoolRefuses(t *testing.T) {
	for want, o := range map[string]PoolOptions{
		"raise --max-memory":            {MaxMemory: 100_000, K: 4},
		"no de text holds a sentence: ": {},
	} {
		o.Languages, o.Dir = [2]string{"de", "en"}, t.TempDir()
		read := 0
		_, err := NewPool(t.Context(), &hashEncoder{}, o, func(add func(side int, text string) (int32, error)) error {
			for i := range 100_000 * min(o.K, 1) {
				if _, err := add(0, fmt.Sprint("Satz ", i)); err != nil {
					return err
				}
				read++
			}
			return nil
		})
		if !badinput.Is(err) || !strings.Contains(err.Error(), want) || read > 1024 {
			t.Errorf("%q: %v after %d", want, err, read)
		}
	}
}
