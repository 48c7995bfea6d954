package documents

import "bitextmine/eval/report"

// NewLadderReport makes an empty report. by names the aligner.
func NewLadderReport(by string) *report.Report {
	return &report.Report{
		Protocol: "beads",
		Definition: [2]string{
			"Beads that are equal to gold ones (strict), or share a sentence of either side with one (lax): precision of all beads, deletions too,",
			"recall of the gold beads without deletions, and their harmonic mean, in percent (Sennrich and Volk, 2011; vecalign's score.py).",
		},
		Encoder: by,
		Label:   "set",
		Columns: []report.Column{
			{Name: "strict P"}, {Name: "strict R"}, {Name: "strict F1"}, {Name: "lax P"}, {Name: "lax R"},
			{Name: "lax F1"},
			{Name: "beads", Kind: report.Count}, {Name: "gold", Kind: report.Count},
		},
	}
}

// AddLadderRow adds the figures of a set.
func AddLadderRow(r *report.Report, name string, c BeadCounts) {
	p, q, f := c.Figures()
	r.Rows = append(r.Rows, report.Row{Name: name,
		Cells: []any{p.Strict, q.Strict, f.Strict, p.Lax, q.Lax, f.Lax, c.Precision.All, c.Recall.All}})
}
