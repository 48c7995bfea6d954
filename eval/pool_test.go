package eval

import (
	"fmt"
	"math"
	"testing"

	"bitextmine/mine"
)

func toyPool(t *testing.T, n, m int) (*Pool, Side, Side) {
	t.Helper()
	source, target := Side{Language: "de"}, Side{Language: "en"}
	for i := range n {
		source.Texts = append(source.Texts, fmt.Sprintf("Satz %d", i))
	}
	for j := range m {
		target.Texts = append(target.Texts, fmt.Sprintf("sentence %d", j))
	}
	source.Texts = append(source.Texts, "Satz 0", " Satz 1 ", "")
	p, err := NewPool(t.Context(), &Embedder{Encoder: &hashEncoder{}}, exactSearch{}, source, target, 4, mine.Ratio)
	if err != nil {
		t.Fatal(err)
	}
	return p, source, target
}

// TestPoolScoresAsMiningDoes: a candidate's score, means and ranks are those of package mine.
func TestPoolScoresAsMiningDoes(t *testing.T) {
	p, _, _ := toyPool(t, 30, 40)
	if p.source.rows.N != 30 {
		t.Errorf("%d distinct sources, want 30: repeats and blanks count once or not at all", p.source.rows.N)
	}
	for _, c := range p.Lists.Candidates() {
		got, ok := p.Score(p.source.texts[c.Source], p.target.texts[c.Target])
		want := PairScore{c.Score, c.Cosine, c.SourceMean, c.TargetMean, c.SourceRank, c.TargetRank}
		if !ok || got != want {
			t.Fatalf("%+v, mining gives %+v", got, want)
		}
	}
	if _, ok := p.Score("Satz 0", "not there"); ok {
		t.Error("a sentence that is not there has a score")
	}
}

func TestExplain(t *testing.T) {
	p, source, target := toyPool(t, 30, 40)
	candidates := p.Lists.Candidates()
	verdicts := mine.Judge(candidates, p.source.rows.N, p.target.rows.N, mine.Max, 1.0)
	taken, kept := 0, 0
	for i, c := range candidates {
		e, err := p.Explain(p.source.texts[c.Source], p.target.texts[c.Target], mine.Max, 1.0)
		if err != nil {
			t.Fatal(err)
		}
		if !e.Candidate || e.Verdict != verdicts[i] || e.Forward != c.Forward || e.Backward != c.Backward {
			t.Errorf("%+v, mining gives %+v %s", e, c, verdicts[i])
		}
		if len(e.Source.Neighbours) != 4 || c.Forward != e.Source.Neighbours[e.Source.Best].Partner || c.Backward != e.Target.Neighbours[e.Target.Best].Partner {
			t.Errorf("%v: the neighbour with the best margin is not the one that is proposed", c)
		}
		mean := 0.0
		for _, n := range e.Source.Neighbours {
			mean += float64(n.Cosine) / 4
		}
		if math.Abs(mean-float64(e.SourceMean)) > 1e-6 {
			t.Errorf("the cosines shown average to %v, the mean is %v", mean, e.SourceMean)
		}
		switch verdicts[i] {
		case mine.Taken:
			taken++
			if len(e.Winners) == 0 || e.Winners[0].Score < e.Score {
				t.Errorf("winners %+v of a pair that scores %v", e.Winners, e.Score)
			}
		case mine.Kept:
			kept++
			if len(e.Winners) != 0 {
				t.Errorf("a kept pair has winners %+v", e.Winners)
			}
		}
	}
	if taken == 0 || kept == 0 {
		t.Fatalf("%d taken and %d kept: the case shows nothing", taken, kept)
	}
	_, err := p.Explain("nowhere", target.Texts[0], mine.Max, 1)
	refused(t, err, "nowhere")
	_, err = p.Explain(source.Texts[0], "nowhere", mine.Max, 1)
	refused(t, err, "nowhere")
	// A pair that nobody proposes has a score all the same.
	for _, s := range p.source.texts {
		for _, u := range p.target.texts {
			if e, err := p.Explain(s, u, mine.Max, 1); err == nil && !e.Candidate {
				if e.Cosine == 0 {
					t.Error("no cosine")
				}
				return
			}
		}
	}
	t.Error("every pair is a candidate")
}
