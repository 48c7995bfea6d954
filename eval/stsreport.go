package eval

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"bitextmine/eval/correlation"
	"bitextmine/eval/report"
	"bitextmine/eval/testset"
	"bitextmine/eval/vectors"
)

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
	sets := make([]STSSet, len(files))
	for i, f := range files {
		r.progress("sts %s %s", f.Year, f.Name)
		set, unscored, err := r.stsSet(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("sts %s %s: %w", f.Year, f.Name, err)
		}
		sets[i] = set
		for _, out := range reports {
			if unscored > 0 {
				out.Note("%s %s: the last %d pairs of %s have no gold score and are left out", f.Year, f.Name, unscored, f.Text)
			}
		}
	}
	for i, p := range protocols {
		p.similarity(reports[i], sets)
	}
	return reports, nil
}

// reportSTS adds the correlation of each set, each year and all years.
func reportSTS(out *report.Report, all []STSSet) {
	var years []string
	sets := make(map[string][]STSSet)
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
		var each []correlation.Correlation
		for _, set := range sets[year] {
			each = append(each, set.Correlate())
		}
		mean := correlationRow(year+" mean", correlation.WeightedMean(each))
		ofYears = append(ofYears, mean)
		if len(each) > 1 {
			out.Means = append(out.Means, mean, correlationRow(year+" all", Together(sets[year]).Correlate()))
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
func noteMissing(out *report.Report, found map[string][]STSSet) {
	for _, year := range slices.Sorted(maps.Keys(semEvalSets)) {
		for _, name := range semEvalSets[year] {
			there := slices.ContainsFunc(found[year], func(s STSSet) bool { return s.Name == name })
			if found[year] != nil && !there {
				out.Note("%s lacks the set %s: its mean is not that of figures that include it", year, name)
			}
		}
	}
}

func correlationRow(name string, c correlation.Correlation) report.Row {
	return report.Row{Name: name, Cells: []any{c.Pearson, c.Spearman, c.Pairs}}
}

// stsSet reads and encodes a set. unscored is the number of pairs at its end that have no gold score and are left out.
func (r *Runner) stsSet(ctx context.Context, files testset.STSFiles) (set STSSet, unscored int, err error) {
	pairs, err := testset.ReadSTS(files)
	if err != nil {
		return set, 0, err
	}
	role := vectors.Role{Pair: testset.LanguagePair{Source: files.First, Target: files.Second}, Half: files.Year + "." + files.Name, File: files.Text}
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
