package eval

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"bitextmine/eval/testset"
)

// STS correlates cosines with gold scores for every set.
func (r *Runner) STS(ctx context.Context, files []testset.STSFiles) (*Report, error) {
	report := &Report{Protocol: STS, Encoder: r.Vectors.Name(), Label: "set",
		Columns: []Column{{"pearson", Percentage}, {"spearman", Percentage}, {"pairs", Count}}}
	var years []string
	sets := make(map[string][]STSSet)
	for _, f := range files {
		r.progress("sts %s %s", f.Year, f.Name)
		set, unscored, err := r.stsSet(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("sts %s %s: %w", f.Year, f.Name, err)
		}
		if unscored > 0 {
			report.note("%s %s: the last %d pairs of %s have no gold score and are left out", f.Year, f.Name, unscored, f.Text)
		}
		if sets[f.Year] == nil {
			years = append(years, f.Year)
		}
		sets[f.Year] = append(sets[f.Year], set)
		report.Rows = append(report.Rows, correlationRow(f.Year+" "+f.Name, set.Correlate()))
	}
	report.noteMissing(sets)
	var ofYears []Row
	for _, year := range years {
		var each []Correlation
		for _, set := range sets[year] {
			each = append(each, set.Correlate())
		}
		mean := correlationRow(year+" mean", WeightedMean(each))
		ofYears = append(ofYears, mean)
		if len(each) > 1 {
			report.Means = append(report.Means, mean, correlationRow(year+" all", Together(sets[year]).Correlate()))
		}
	}
	if len(years) > 1 {
		average := Row{Name: "average of the years' means", Cells: make([]any, len(report.Columns))}
		for c, column := range report.Columns {
			if column.Kind == Percentage {
				average.Cells[c] = meanOf(ofYears, c)
			} else {
				average.Cells[c] = sumOf(ofYears, c)
			}
		}
		report.Means = append(report.Means, average)
	}
	return report, nil
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
func (r *Report) noteMissing(found map[string][]STSSet) {
	for _, year := range slices.Sorted(maps.Keys(semEvalSets)) {
		for _, name := range semEvalSets[year] {
			there := slices.ContainsFunc(found[year], func(s STSSet) bool { return s.Name == name })
			if found[year] != nil && !there {
				r.note("%s lacks the set %s: its mean is not that of figures that include it", year, name)
			}
		}
	}
}

func correlationRow(name string, c Correlation) Row {
	return Row{name, []any{c.Pearson, c.Spearman, c.Pairs}}
}

// stsSet reads and encodes a set. unscored is the number of pairs at its end that have no gold score and are left out.
func (r *Runner) stsSet(ctx context.Context, files testset.STSFiles) (set STSSet, unscored int, err error) {
	pairs, err := testset.ReadSTS(files)
	if err != nil {
		return set, 0, err
	}
	role := Role{Pair: testset.LanguagePair{Source: files.First, Target: files.Second}, Half: files.Year + "." + files.Name}
	first, err := r.Vectors.Vectors(ctx, pairs.FirstSide, role)
	if err != nil {
		return set, 0, err
	}
	role.Target = true
	second, err := r.Vectors.Vectors(ctx, pairs.SecondSide, role)
	if err != nil {
		return set, 0, err
	}
	set = STSSet{Year: files.Year, Name: files.Name, Gold: pairs.Scores, Cosine: Cosines(first.Rows, second.Rows)}
	return set, pairs.Unscored, nil
}
