package eval

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"bitextmine/encode/embedding"
	"bitextmine/eval/report"
	"bitextmine/eval/testset"
)

// STS is semantic textual similarity as evaluated in SemEval 2012-2017 and SICK.
var STS = &Protocol{
	Name: "sts",
	Definition: [2]string{
		"Correlation of the cosine of each pair with its gold score, in percent: Pearson (SemEval's measure) and Spearman (the embedding papers').",
		"Per set; a year's mean weights its sets by their pairs, as SemEval averages them; \"all\" is one correlation over the year's pairs, the unweighted mean SentEval's, its average over years (SICK and STSb count as one each) VMSST's.",
	},
	Columns: []report.Column{
		{Name: "pearson", Kind: report.Percentage}, {Name: "spearman", Kind: report.Percentage},
		{Name: "pairs", Kind: report.Count},
	},
	similarity: reportSimilarity,
}

// STS evaluates sets of sentence pairs with one or more of their protocols. It encodes each set once. It returns one
// report for each protocol, in the given order.
func (r *Runner) STS(ctx context.Context, protocols []*Protocol, files []testset.STSFiles) ([]*report.Report, error) {
	reports := make([]*report.Report, len(protocols))
	for i, p := range protocols {
		if p.similarity == nil {
			return nil, fmt.Errorf("%s is not a protocol for STS sets", p.Name)
		}
		reports[i] = p.newReport(r.Vectors.Name())
	}
	sets := make([]SimilaritySet, len(files))
	for i, f := range files {
		r.progress("sts %s %s", f.Year, f.Name)
		set, unscored, err := r.stsSet(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("sts %s %s: %w", f.Year, f.Name, err)
		}
		sets[i] = set
		for _, out := range reports {
			if unscored > 0 {
				out.Note("%s %s: %d pairs of %s have no gold score and are left out", f.Year, f.Name, unscored,
					f.Text)
			}
		}
	}
	for i, p := range protocols {
		p.similarity(reports[i], sets)
	}
	return reports, nil
}

// stsSet reads and encodes a set. unscored is the number of pairs that have no gold score and are left out.
func (r *Runner) stsSet(ctx context.Context, files testset.STSFiles) (set SimilaritySet, unscored int, err error) {
	pairs, err := testset.ReadSTS(files)
	if err != nil {
		return set, 0, err
	}
	role := testset.Role{Pair: testset.LanguagePair{Source: files.First, Target: files.Second}, Half: files.Year + "." +
		files.Name, File: files.Text}
	first, err := r.Vectors.Vectors(ctx, pairs.FirstSide, role)
	if err != nil {
		return set, 0, err
	}
	role.Target = true
	second, err := r.Vectors.Vectors(ctx, pairs.SecondSide, role)
	if err != nil {
		return set, 0, err
	}
	set = SimilaritySet{Year: files.Year, Name: files.Name, Gold: pairs.Scores,
		Cosine: pairCosines(first.Rows, second.Rows)}
	return set, pairs.Unscored, nil
}

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

// reportSimilarity adds the correlation of each set, each year and all years: SemEval's mean last, JSON's own figure.
func reportSimilarity(out *report.Report, all []SimilaritySet) {
	var years []string
	sets := make(map[string][]SimilaritySet)
	for _, set := range all {
		if sets[set.Year] == nil {
			years = append(years, set.Year)
		}
		sets[set.Year] = append(sets[set.Year], set)
		row := correlationRow(set.Year+" "+set.Name, set.Correlate())
		if row.Cells[0] == nil {
			out.Note("%s: all gold scores, or all cosines, are equal: there is no correlation, and means leave the set out", row.Name)
		}
		row.Items = [][]float64{ranks(set.Gold), ranks(set.Cosine)}
		out.Rows = append(out.Rows, row)
	}
	noteMissing(out, sets)
	var ofYears, unweighted []report.Row
	for _, year := range years {
		var each []Correlation
		var rows []report.Row
		for _, set := range sets[year] {
			each = append(each, set.Correlate())
			rows = append(rows, correlationRow("", each[len(each)-1]))
		}
		mean, even := correlationRow(year+" mean", WeightedMean(each)), out.Mean(year+" unweighted mean", rows)
		ofYears, unweighted = append(ofYears, mean), append(unweighted, even)
		if len(each) > 1 {
			out.Means = append(out.Means, correlationRow(year+" all", pooledSimilarity(sets[year]).Correlate()), even, mean)
		}
	}
	if len(years) > 1 {
		out.Means = append(out.Means, out.Mean("average of the years' unweighted means", unweighted),
			out.Mean("average of the years' means", ofYears))
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
	if c.Undefined {
		return report.Row{Name: name, Cells: []any{nil, nil, c.Pairs}}
	}
	return report.Row{Name: name, Cells: []any{c.Pearson, c.Spearman, c.Pairs}}
}

// Correlation is Pearson's r and Spearman's rho in percent over n pairs.
type Correlation struct {
	Pearson, Spearman float64
	Pairs             int
	Undefined         bool // all gold scores are equal, or all figures: both correlations are 0
}

// CorrelationOf is the correlation of two lists of figures, which have the same length.
func CorrelationOf(gold, figures []float64) Correlation {
	return Correlation{
		Pearson:   100 * pearson(gold, figures),
		Spearman:  100 * pearson(ranks(gold), ranks(figures)),
		Pairs:     len(gold),
		Undefined: len(gold) == 0 || slices.Min(gold) == slices.Max(gold) || slices.Min(figures) == slices.Max(figures),
	}
}

// WeightedMean averages those correlations that are defined weighted by their numbers of pairs. This is SemEval's
// figure for a year.
func WeightedMean(sets []Correlation) Correlation {
	var mean Correlation
	for _, c := range sets {
		if c.Undefined {
			continue
		}
		mean.Pearson += c.Pearson * float64(c.Pairs)
		mean.Spearman += c.Spearman * float64(c.Pairs)
		mean.Pairs += c.Pairs
	}
	if mean.Undefined = mean.Pairs == 0; !mean.Undefined {
		mean.Pearson /= float64(mean.Pairs)
		mean.Spearman /= float64(mean.Pairs)
	}
	return mean
}

// pearson returns the correlation of x and y, or 0 if one of them is constant.
func pearson(x, y []float64) float64 {
	var mx, my float64
	for i := range x {
		mx += x[i]
		my += y[i]
	}
	n := float64(len(x))
	mx, my = mx/n, my/n
	var xy, xx, yy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xy += dx * dy
		xx += dx * dx
		yy += dy * dy
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}

// ranks returns the rank of each value, from 1. Equal values get the mean of their ranks.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	out := make([]float64, len(values))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && values[order[j]] == values[order[i]] {
			j++
		}
		for _, at := range order[i:j] {
			out[at] = float64(i+1+j) / 2
		}
		i = j
	}
	return out
}

// rowCosine is the cosine of a row of a and a row of b, as a search computes it.
func rowCosine(a embedding.Matrix, i int32, b embedding.Matrix, j int32) float32 {
	x, y := make([]float32, a.Dim), make([]float32, b.Dim)
	a.Float32(x, int(i), int(i)+1)
	b.Float32(y, int(j), int(j)+1)
	return embedding.Dot(x, y)
}
