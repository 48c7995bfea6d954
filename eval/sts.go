package eval

import (
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
		{Name: "pearson", Kind: report.Percentage}, {Name: "spearman", Kind: report.Percentage},
		{Name: "pairs", Kind: report.Count},
	},
	similarity: reportSimilarity,
}
