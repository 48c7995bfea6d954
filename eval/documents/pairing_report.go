package documents

import (
	"bitextmine/align/match"
	"bitextmine/eval/report"
)

// Right is the number of pairs that belong together.
func (m *Pairing) Right(pairs []match.Pair) (n int) {
	for _, p := range pairs {
		if m.Gold[p.Source] == p.Target {
			n++
		}
	}
	return n
}

// NewPairingReport makes an empty report. by names the encoder.
func NewPairingReport(by string) *report.Report {
	return &report.Report{
		Protocol: "docs",
		Definition: [2]string{
			"Documents made of line-aligned sentences, among as many others: recall is the share of the source documents whose pair is the right one,",
			"precision the share of the pairs that are right, in percent.",
		},
		Encoder: by,
		Label:   "set",
		Columns: []report.Column{{Name: "precision"}, {Name: "recall"}, {Name: "pairs", Kind: report.Count},
			{Name: "gold", Kind: report.Count}},
	}
}

// AddPairingRow adds the figures of a set.
func AddPairingRow(r *report.Report, name string, m *Pairing, pairs []match.Pair) {
	right := 100 * float64(m.Right(pairs))
	precision, recall := right/float64(max(len(pairs), 1)), right/float64(max(len(m.Gold), 1))
	r.Rows = append(r.Rows, report.Row{Name: name, Cells: []any{precision, recall, len(pairs), len(m.Gold)}})
}
