package ivf

import (
	"cmp"
	"context"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/index/kernel"
)

// Training: 24 rows of the sample for each list, four rounds.
const (
	trainRows   = 24
	trainRounds = 4
)

// train returns the centroids [lists, dim] of a side by spherical k-means on an even sample of its rows: a centroid is
// the mean of the rows that are nearest to it, scaled to length 1. The first centroids are an even sample, too.
func (s *searcher) train(ctx context.Context, side *index.Distinct) ([]float32, error) {
	sample := evenSample(side, trainRows*s.lists)
	dim := side.Dim()
	centroids := make([]float32, s.lists*dim)
	for i := range s.lists {
		copyRow(centroids[i*dim:(i+1)*dim], side, sample[index.Spread(i, s.lists, len(sample))])
	}
	nearest := make([]int32, len(sample))
	for range trainRounds {
		c, err := s.centroidSide(ctx, centroids, dim)
		if err != nil {
			return nil, err
		}
		_, err = s.nearest(ctx, side.Kernel, sample, c, 1, math.Inf(1),
			func(lo int, found near) { copy(nearest[lo:], found.ids) })
		c.Close()
		if err != nil {
			return nil, err
		}
		if err := s.move(ctx, side, sample, nearest, centroids); err != nil {
			return nil, err
		}
	}
	return centroids, nil
}

// evenSample returns n rows of a side, or all if it has fewer, spread evenly.
func evenSample(side *index.Distinct, n int) []int32 {
	sample := make([]int32, min(n, side.Len()))
	for i := range sample {
		sample[i] = int32(index.Spread(i, len(sample), side.Len()))
	}
	return sample
}

// move moves the centroids to the means of their rows. One without rows takes a row from one with many.
func (s *searcher) move(ctx context.Context, side *index.Distinct, sample, nearest []int32, centroids []float32) error {
	dim := side.Dim()
	start, at := grouped(nearest, s.lists)
	size := func(list int32) int32 { return start[list+1] - start[list] }
	g, ctx := errgroup.WithContext(ctx)
	part := (s.lists + s.opts.Threads - 1) / s.opts.Threads
	for from := 0; from < s.lists; from += part {
		g.Go(func() error {
			sum, row := make([]float64, dim), make([]float32, dim)
			for list := from; list < min(from+part, s.lists); list++ {
				clear(sum)
				for _, i := range at[start[list]:start[list+1]] {
					copyRow(row, side, sample[i])
					for j, v := range row {
						sum[j] += float64(v)
					}
				}
				toUnit(centroids[list*dim:(list+1)*dim], sum)
			}
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	order := make([]int32, s.lists)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(size(b), size(a)) })
	for i, last := 0, len(order)-1; size(order[last-i]) == 0 && size(order[i]) > 1; i++ {
		empty := int(order[last-i])
		copyRow(centroids[empty*dim:(empty+1)*dim], side, sample[at[start[order[i]+1]-1]])
	}
	return nil
}

// toUnit writes sum, scaled to length 1, to centroid, unless it has no direction.
func toUnit(centroid []float32, sum []float64) {
	var square float64
	for _, v := range sum {
		square += float64(v * v) // rounded: a fused sum would differ between CPUs
	}
	if square == 0 {
		return
	}
	length := math.Sqrt(square)
	for i, v := range sum {
		centroid[i] = float32(v / length)
	}
}

func copyRow(to []float32, side *index.Distinct, row int32) {
	copy(to, side.Block(int(row), int(row)+1, to))
}

// centroidSide is the centroids for the kernels.
func (s *searcher) centroidSide(ctx context.Context, centroids []float32, dim int) (*kernel.Side, error) {
	c := kernel.NewSide(embedding.FromFloat32(centroids, dim), nil, nil)
	square, _ := s.kernel.Inspect(c, 0, c.N, math.Inf(1))
	c.Length = math.Sqrt(square) * (1 + 1e-9) // rounded up, because the sum was rounded
	if err := s.kernel.MeasureTop(ctx, c); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}
