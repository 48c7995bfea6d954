package exporting

import (
	"bitextmine/bitext/label"
	"bitextmine/bitext/table"
)

// labelColumn says what a person decided on a pair; it is null where nobody did.
const (
	labelColumn = "label"
	byColumn    = "label_by"
	rejected    = "rejected"
	accepted    = "accepted"
	edited      = "edited" // accepted with the texts that the person gave
)

// withLabels adds the columns of labels, and puts corrected texts in place of the pair's. Pairs go by their keys.
func withLabels(b *table.Batch, labels []label.Label) (*table.Batch, error) {
	known := make(map[[2]string]label.Label, len(labels))
	for _, l := range labels {
		known[[2]string{l.Source, l.Target}] = l
	}
	keys, err := label.Keys(b)
	if err != nil {
		return nil, err
	}
	column := table.Values{Name: labelColumn, Text: make([]string, b.Len()), Known: make([]bool, b.Len())}
	by := table.Values{Name: byColumn, Text: make([]string, b.Len()), Known: make([]bool, b.Len())}
	corrected := map[int]label.Label{}
	for i := range b.Len() {
		keys := keys(i)
		l, ok := known[[2]string{keys.Source, keys.Target}]
		if !ok {
			continue
		}
		column.Text[i], column.Known[i] = rejected, true
		if l.Accepted {
			column.Text[i] = accepted
		}
		if by.Text[i], by.Known[i] = l.By, l.By != ""; l.Edited() {
			column.Text[i], corrected[i] = edited, l
		}
	}
	columns := []table.Values{column, by}
	for side, name := range []string{table.SourceText, table.TargetText} {
		if len(corrected) == 0 {
			break
		}
		texts, err := b.Texts(name)
		if err != nil {
			return nil, err
		}
		v := table.Values{Name: name, Text: make([]string, b.Len())}
		for i := range v.Text {
			v.Text[i], _ = texts(i)
			if l, ok := corrected[i]; ok {
				v.Text[i] = [2]string{l.SourceText, l.TargetText}[side]
			}
		}
		columns = append(columns, v)
	}
	return b.With(columns...)
}
