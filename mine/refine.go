package mine

import "slices"

// NotRefined stands for the strong cosine of a pair that the strong encoder has not seen. No cosine is as low.
const NotRefined float32 = -2

// Refined are candidates of two-stage mining, best first: a fast encoder proposed them, and a strong one compared the
// sentences of those that are promising.
type Refined struct {
	Candidates []Candidate // Score is the product of margin and strong cosine; 0 where there is no strong cosine
	Cosines    []float32   // strong encoder's cosines, or NotRefined
}

// Refine multiplies the margins of candidates by their strong cosines and sorts them.
func Refine(candidates []Candidate, cosines []float32) Refined {
	type both struct {
		Candidate
		cosine float32
	}
	all := make([]both, len(candidates))
	for i, c := range candidates {
		c.Score *= cosines[i]
		if cosines[i] == NotRefined {
			c.Score = 0
		}
		all[i] = both{c, cosines[i]}
	}
	slices.SortFunc(all, func(a, b both) int { return a.Compare(b.Candidate) })
	r := Refined{make([]Candidate, len(all)), make([]float32, len(all))}
	for i, one := range all {
		r.Candidates[i], r.Cosines[i] = one.Candidate, one.cosine
	}
	return r
}

// Judge is the Judge of candidates that are all refined. One that is not, and whose sentences no better pair took, is
// BelowFloor.
func (r Refined) Judge(sources, targets int, retrieval Retrieval, threshold float64) []Verdict {
	verdicts := Judge(r.Candidates, sources, targets, retrieval, threshold)
	for i, v := range verdicts {
		if r.Cosines[i] == NotRefined && (v == Kept || v == BelowThreshold) {
			verdicts[i] = BelowFloor
		}
	}
	return verdicts
}
