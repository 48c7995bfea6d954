package eval

import (
	"maps"
	"slices"

	"bitextmine/encode/embedding"

	"bitextmine/eval/report"
)

// SimilaritySet is the pairs of one test set: the gold score and the cosine of each.
type SimilaritySet struct {
	Year, Name   string
	Gold, Cosine []float64
}

// pairCosines returns the cosine of each pair of rows of two matrices [n, dim] in float16 or float32.
func pairCosines(a, b embedding.Matrix) []float64 {
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
func (s SimilaritySet) Correlate() Correlation { return CorrelationOf(s.Gold, s.Cosine) }

// pooledSimilarity joins sets into one, for SemEval 2012's ALL and SentEval's "all".
func pooledSimilarity(sets []SimilaritySet) SimilaritySet {
	var all SimilaritySet
	for _, s := range sets {
		all.Year = s.Year
		all.Gold = append(all.Gold, s.Gold...)
		all.Cosine = append(all.Cosine, s.Cosine...)
	}
	all.Name = "all"
	return all
}

// reportSimilarity adds the correlation of each set, each year and all years.
func reportSimilarity(out *report.Report, all []SimilaritySet) {
	var years []string
	sets := make(map[string][]SimilaritySet)
	for _, set := range all {
		if sets[set.Year] == nil {
			years = append(years, set.Year)
		}
		sets[set.Year] = append(sets[set.Year], set)
		out.Rows = append(out.Rows, correlationRow(set.Year+" "+set.Name, set.Correlate()))
	}
	noteMissing(out, sets)
	var ofYears []report.Row
	for _, year := range years {
		var each []Correlation
		for _, set := range sets[year] {
			each = append(each, set.Correlate())
		}
		mean := correlationRow(year+" mean", WeightedMean(each))
		ofYears = append(ofYears, mean)
		if len(each) > 1 {
			out.Means = append(out.Means, mean, correlationRow(year+" all", pooledSimilarity(sets[year]).Correlate()))
		}
	}
	if len(years) > 1 {
		out.Means = append(out.Means, out.Mean("average of the years' means", ofYears))
	}
}

// semEvalSets are the sets whose mean is a year's published figure.
var semEvalSets = map[string][]string{
	"2012": {"MSRpar", "MSRvid", "SMTeuroparl", "OnWN", "SMTnews"},
	"2013": {"headlines", "OnWN", "FNWN", "SMT"},
	"2014": {"deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news"},
	"2015": {"answers-forums", "answers-students", "belief", "headlines", "images"},
	"2016": {"answer-answer", "headlines", "plagiarism", "postediting", "question-question"},
}

// noteMissing adds a note if a year's mean lacks a set of the published figure. SMT of 2013 is not freely available and
// is always left out.
func noteMissing(out *report.Report, found map[string][]SimilaritySet) {
	for _, year := range slices.Sorted(maps.Keys(semEvalSets)) {
		for _, name := range semEvalSets[year] {
			there := slices.ContainsFunc(found[year], func(s SimilaritySet) bool { return s.Name == name })
			if found[year] != nil && !there {
				out.Note("%s lacks the set %s: its mean is not that of figures that include it", year, name)
			}
		}
	}
}

func correlationRow(name string, c Correlation) report.Row {
	return report.Row{Name: name, Cells: []any{c.Pearson, c.Spearman, c.Pairs}}
}
