package label

import "bitextmine/bitext/table"

// The columns that say what a person decided on a pair, and who. They are null where nobody did.
const (
	Column   = "label"
	ByColumn = "label_by"
)

// The values of Column.
const (
	Rejected = "rejected"
	Accepted = "accepted"
	Edited   = "edited" // accepted with the texts that the person gave
)

// Decision is the label's value of Column.
func (l Label) Decision() string {
	switch {
	case l.Edited():
		return Edited
	case l.Accepted:
		return Accepted
	}
	return Rejected
}

// Index finds the labels of pairs by their keys.
type Index map[[2]string]Label

// IndexOf makes an index.
func IndexOf(labels []Label) Index {
	x := make(Index, len(labels))
	for _, l := range labels {
		x[[2]string{l.Source, l.Target}] = l
	}
	return x
}

// Find returns the label on the pair that another is on.
func (x Index) Find(pair Label) (Label, bool) {
	l, ok := x[[2]string{pair.Source, pair.Target}]
	return l, ok
}

// Apply adds the columns of labels to a batch, and puts corrected texts in place of the pair's.
func (x Index) Apply(b *table.Batch) (*table.Batch, error) {
	keys, err := Keys(b)
	if err != nil {
		return nil, err
	}
	column := table.Values{Name: Column, Text: make([]string, b.Len()), Known: make([]bool, b.Len())}
	by := table.Values{Name: ByColumn, Text: make([]string, b.Len()), Known: make([]bool, b.Len())}
	corrected := map[int]Label{}
	for i := range b.Len() {
		l, ok := x.Find(keys(i))
		if !ok {
			continue
		}
		column.Text[i], column.Known[i] = l.Decision(), true
		if by.Text[i], by.Known[i] = l.By, l.By != ""; l.Edited() {
			corrected[i] = l
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
