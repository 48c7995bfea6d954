package word

import "sync/atomic"

// maximise estimates t from the counts and sets them to zero.
func (d *direction) maximise() {
	if d.backward {
		d.maximiseColumns()
	} else {
		d.maximiseRows()
	}
	normalise(d.null(), d)
}

// normalise turns the counts of a distribution into its probabilities, as the settings of a direction say.
func normalise(row []entry, d *direction) {
	total := uint64(0)
	for _, e := range row {
		total += e.count
	}
	inverse := d.inverse(total, len(row))
	for i := range row {
		row[i] = entry{prob: d.value(row[i].count) * inverse}
	}
}

// maximiseRows normalises over the target words of each source word.
func (d *direction) maximiseRows() {
	t := d.table
	parallel(len(t.rows)-1, d.Threads, func(next func() (int, bool)) {
		for e, ok := next(); ok; e, ok = next() {
			row, _ := t.row(e)
			normalise(row, d)
		}
	})
}

// maximiseColumns normalises over the source words of each target word.
func (d *direction) maximiseColumns() {
	t := d.table
	words := len(d.pairs.sides[1].ids)
	totals, sizes := make([]uint64, words), make([]uint64, words)
	parallel(len(t.rows)-1, d.Threads, func(next func() (int, bool)) {
		for e, ok := next(); ok; e, ok = next() {
			row, targets := t.row(e)
			for i, f := range targets {
				atomic.AddUint64(&totals[f], row[i].count)
				atomic.AddUint64(&sizes[f], 1)
			}
		}
	})
	inverses := make([]float64, words)
	for f := range inverses {
		inverses[f] = d.inverse(totals[f], int(sizes[f]))
	}
	parallel(len(t.rows)-1, d.Threads, func(next func() (int, bool)) {
		for e, ok := next(); ok; e, ok = next() {
			row, targets := t.row(e)
			for i, f := range targets {
				row[i] = entry{prob: d.value(row[i].count) * inverses[f]}
			}
		}
	})
}

// value returns the weight of a count. With a Dirichlet prior it is the exponential of the expected logarithm.
func (o Options) value(count uint64) float64 {
	if o.Alpha == 0 {
		return float64(count)
	}
	return expDigamma(float64(count)/unit + o.Alpha)
}

// inverse is the inverse of a word's total, which it distributes over size words. A word that was never the most
// likely one has no counts, and without a prior its translations keep the probability 0.
func (o Options) inverse(total uint64, size int) float64 {
	switch {
	case o.Alpha != 0:
		return 1 / expDigamma(float64(total)/unit+float64(size)*o.Alpha)
	case total == 0:
		return 0
	}
	return 1 / float64(total)
}
