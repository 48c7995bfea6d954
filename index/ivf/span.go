package ivf

import (
	"context"
	"math"
	"slices"

	"bitextmine/encode/embedding"
)

// spanRows is the number of rows by which the span is chosen.
const spanRows = 1000

// mostVisits bounds the number of lists that one row visits.
func (p *pass) mostVisits() int { return min(2*p.opts.NProbe, p.searcher.lists) }

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
	most, dim := p.mostVisits(), visitors.Dim()
	near := make([]int32, len(sample)*most)
	if err := p.nearest(ctx, visitors.Kernel, sample, lists.centroids, most, near); err != nil {
		return err
	}
	below := make([]float64, 0, len(near))
	row, cosines := make([]float32, dim), make([]float64, most)
	for i, id := range sample {
		vector := visitors.Block(int(id), int(id)+1, row)
		for j, list := range near[i*most : (i+1)*most] {
			cosines[j] = float64(embedding.Dot(vector, lists.means[int(list)*dim:(int(list)+1)*dim]))
		}
		best := slices.Max(cosines)
		for _, cosine := range cosines {
			below = append(below, best-cosine)
		}
	}
	slices.Sort(below)
	p.span = below[len(sample)*p.opts.NProbe-1]
	return nil
}
