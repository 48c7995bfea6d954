package eval

import (
	"bitextmine/encode/embedding"
	"bitextmine/eval/correlation"
	"bitextmine/eval/report"
)

// STS is semantic textual similarity as evaluated in SemEval 2012-2017 and SICK.
var STS = &Protocol{
	Name: "sts",
	Definition: [2]string{
		"Correlation of the cosine of each pair with its gold score, in percent: Pearson (SemEval's measure) and Spearman (the embedding papers').",
		"Per set; a year's mean weights its sets by their pairs, as SemEval averages them; \"all\" is one correlation over the year's pairs together.",
	},
	Columns: []report.Column{
		{Name: "pearson", Kind: report.Percentage}, {Name: "spearman", Kind: report.Percentage}, {Name: "pairs", Kind: report.Count},
	},
	similarity: reportSTS,
}

// STSSet is the pairs of one test set: the gold score and the cosine of each.
type STSSet struct {
	Year, Name   string
	Gold, Cosine []float64
}

// Cosines returns the cosine of each pair of rows of two matrices [n, dim] in float16 or float32.
func Cosines(a, b embedding.Matrix) []float64 {
	out := make([]float64, a.N)
	x, y := make([]float32, a.Dim), make([]float32, b.Dim)
	for i := range out {
		a.Float32(x, i, i+1)
		b.Float32(y, i, i+1)
		out[i] = float64(embedding.Dot(x, y))
	}
	return out
}

// Correlate computes the correlation of a set's cosines with gold.
func (s STSSet) Correlate() correlation.Correlation { return correlation.Of(s.Gold, s.Cosine) }

// Together joins sets into one, for SemEval 2012's ALL and SentEval's "all".
func Together(sets []STSSet) STSSet {
	var all STSSet
	for _, s := range sets {
		all.Year = s.Year
		all.Gold = append(all.Gold, s.Gold...)
		all.Cosine = append(all.Cosine, s.Cosine...)
	}
	all.Name = "all"
	return all
}
