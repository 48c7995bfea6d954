package filtering

import (
	"slices"

	"bitextmine/bitext/table"
	"bitextmine/filter/annotate"
	"bitextmine/filter/rule"
)

// numeric are the columns of a bitext that hold numbers, also where a text format does not say so.
var numeric = []string{"score", "prob", "cosine", "src_mean", "tgt_mean", "src_rank", "tgt_rank", "src_line", "tgt_line", "keep"}

// Kinds are the columns that rules may use: those of a table and, before they are computed, the annotations.
func Kinds(b *table.Batch) map[string]rule.Kind {
	kinds := map[string]rule.Kind{}
	for _, a := range annotate.All {
		kinds[a.Name] = rule.Number
		if a.Type == annotate.Name {
			kinds[a.Name] = rule.Text
		}
	}
	for _, c := range b.Columns() {
		_, annotation := kinds[c.Name]
		switch {
		case annotation:
		case c.Kind == table.Number || slices.Contains(numeric, c.Name):
			kinds[c.Name] = rule.Number
		case c.Kind == table.Text:
			kinds[c.Name] = rule.Text
		}
	}
	return kinds
}

// Values gives a function that fills a row with the columns that rules use, of a row of the batch.
func Values(b *table.Batch, rules *rule.Set) (func(i int, row *rule.Row), error) {
	names, kinds := rules.Columns, Kinds(b)
	numbers, texts := make([]func(i int) float64, len(names)), make([]func(i int) (string, bool), len(names))
	for c, name := range names {
		var err error
		if kinds[name] == rule.Text {
			texts[c], err = b.Texts(name)
		} else {
			numbers[c], err = b.Numbers(name)
		}
		if err != nil {
			return nil, err
		}
	}
	return func(i int, row *rule.Row) {
		for c := range names {
			if texts[c] != nil {
				row.Texts[c], row.Known[c] = texts[c](i)
			} else {
				row.Numbers[c] = numbers[c](i)
			}
		}
	}, nil
}
