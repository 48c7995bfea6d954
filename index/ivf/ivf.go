// Package ivf is an approximate search with inverted lists, on the kernels of the exact search.
//
// Each side's rows are divided into lists: spherical k-means on a sample of the side finds the lists' centroids, and a
// row is in two lists, that of its nearest centroid and one of the next. A row of the other side visits the lists of
// its nearest centroids: all whose cosines are near that of the nearest. The two directions share what they compare: a
// pair is compared if the target row is in a list that the source row visits, or the source row in a list that the
// target row visits, and it is offered to both rows' neighbour lists. So a pair is missed only if both of two different
// divisions miss it. Where one side is much smaller, as a night's is, only its rows visit lists (lopsided.go).
//
// The rows that visit a list are compared with it in tiles, as exact search compares blocks, but by products of rows
// rounded to whole numbers up to 127, which are exact in all kernels. The largest of these propose somewhat more than k
// rows, and float64 cosines decide. Which lists a row is in and visits is decided by such products, too. So the result
// depends on the vectors and the settings alone, not on threads or the CPU.
package ivf

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/index/approximate"
	"bitextmine/index/kernel"
	"bitextmine/internal/badinput"
	"bitextmine/internal/spill"
)

// Prefix begins the name of a search in the settings. The number of lists follows.
const Prefix = "ivf:"

// MaxLists is the maximum number of lists of a side.
const MaxLists = 1 << 16

// Options are the settings of a search. A row visits NProbe lists on average, DefaultNProbe if it is 0.
type Options struct {
	Threads    int    // 0: all processors that Go may use
	Kernel     string // empty: the fastest that this CPU runs
	RecallRows int    // sample of each side for the measured recall; 0: approximate.RecallRows
	approximate.Settings
}

// proposals is how many rows are proposed for a list of k.
func proposals(k int) int { return k + max(8, k/2) }

// ListBytes is the size of a row's lists in the space of a search: the proposals, the nearest, and these of all copies.
func ListBytes(k int) int { return 8 * (proposals(k) + 2*k) }

// DefaultNProbe is the number of lists that a row visits on average unless the settings say otherwise. It grows with
// the fourth root of the number of lists, as what a recall of 0.99 takes does.
func DefaultNProbe(lists int) int {
	return min(int(math.Ceil(2.4*math.Sqrt(math.Sqrt(float64(lists))))), lists)
}

type searcher struct {
	lists    int
	opts     Options
	kernel   *kernel.Kernel
	inMemory int // bytes of a side's neighbours that stay in memory where there is a directory for files
}

// Lists reads the number of lists from a search's name without its prefix. Errors are badinput.
func Lists(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > MaxLists || strconv.Itoa(n) != text {
		return 0, badinput.Errorf(
			"search %s%s does not say how many lists a side is divided into; give a number from 1 to %d, such as %s1024",
			Prefix, text, MaxLists, Prefix)
	}
	return n, nil
}

// MinRows is the number of different rows that a side must have for so many lists, in digits: one for each.
func MinRows(lists string) int {
	n, err := Lists(lists)
	if err != nil {
		return 0 // Open refuses it
	}
	return n
}

// Memory is the maximum number of bytes of a search of n rows in total that keeps the lists of the result and the
// numbers of rows in files: the centroids, the lists of both sides, the visits, and each thread's blocks. nprobe is
// Options.NProbe.
func Memory(lists string, nprobe, rows, threads, dim, k int) int64 {
	n := MinRows(lists)
	nprobe = cmp.Or(nprobe, DefaultNProbe(n))
	most := mostVisits(nprobe, n)
	atOnce := int64(min(rows, visitorsAtOnce(nprobe)))
	visits := atOnce*(visitBytes*int64(nprobe)+8) + 4*mostVisitors
	visits = max(visits, 8*memberChoice*int64(min(rows, divideRows))) // the lists that a row may be in are found before
	nearest := kernel.ScannerBytes(dim, most, nearestRows, n) + nearBytes(nearestRows, most)
	nearest = max(nearest, kernel.ScannerBytes(dim, mostTaken, nearestRows, choiceRows)+nearBytes(nearestRows, mostTaken))
	worker := kernel.ScannerBytes(dim, proposals(k), visitorRows, listRows) + nearest
	return 8*int64(n)*int64(dim) + 8*(members+1)*int64(rows) + visits + int64(threads)*worker
}

// Open returns the searcher with so many lists, in digits. Errors are badinput.
func Open(lists string, opts Options) (index.Searcher, error) {
	n, err := Lists(lists)
	if err != nil {
		return nil, err
	}
	switch {
	case opts.Threads < 0 || opts.RecallRows < 0:
		return nil, badinput.Errorf(
			"%d threads and %d recall rows are given to search %s%d; give positive numbers, or 0 for the defaults",
			opts.Threads, opts.RecallRows, Prefix, n)
	case opts.NProbe < 0 || opts.NProbe > n:
		return nil, badinput.Errorf(
			"nprobe is %d but search %s%d has %d lists to visit; give a number from 1 to that, or 0 for %d",
			opts.NProbe, Prefix, n, n, DefaultNProbe(n))
	}
	opts.Threads = cmp.Or(opts.Threads, runtime.GOMAXPROCS(0))
	opts.NProbe = cmp.Or(opts.NProbe, DefaultNProbe(n))
	opts.RecallRows = cmp.Or(opts.RecallRows, approximate.RecallRows)
	s := &searcher{lists: n, opts: opts, kernel: kernel.Best, inMemory: spill.InMemory}
	if opts.Kernel != "" {
		if s.kernel = kernel.Get(opts.Kernel); s.kernel == nil {
			return nil, badinput.Errorf("this CPU cannot run the search kernel %q; leave it out to use %s", opts.Kernel,
				kernel.Best.Name)
		}
	}
	return s, nil
}

func (s *searcher) Name() string { return Prefix + strconv.Itoa(s.lists) }

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
		c, err := s.ownSide(ctx, centroids, dim)
		if err != nil {
			return nil, err
		}
		_, err = s.nearest(ctx, side.Kernel, sample, c, allOf(c), 1, math.Inf(1),
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
	order := between(0, s.lists)
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

// ownSide is rows that are not the cell's for the kernels.
func (s *searcher) ownSide(ctx context.Context, rows []float32, dim int) (*kernel.Side, error) {
	c := kernel.NewSide(embedding.FromFloat32(rows, dim), nil, nil)
	square, _ := s.kernel.Inspect(c, 0, c.N, math.Inf(1))
	c.Length = math.Sqrt(square) * (1 + 1e-9) // rounded up, because the sum was rounded
	if err := s.kernel.MeasureTop(ctx, c); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}
