package filtering

import (
	"bitextmine/bitext/table"
	"bitextmine/filter/annotate"
)

// The columns of repaired texts.
const (
	sourceFixed = "src_fixed"
	targetFixed = "tgt_fixed"
)

// fix adds the columns of repaired texts. The original ones stay.
func (f *filter) fix(b *table.Batch) (*table.Batch, error) {
	s, err := f.sidesOf(b)
	if err != nil {
		return nil, err
	}
	sources, targets := make([]string, b.Len()), make([]string, b.Len())
	changed := make([]bool, b.Len())
	err = parallel(b.Len(), func(from, to int) error {
		for i := from; i < to; i++ {
			source, target := s.texts(i)
			sources[i], targets[i] = annotate.FixText(source), annotate.FixText(target)
			changed[i] = sources[i] != source || targets[i] != target
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, is := range changed {
		if is {
			f.report.Fixed++
		}
	}
	return b.With(table.Values{Name: sourceFixed, Text: sources}, table.Values{Name: targetFixed, Text: targets})
}
