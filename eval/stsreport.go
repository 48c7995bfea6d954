package eval

import (
	"context"
	"fmt"
)

// STS correlates cosines with gold over every set.
func (r *Runner) STS(ctx context.Context, files []STSFiles) (*Report, error) {
	report := &Report{Protocol: STS, Encoder: r.Vectors.Name(), Label: "set",
		Columns: []Column{{"pearson", Percentage}, {"spearman", Percentage}, {"pairs", Count}}}
	var years []string
	sets := make(map[string][]STSSet)
	for _, f := range files {
		r.tell("sts %s %s", f.Year, f.Name)
		set, err := r.stsSet(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("sts %s %s: %w", f.Year, f.Name, err)
		}
		if sets[f.Year] == nil {
			years = append(years, f.Year)
		}
		sets[f.Year] = append(sets[f.Year], set)
		report.Rows = append(report.Rows, correlationRow(f.Year+" "+f.Name, set.Correlate()))
	}
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

func correlationRow(name string, c Correlation) Row {
	return Row{name, []any{c.Pearson, c.Spearman, c.Pairs}}
}

func (r *Runner) stsSet(ctx context.Context, files STSFiles) (STSSet, error) {
	pairs, err := ReadSTS(files)
	if err != nil {
		return STSSet{}, err
	}
	role := Role{Pair: files.First + "-" + files.Second, Half: files.Year + "." + files.Name}
	first, err := r.Vectors.Vectors(ctx, pairs.FirstSide, role)
	if err != nil {
		return STSSet{}, err
	}
	role.Target = true
	second, err := r.Vectors.Vectors(ctx, pairs.SecondSide, role)
	if err != nil {
		return STSSet{}, err
	}
	return STSSet{Year: files.Year, Name: files.Name, Gold: pairs.Scores, Cosine: Cosines(first.Rows, second.Rows)}, nil
}
