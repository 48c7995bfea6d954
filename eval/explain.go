package eval

import (
	"slices"

	"bitextmine/corpus"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
)

// Explanation says why a pair has its score and why it is bitext or not.
type Explanation struct {
	PairScore
	Source, Target ExplainedSide
	// Candidate says whether one of the two sentences proposed the pair; if not, it was never looked at.
	Candidate         bool
	Forward, Backward bool
	Verdict           mine.Verdict // of a candidate
	// Winners are the better pairs that took one of its sentences (max).
	Winners []ExplainedPair
}

// ExplainedSide is one sentence of the pair and its neighbourhood.
type ExplainedSide struct {
	Text       string
	Mean       float32
	Neighbours []ExplainedNeighbour // the k nearest, nearest first
	// Best is the place of the neighbour of the highest margin, which the sentence proposes; -1 without neighbours.
	Best int
}

// ExplainedNeighbour is one of the k nearest sentences of the other side.
type ExplainedNeighbour struct {
	Text    string
	Cosine  float32
	Mean    float32 // of its own neighbourhood
	Score   float32 // the margin of the pair with it
	Partner bool    // it is the other sentence of the pair
}

// ExplainedPair is another pair, by its texts.
type ExplainedPair struct {
	Source, Target string
	Score          float32
	Verdict        mine.Verdict
}

// Explain explains a pair of sentences of the pool, as mined by retrieval with a threshold.
func (p *Pool) Explain(source, target string, retrieval mine.Retrieval, threshold float64) (Explanation, error) {
	x, ok := p.source.rowOf[corpus.Normalise(source)]
	if !ok {
		return Explanation{}, badinput.Errorf("the source text does not hold the sentence %q: give the sentence as it stands there, and the same text as was mined", source)
	}
	y, ok := p.target.rowOf[corpus.Normalise(target)]
	if !ok {
		return Explanation{}, badinput.Errorf("the target text does not hold the sentence %q: give the sentence as it stands there, and the same text as was mined", target)
	}
	e := Explanation{PairScore: p.score(x, y)}
	e.Source = explainSide(p.Lists, p.Lists.Source, p.Lists.Target, &p.source, &p.target, x, y)
	e.Target = explainSide(p.Lists, p.Lists.Target, p.Lists.Source, &p.target, &p.source, y, x)
	p.judge(&e, x, y, retrieval, threshold)
	return e, nil
}

func explainSide(lists *mine.Lists, own, other mine.Neighbours, side, otherSide *poolSide, i, partner int32) ExplainedSide {
	out := ExplainedSide{Text: side.texts[i], Mean: meanAt(own, i, lists.K), Best: -1}
	ids, cosines := own.Row(int(i))
	for at, id := range ids[:lists.K] {
		if id == mine.None {
			break
		}
		n := ExplainedNeighbour{Text: otherSide.texts[id], Cosine: cosines[at], Mean: meanAt(other, id, lists.K), Partner: id == partner}
		n.Score = lists.Margin.Of(n.Cosine, out.Mean, n.Mean)
		out.Neighbours = append(out.Neighbours, n)
		if out.Best < 0 || n.Score > out.Neighbours[out.Best].Score {
			out.Best = at
		}
	}
	return out
}

// judge finds the pair among the candidates, and the pairs that took its place.
func (p *Pool) judge(e *Explanation, x, y int32, retrieval mine.Retrieval, threshold float64) {
	candidates := p.Lists.Candidates()
	verdicts := mine.Judge(candidates, p.source.rows.N, p.target.rows.N, retrieval, threshold)
	at := slices.IndexFunc(candidates, func(c mine.Candidate) bool { return c.Source == x && c.Target == y })
	if at >= 0 {
		e.Candidate, e.Verdict = true, verdicts[at]
		e.Forward, e.Backward = candidates[at].Forward, candidates[at].Backward
		if e.Verdict != mine.Taken {
			return
		}
	}
	for i, c := range candidates {
		if i == at || at < 0 && verdicts[i] != mine.Kept || at >= 0 && (i > at || verdicts[i] == mine.Taken) {
			continue
		}
		if c.Source == x || c.Target == y {
			e.Winners = append(e.Winners, ExplainedPair{p.source.texts[c.Source], p.target.texts[c.Target], c.Score, verdicts[i]})
		}
	}
}
