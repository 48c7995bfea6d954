package exporting

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"bitextmine/bitext/table"
	"bitextmine/internal/badinput"
	"bitextmine/internal/heaps"
)

// sortRows is the number of rows that are sorted in memory at a time.
const sortRows = 512 << 10

// binBits is the number of leading bits of a value that the histogram tells apart.
const binBits = 20

// order gives a number an integer that is in the same order as numbers are as float32; NaN comes last.
func order(v float64, ascending bool) uint32 {
	if math.IsNaN(v) {
		return math.MaxUint32
	}
	bits := heaps.Bits(float32(v))
	if !ascending {
		bits = ^bits
	}
	return min(bits, math.MaxUint32-1)
}

// sorted exports in the order of a column. Rows that are equal stay in the order of the table.
func (e *exporter) sorted(ctx context.Context, sets []*set) error {
	counts := make([]uint64, 1<<binBits)
	err := e.each(ctx, func(b *table.Batch, rows []int) error {
		values, err := b.Numbers(e.opts.Sort)
		if err != nil {
			return err
		}
		if err := refuseWords(e.opts.Sort, b, rows, values); err != nil {
			return err
		}
		for _, row := range rows {
			counts[order(values(row), e.opts.Ascending)>>(32-binBits)]++
		}
		return nil
	})
	if err != nil {
		return err
	}
	for from := 0; from < len(counts); {
		to, rows := from, uint64(0)
		for to < len(counts) && (rows == 0 || rows+counts[to] <= sortRows) {
			rows += counts[to]
			to++
		}
		if rows > 0 {
			if err := e.slice(ctx, sets, uint32(from), uint32(to)); err != nil {
				return err
			}
		}
		from = to
	}
	return nil
}

// refuseWords refuses to sort by a column of texts that are no numbers, as they would stay in their order.
func refuseWords(column string, b *table.Batch, rows []int, values func(row int) float64) error {
	texts, err := b.Texts(column)
	if err != nil {
		return nil // a column of numbers
	}
	for _, row := range rows {
		if text, _ := texts(row); text != "" && math.IsNaN(values(row)) && !strings.EqualFold(text, "nan") {
			return badinput.Errorf("--sort %s: row %d has %.40q, which is no number: name a column of numbers", column,
				b.Row(row), text)
		}
	}
	return nil
}

// slice exports the rows whose values are in bins from one to before another.
func (e *exporter) slice(ctx context.Context, sets []*set, from, to uint32) error {
	type place struct {
		order      uint32
		value      float64 // many have one order: integers above 2^24, and what float64 tells apart alone
		batch, row int
	}
	var places []place
	var parts []*table.Batch
	err := e.each(ctx, func(b *table.Batch, rows []int) error {
		values, err := b.Numbers(e.opts.Sort)
		if err != nil {
			return err
		}
		var some []int
		for _, row := range rows {
			value := values(row)
			if at := order(value, e.opts.Ascending); from <= at>>(32-binBits) && at>>(32-binBits) < to {
				places = append(places, place{at, value, len(parts), len(some)})
				some = append(some, row)
			}
		}
		if len(some) == 0 {
			return nil
		}
		part, err := b.Select(some)
		parts = append(parts, part)
		return err
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(places, func(a, b place) int {
		if a.order != b.order || e.opts.Ascending {
			return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.value, b.value))
		}
		return cmp.Compare(b.value, a.value)
	})
	joined, err := table.Join(parts)
	if err != nil {
		return err
	}
	begins := make([]int, len(parts)+1)
	for i, part := range parts {
		begins[i+1] = begins[i] + part.Len()
	}
	rows := make([]int, len(places))
	for i, p := range places {
		rows[i] = begins[p.batch] + p.row
	}
	for chunk := range slices.Chunk(rows, table.BatchRows) {
		if err := e.write(sets, joined, chunk); err != nil {
			return err
		}
	}
	return nil
}
