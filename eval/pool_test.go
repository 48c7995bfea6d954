package eval

import (
	"fmt"
	"testing"

	"bitextmine/eval/testset"

	"bitextmine/mine"
)

func toyPool(t *testing.T, n, m int) (*Pool, testset.Side, testset.Side) {
	t.Helper()
	source, target := testset.Side{Language: "de"}, testset.Side{Language: "en"}
	for i := range n {
		source.Texts = append(source.Texts, fmt.Sprintf("Satz %d", i))
	}
	for j := range m {
		target.Texts = append(target.Texts, fmt.Sprintf("sentence %d", j))
	}
	source.Texts = append(source.Texts, "Satz 0", " Satz 1 ", "")
	p, err := NewPool(t.Context(), &testset.Embedder{Encoder: &hashEncoder{}}, exactSearch{}, source, target, 4, mine.Ratio)
	if err != nil {
		t.Fatal(err)
	}
	return p, source, target
}

// TestPoolScoresAsMiningDoes: a candidate has the same score, means and ranks as in package mine.
func TestPoolScoresAsMiningDoes(t *testing.T) {
	p, _, _ := toyPool(t, 30, 40)
	if p.source.rows.N != 30 {
		t.Errorf("%d distinct sources, want 30: repeats and blanks count once or not at all", p.source.rows.N)
	}
	for _, c := range p.Lists.Candidates() {
		got, ok := p.Score(p.source.texts[c.Source], p.target.texts[c.Target])
		want := c
		want.Forward, want.Backward = false, false // only the best of a list is proposed
		if !ok || got != want {
			t.Fatalf("%+v, mining gives %+v", got, want)
		}
	}
	if _, ok := p.Score("Satz 0", "not there"); ok {
		t.Error("a sentence that is not there has a score")
	}
}
