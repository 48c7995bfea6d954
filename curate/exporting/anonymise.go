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
	names := [][2]string{{e.opts.Table.SourceColumn, e.opts.Table.TargetColumn}, {"src_fixed", "tgt_fixed"}}
	var out []table.Values
	for i, pair := range names {
		if !b.Has(pair[0]) || !b.Has(pair[1]) || i > 0 && e.opts.Anonymise == AsColumns {
			continue
		}
		masked, found, err := e.maskTexts(b, pair, rows)
		if err != nil {
			return nil, err
		}
		for side, name := range pair {
			if e.opts.Anonymise == AsColumns {
				name = sides[side] + maskedName
			}
			out = append(out, table.Values{Name: name, Text: masked[side]})
			if i == 0 {
				out = append(out, table.Values{Name: sides[side] + foundName, List: found[side]})
			}
		}
	}
	if e.opts.Anonymise == InTexts && b.Has(PartsColumns[0]) && b.Has(PartsColumns[1]) {
		parts, err := maskParts(b, rows)
		if err != nil {
			return nil, err
		}
		out = append(out, parts[:]...)
	}
	return b.With(out...)
}

// maskTexts masks a pair of columns. Rows from a number on are empty.
func (e *exporter) maskTexts(b *table.Batch, pair [2]string, rows int) (masked [2][]string, found [2][][]string, err error) {
	var texts [2]func(i int) (string, bool)
	for side, name := range pair {
		if texts[side], err = b.Texts(name); err != nil {
			return masked, found, err
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

func maskParts(b *table.Batch, rows int) (out [2]table.Values, err error) {
	var lists [2]func(i int) []string
	for side, name := range PartsColumns {
		if lists[side], err = b.Lists(name); err != nil {
			return out, err
		}
		out[side] = table.Values{Name: name, List: make([][]string, b.Len())}
	}
	for i := range min(rows, b.Len()) {
		source, target := lists[0](i), lists[1](i)
		for k := range min(len(source), len(target)) {
			both, _ := annotate.Mask([2]string{source[k], target[k]})
			source[k], target[k] = both[0], both[1]
		}
		out[0].List[i], out[1].List[i] = source, target
	}
	return out, nil
}
