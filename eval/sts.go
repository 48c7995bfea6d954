package eval

import (
	"context"
	"fmt"

	"bitextmine/eval/report"
	"bitextmine/eval/testset"
)

// STS is semantic textual similarity as evaluated in SemEval 2012-2017 and SICK.
var STS = &Protocol{
	Name: "sts",
	Definition: [2]string{
		"Correlation of the cosine of each pair with its gold score, in percent: Pearson (SemEval's measure) and Spearman (the embedding papers').",
		"Per set; a year's mean weights its sets by their pairs, as SemEval averages them; \"all\" is one correlation over the year's pairs together.",
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
				out.Note("%s %s: the last %d pairs of %s have no gold score and are left out", f.Year, f.Name, unscored,
					f.Text)
			}
		}
	}
	for i, p := range protocols {
		p.similarity(reports[i], sets)
	}
	return reports, nil
}

// stsSet reads and encodes a set. unscored is the number of pairs at its end that have no gold score and are left out.
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
