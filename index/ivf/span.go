package ivf

import (
	"context"
	"math"
	"slices"
)

// spanRows is the number of rows by which the span is chosen.
const spanRows = 1000

// mostVisits bounds the number of lists that one row visits.
func mostVisits(nprobe, lists int) int { return min(2*nprobe, lists) }

func (p *pass) mostVisits() int { return mostVisits(p.opts.NProbe, p.searcher.lists) }

// measureSpan sets how far below the cosine of its nearest centroid that of another may be for a row to visit its list.
// A row near the middle of a list needs to visit few others, one between many lists visits many of them: the rows of a
// sample visit nprobe on average.
func (p *pass) measureSpan(ctx context.Context) error {
	p.span = math.Inf(1)
	if p.opts.NProbe == p.searcher.lists {
		return nil
	}
	visitors, lists := p.visitors.Queries, p.lists
	sample := evenSample(visitors, spanRows)
	most := p.mostVisits()
	below := make([]float64, len(sample)*most)
	unit, err := p.nearest(ctx, visitors.Kernel, sample, lists.centroids, most, math.Inf(1), func(lo int, found near) {
		for row := range found.counts {
			_, products := found.of(row)
			best := slices.Max(products)
			for i, v := range products {
				below[(lo+row)*most+i] = float64(best) - float64(v)
			}
		}
	})
	if err != nil {
		return err
	}
	slices.Sort(below)
	p.span = below[len(sample)*p.opts.NProbe-1] / unit
	return nil
}
