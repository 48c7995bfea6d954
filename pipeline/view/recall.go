package view

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"bitextmine/pipeline/store"
)

// Recall is what searches found of the true neighbours, as they measured it, for the lists of each side. A cell counts
// as much as it has pairs of rows: so many of a list's true neighbours are expected in it.
type Recall struct {
	Least  *float64 `json:"least_recall,omitempty"` // smallest of a cell; nil: all searches were exact
	Pairs  [2]int64 `json:"pairs,omitzero"`
	Missed [2]int64 `json:"missed,omitzero"` // pairs times the share of neighbours that are missing: sums have no order
}

// Measured is the recall of a cell of so many pairs, for the lists of both sides.
func Measured(pairs int64, source, target float64) Recall {
	least := min(source, target)
	return Recall{&least, [2]int64{pairs, pairs}, [2]int64{missed(pairs, source), missed(pairs, target)}}
}

func missed(pairs int64, recall float64) int64 {
	return int64(math.Round(float64(pairs) * (1 - recall)))
}

// Mean is the share of true neighbours that are in the lists of the side that has fewer of them; nil: all searches were
// exact.
func (r *Recall) Mean() *float64 {
	if r.Least == nil || r.Pairs == [2]int64{} { // an older version told the least alone
		return r.Least
	}
	mean := 1.0
	for side, pairs := range r.Pairs {
		if pairs > 0 {
			mean = min(mean, 1-float64(r.Missed[side])/float64(pairs))
		}
	}
	return &mean
}

// Add takes in the record of a search, or of a merge of searches: of one side's lists, for so many pairs.
func (r *Recall) Add(out *store.Output, side int, pairs int64) error {
	var of Recall
	if err := json.Unmarshal(out.Info, &of); err != nil {
		return fmt.Errorf("read the record of %s: %w", out.Dir, err)
	}
	r.add(of, side, pairs)
	return nil
}

func (r *Recall) add(of Recall, side int, pairs int64) {
	if of.Pairs[side] == 0 { // it was exact, or of a version that told the least recall alone
		of.Pairs[side] = pairs
		if of.Least != nil {
			of.Missed[side] = missed(pairs, *of.Least)
		}
	}
	r.Pairs[side], r.Missed[side] = r.Pairs[side]+of.Pairs[side], r.Missed[side]+of.Missed[side]
	if of.Least != nil && (r.Least == nil || *of.Least < *r.Least) {
		r.Least = of.Least
	}
}

// Recall is that of the searches of both sides.
func (p *Pair) Recall(ctx context.Context) (r Recall, err error) {
	for side, keys := range p.Plan.Pairs[p.Index].Merges {
		for shard, key := range keys {
			pairs := int64(p.Language(side).Shards[shard].Rows) * int64(p.Language(1-side).Rows())
			out, err := p.Record(ctx, Merge, key)
			if err == nil {
				err = r.Add(out, side, pairs)
			}
			if err != nil {
				return r, err
			}
		}
	}
	return r, nil
}
