package exporting

import (
	"bitextmine/bitext/table"
	"bitextmine/curate/filtering"
	"bitextmine/filter/annotate"
)

// Anonymise says where texts without personal data go.
type Anonymise string

// The choices. Either way the columns src_masked and tgt_masked list what was found.
const (
	Keep       Anonymise = ""        // texts stay as they are
	InTexts    Anonymise = "texts"   // masked texts replace the texts
	AsColumns  Anonymise = "columns" // masked texts are columns src_anonymous and tgt_anonymous
	foundName            = "_masked"
	maskedName           = "_anonymous"
)

// sides are the beginnings of names of columns.
var sides = [2]string{"src", "tgt"}

// anonymise masks the personal data of the first rows of a batch, up to a number, in its texts and in the columns that
// repeat them: repaired texts, and the parts of blocks.
func (e *exporter) anonymise(b *table.Batch, rows int) (_ *table.Batch, err error) {
	if e.opts.Anonymise == Keep {
		return b, nil
	}
	names := [][2]string{{e.opts.Table.SourceColumn, e.opts.Table.TargetColumn}, filtering.FixedColumns}
	var out []table.Values
	for i, pair := range names {
		if i > 0 && (e.opts.Anonymise == AsColumns || !b.Has(pair[0]) && !b.Has(pair[1])) {
			continue
		}
		masked, found, err := maskTexts(b, pair, rows)
		if err != nil {
			return nil, err
		}
		for side, name := range pair {
			if !b.Has(name) {
				continue
			}
			if e.opts.Anonymise == AsColumns {
				name = sides[side] + maskedName
			}
			out = append(out, table.Values{Name: name, Text: masked[side]})
			if i == 0 {
				out = append(out, table.Values{Name: sides[side] + foundName, List: found[side]})
			}
		}
	}
	if e.opts.Anonymise == InTexts {
		parts, err := maskParts(b, rows)
		if err != nil {
			return nil, err
		}
		out = append(out, parts...)
	}
	return b.With(out...)
}

// maskTexts masks a pair of columns, of which one may be missing. Rows from a number on are empty.
func maskTexts(b *table.Batch, pair [2]string, rows int) (masked [2][]string, found [2][][]string, err error) {
	var texts [2]func(i int) (string, bool)
	for side, name := range pair {
		if texts[side] = func(int) (string, bool) { return "", false }; b.Has(name) {
			if texts[side], err = b.Texts(name); err != nil {
				return masked, found, err
			}
		}
		masked[side], found[side] = make([]string, b.Len()), make([][]string, b.Len())
	}
	err = filtering.Parallel(min(rows, b.Len()), func(from, to int) error {
		for i := from; i < to; i++ {
			source, _ := texts[0](i)
			target, _ := texts[1](i)
			both, kinds := annotate.Mask([2]string{source, target})
			for side := range both {
				masked[side][i], found[side][i] = both[side], kinds[side]
			}
		}
		return nil
	})
	return masked, found, err
}

// PartsColumns hold the sentences of a block: element n of one side is the translation of element n of the other.
var PartsColumns = [2]string{"src_parts", "tgt_parts"}

// maskParts masks the lists of sentences. One without a counterpart, or of the only such column, is masked alone.
func maskParts(b *table.Batch, rows int) (out []table.Values, err error) {
	var lists [2]func(i int) []string
	var masked [2][][]string
	for side, name := range PartsColumns {
		if lists[side] = func(int) []string { return nil }; b.Has(name) {
			if lists[side], err = b.Lists(name); err != nil {
				return nil, err
			}
			masked[side] = make([][]string, b.Len())
			out = append(out, table.Values{Name: name, List: masked[side]})
		}
	}
	for i := range min(rows, b.Len()) {
		parts := [2][]string{lists[0](i), lists[1](i)}
		for k := range max(len(parts[0]), len(parts[1])) {
			var pair [2]string
			for side := range parts {
				if k < len(parts[side]) {
					pair[side] = parts[side][k]
				}
			}
			both, _ := annotate.Mask(pair)
			for side := range parts {
				if k < len(parts[side]) {
					parts[side][k] = both[side]
				}
			}
		}
		for side := range parts {
			if masked[side] != nil {
				masked[side][i] = parts[side]
			}
		}
	}
	return out, nil
}
