package eval

import "bitextmine/eval/report"

// NewAlignmentReport makes an empty report. by names the aligner.
func NewAlignmentReport(by string) *report.Report {
	return &report.Report{
		Protocol: "aer",
		Definition: [2]string{
			"Links A between words against sure (S) and sure or possible (P) gold links: AER = 1 - (|A∩S| + |A∩P|) / (|A| + |S|),",
			"precision = |A∩P| / |A|, recall = |A∩S| / |S|, in percent. unlinked: pairs without a link; no gold: pairs without a gold link.",
		},
		Encoder: by,
		Label:   "set",
		Columns: []report.Column{
			{Name: "AER"}, {Name: "precision"}, {Name: "recall"}, {Name: "links", Kind: report.Count},
			{Name: "sure", Kind: report.Count},
			{Name: "pairs", Kind: report.Count}, {Name: "unlinked", Kind: report.Count},
			{Name: "no gold", Kind: report.Count},
		},
	}
}

// AddAlignmentRow adds the figures of a set.
func AddAlignmentRow(r *report.Report, name string, c LinkCounts) {
	r.Rows = append(r.Rows, report.Row{Name: name,
		Cells: []any{c.AER(), c.Precision(), c.Recall(), c.Links, c.Sure, c.Pairs, c.Unlinked, c.NoGold}})
}
