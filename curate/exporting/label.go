package exporting

import (
	"bitextmine/bitext/label"
	"bitextmine/bitext/table"
)

// labelColumn says what a person decided on a pair; it is null where nobody did.
const (
	labelColumn = "label"
	rejected    = "rejected"
	accepted    = "accepted"
)

// withLabels adds the column of labels. Pairs go by their keys.
func withLabels(b *table.Batch, labels []label.Label) (*table.Batch, error) {
	known := make(map[[2]string]string, len(labels))
	for _, l := range labels {
		known[[2]string{l.Source, l.Target}] = rejected
		if l.Accepted {
			known[[2]string{l.Source, l.Target}] = accepted
		}
	}
	keys, err := label.Keys(b)
	if err != nil {
		return nil, err
	}
	column := table.Values{Name: labelColumn, Text: make([]string, b.Len()), Known: make([]bool, b.Len())}
	for i := range b.Len() {
		l := keys(i)
		column.Text[i], column.Known[i] = known[[2]string{l.Source, l.Target}], known[[2]string{l.Source, l.Target}] != ""
	}
	return b.With(column)
}
