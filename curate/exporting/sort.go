package exporting

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"bitextmine/bitext/table"
	"bitextmine/internal/badinput"
)

// sortRows is the number of rows that are sorted in memory at a time.
var sortRows uint64 = 512 << 10

// binBits is the number of bits of a value that a histogram tells apart.
const binBits = 20

// order gives a number an integer that is in the same order; NaN comes last.
func order(v float64, ascending bool) uint64 {
	if math.IsNaN(v) {
		return math.MaxUint64
	}
	bits := math.Float64bits(v)
	if bits>>63 == 1 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	if !ascending {
		bits = ^bits
	}
	return bits
}

// bin is a range of a histogram of orders.
type bin struct {
	rows  uint64
	one   uint64 // order of its first row
	mixed bool   // another row has another
}

// sorted exports in the order of a column. Rows that are equal stay in the order of the table.
func (e *exporter) sorted(ctx context.Context, sets []*set) error { return divided(ctx, e, sets, 0, 0) }

// divided exports the rows whose orders begin with so many bits. Bins that are more than may be sorted are divided by
// the next bits, unless they have one value: its rows are in their order.
func divided(ctx context.Context, e *exporter, sets []*set, begin uint64, known int) error {
	bits := min(binBits, 64-known)
	shift := 64 - known - bits
	bins := make([]bin, 1<<bits)
	in := func(at uint64) bool { return at>>(shift+bits) == begin }
	err := e.ordered(ctx, in, func(_ *table.Batch, _ []int, orders []uint64) error {
		for _, at := range orders {
			bin := &bins[at>>shift&(1<<bits-1)]
			if bin.rows == 0 {
				bin.one = at
			}
			bin.rows, bin.mixed = bin.rows+1, bin.mixed || at != bin.one
		}
		return nil
	})
	for from := 0; from < len(bins) && err == nil; {
		to, rows := from, uint64(0)
		for to < len(bins) && (rows == 0 || rows+bins[to].rows <= sortRows) {
			rows += bins[to].rows
			to++
		}
		first, last := begin<<bits|uint64(from), begin<<bits|uint64(to-1)
		switch {
		case rows > sortRows && bins[to-1].mixed:
			err = divided(ctx, e, sets, last, known+bits)
		case rows > sortRows:
			one := bins[to-1].one
			err = e.ordered(ctx, func(at uint64) bool { return at == one }, func(b *table.Batch, rows []int, _ []uint64) error { return e.write(sets, b, rows) })
		case rows > 0:
			err = e.slice(ctx, sets, func(at uint64) bool { return first <= at>>shift && at>>shift <= last })
		}
		from = to
	}
	return err
}

// ordered calls do with those rows of every batch that are exported and whose orders are in a range, and their orders.
func (e *exporter) ordered(ctx context.Context, in func(order uint64) bool, do func(b *table.Batch, rows []int, orders []uint64) error) error {
	return e.each(ctx, func(b *table.Batch, rows []int) error {
		values, err := b.Numbers(e.opts.Sort)
		if err == nil {
			err = refuseWords(e.opts.Sort, b, rows, values)
		}
		if err != nil {
			return err
		}
		var some []int
		var orders []uint64
		for _, row := range rows {
			if at := order(values(row), e.opts.Ascending); in(at) {
				some, orders = append(some, row), append(orders, at)
			}
		}
		if len(some) == 0 {
			return nil
		}
		return do(b, some, orders)
	})
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

// join puts what is sorted together. Tests count its rows.
var join = table.Join

// slice exports the rows whose orders are in a range.
func (e *exporter) slice(ctx context.Context, sets []*set, in func(order uint64) bool) error {
	type place struct {
		order uint64
		row   int // number among all that are sorted
	}
	var places []place
	var parts []*table.Batch
	err := e.ordered(ctx, in, func(b *table.Batch, rows []int, orders []uint64) error {
		for _, at := range orders {
			places = append(places, place{at, len(places)})
		}
		part, err := b.Select(rows)
		parts = append(parts, part)
		return err
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.order, b.order) })
	joined, err := join(parts)
	if err != nil {
		return err
	}
	rows := make([]int, len(places))
	for i, p := range places {
		rows[i] = p.row
	}
	for chunk := range slices.Chunk(rows, table.BatchRows) {
		if err := e.write(sets, joined, chunk); err != nil {
			return err
		}
	}
	return nil
}
