package filtering

import (
	"slices"
	"strings"

	"bitextmine/bitext/label"
	"bitextmine/bitext/table"
	"bitextmine/filter"
	"bitextmine/filter/annotate"
	"bitextmine/filter/rule"
	"bitextmine/internal/subtag"
)

// decide applies the rules: the columns keep and reasons. Reasons of mining stay, those of an earlier filtering do not.
func (f *filterer) decide(b *table.Batch) (*table.Batch, error) {
	rules := f.opts.Rules
	values, err := Values(b, rules)
	if err != nil {
		return nil, err
	}
	before, err := mined(b)
	if err != nil {
		return nil, err
	}
	people, byPeople := decisions(b), filter.Label.Reasons()[0]
	reasons, keep := make([][]string, b.Len()), make([]bool, b.Len())
	err = Parallel(b.Len(), func(from, to int) error {
		row := rules.NewRow()
		for i := from; i < to; i++ {
			values(i, row)
			list := before(i)
			decision := people(i)
			if decision == label.Rejected && !slices.Contains(list, byPeople) {
				list = append(list, byPeople)
			}
			for r := range rules.Rules {
				if decision != label.Accepted && decision != label.Edited && rules.Rules[r].Rejects(row) {
					list = append(list, prefix+rules.Rules[r].Name)
				}
			}
			reasons[i], keep[i] = list, len(list) == 0
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s, err := f.sidesOf(b)
	if err != nil {
		return nil, err
	}
	if err := f.report.identify(b, &s); err != nil {
		return nil, err
	}
	for i, list := range reasons {
		f.report.add(b.Row(i)-1, list, func() (string, string) { return s.texts(i) })
	}
	return b.With(table.Values{Name: "keep", Bool: keep}, table.Values{Name: "reasons", List: reasons})
}

// identify counts the pairs whose sides are identified, and those in which they are swapped.
func (r *Report) identify(b *table.Batch, s *sides) error {
	source, err := b.Texts("lid_src")
	if err != nil {
		return err
	}
	target, err := b.Texts("lid_tgt")
	if err != nil {
		return err
	}
	for i := range b.Len() {
		inSource, _ := source(i)
		inTarget, _ := target(i)
		of, to := s.languages(i)
		if of, to = subtag.Language(of), subtag.Language(to); inSource == "" || inTarget == "" || of == "" || of == to {
			continue
		}
		r.Identified++
		if subtag.Language(inSource) == to && subtag.Language(inTarget) == of {
			r.Swapped++
		}
	}
	return nil
}

// decisions tells what people decided on a row, now or before an earlier filtering; "": nothing. A column of numbers is
// another program's.
func decisions(b *table.Batch) func(i int) string {
	column, err := b.Texts(label.Column)
	if err != nil {
		return func(int) string { return "" }
	}
	return func(i int) string { text, _ := column(i); return text }
}

// mined gives the reasons for which mining rejected a row. A row that has none and is not kept has the reason not_kept.
func mined(b *table.Batch) (func(i int) []string, error) {
	var lists func(i int) []string
	keep, err := b.Keep()
	if err != nil {
		return nil, err
	}
	if b.Has("reasons") {
		if lists, err = b.Lists("reasons"); err != nil {
			return nil, err
		}
	}
	return func(i int) []string {
		var all []string
		if lists != nil {
			all = lists(i)
		}
		if len(all) == 0 && !keep(i) {
			return []string{"not_kept"}
		}
		return slices.DeleteFunc(all, func(reason string) bool { return strings.HasPrefix(reason, prefix) })
	}, nil
}

// numeric are the columns of a bitext that hold numbers, also where a text format does not say so.
var numeric = []string{"score", "prob", "cosine", "src_mean", "tgt_mean", "src_rank", "tgt_rank", "src_line", "tgt_line", "keep"}

// Kinds are what the columns that rules may name hold: those of a table and, before they are computed, the annotations.
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
		default:
			kinds[c.Name] = rule.Other
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
