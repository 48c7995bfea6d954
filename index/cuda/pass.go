package cuda

import (
	"cmp"
	"context"
	"math"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"bitextmine/index"
	"bitextmine/internal/cuda"
)

// The sizes that kernels.py has, too.
const (
	tileRows = 256 // rows of either side are multiples of a tile's larger side
	rowTile  = 128 // queries of a tile, on every GPU
	rowGroup = 32  // base rows of a group of a query's list
	colGroup = 16  // queries of a group of a base row's list
	widths   = 128 // dimensions are multiples of the part of a row that rescore reads at a time
)

// span is the most rows of either side of which maxima are in memory at a time: 0.4 GB of them.
const span = 32768

// queryRows is the most queries of a block: while their lists are made exact on the host, the device compares the next.
const queryRows = 262144

// stagingValues is how many float16 values are copied to a device at a time.
const stagingValues = 32 << 20

// extra is how many candidates beyond k a list keeps: room for the rows whose scores are within two bounds of the k-th,
// as a list without that room is computed from all rows on the host. Their number is in proportion to k and to the
// bound (the table in bench/results/search.md: 0.1 of random rows at a bound of 0.0001 and k = 4), which is several
// times as wide where float32 rows were rounded.
func extra(queries, base *index.Distinct) int {
	if queries.Float16() && base.Float16() {
		return 8
	}
	return maxExtra
}

const maxExtra = 24

// pass is one search under way. The smaller side has the queries.
type pass struct {
	*searcher
	devices       []*device
	queries, base *side
	dim           int // padded
	keep          int
	progress      *index.Progress
}

// side is one side of a search: its lists so far.
type side struct {
	*operand
	half *index.Half

	mu     sync.Mutex
	found  lists
	floors []float32 // [rows] no row that was left out of a list has a larger score
}

func newSide(half *index.Half, keep int) *side {
	n := half.Queries.Len()
	s := &side{operand: newOperand(half.Queries), half: half, found: newLists(n, keep), floors: make([]float32, n)}
	for i := range s.floors {
		s.floors[i] = float32(math.Inf(-1))
	}
	return s
}

func newPass(s *searcher, cell *index.Cell, devices []*device, report func(float64)) *pass {
	rows, cols := cell.Halves()
	if rows.Queries.Len() > cols.Queries.Len() {
		rows, cols = cols, rows
	}
	p := &pass{searcher: s, devices: devices, dim: ceil(rows.Queries.Dim(), widths), keep: rows.K + extra(rows.Queries, cols.Queries)}
	p.queries, p.base = newSide(rows, p.keep), newSide(cols, p.keep)
	p.progress = index.NewProgress(float64(rows.Queries.Len())*float64(cols.Queries.Len()), report)
	return p
}

func ceil(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }

// size is the rows of a block of either side, multiples of tileRows.
type size struct{ queries, base int }

// bytes is the memory of a pair of blocks on a device.
func (p *pass) bytes(z size) (all int64) {
	for _, m := range (&blocks{p: p, size: z}).memory() {
		all += m.bytes
	}
	return all
}

// fit returns the largest blocks that fit on all devices, of at most so many rows each; 0: of any number.
func (p *pass) fit(rows int) (size, error) {
	n := (p.base.rows.Len() + len(p.devices) - 1) / len(p.devices)
	z := size{ceil(min(p.queries.rows.Len(), queryRows), tileRows), ceil(n, tileRows)}
	if rows != 0 {
		z = size{min(z.queries, rows), min(z.base, rows)}
	}
	for _, d := range p.devices {
		free, err := d.Free()
		if err != nil {
			return z, err
		}
		for p.bytes(z) > free/16*15 && max(z.queries, z.base) > tileRows {
			half := ceil(max(z.queries, z.base)/2, tileRows)
			z = size{min(z.queries, half), min(z.base, half)}
		}
	}
	return z, nil
}

// run compares all blocks of queries with all blocks of the base, which the devices share.
func (p *pass) run(ctx context.Context, z size) error {
	refining, ctx := errgroup.WithContext(ctx)
	refining.SetLimit(1)
	blocks := make(chan int)
	g, inner := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(blocks)
		for lo := 0; lo < p.base.rows.Len(); lo += z.base {
			select {
			case blocks <- lo:
			case <-inner.Done():
				return inner.Err()
			}
		}
		return nil
	})
	n := (p.queries.rows.Len() + z.queries - 1) / z.queries
	missing := make([]atomic.Int32, n) // base blocks that each block of queries was not compared with
	for i := range missing {
		missing[i].Store(int32((p.base.rows.Len() + z.base - 1) / z.base))
	}
	for _, d := range p.devices {
		g.Go(func() (err error) {
			b, err := p.newBlocks(d, z)
			defer func() { err = cmp.Or(err, b.release()) }()
			if err != nil {
				return err
			}
			for lo := range blocks {
				for i := range n {
					if err := b.compare(inner, i*z.queries, lo, i == 0); err != nil {
						return err
					}
					if missing[i].Add(-1) == 0 {
						refining.Go(func() error {
							return p.refine(ctx, p.queries, p.base, i*z.queries, min((i+1)*z.queries, p.queries.rows.Len()))
						})
					}
				}
				refining.Go(func() error {
					return p.refine(ctx, p.base, p.queries, lo, min(lo+z.base, p.base.rows.Len()))
				})
			}
			return nil
		})
	}
	err := g.Wait()
	return cmp.Or(refining.Wait(), err)
}

// refine makes the final lists of rows from to to-1 of one side from their candidates.
func (p *pass) refine(ctx context.Context, of, other *side, from, to int) error {
	found := of.found.part(from, to)
	candidates, ceilings := make([]int64, len(found.ids)), make([]float64, to-from)
	for i, id := range found.ids {
		candidates[i] = int64(id)
	}
	unit, bound := 1/(float64(of.scale)*float64(other.scale)), slack(of.operand, other.operand)
	for i := range ceilings {
		ceilings[i] = float64(max(found.scores[(i+1)*p.keep-1], of.floors[from+i]))*unit + bound
	}
	if err := of.half.RefineExact(ctx, p.threads, from, to, candidates, ceilings); err != nil {
		return err
	}
	return found.check(of.half, from, unit, bound+math.Ldexp(of.rows.Kernel.Length*other.rows.Kernel.Length, -23))
}

// merge adds the lists of a block, of rows from `from` on, whose ids begin at `first` of the other side.
func (s *side) merge(ctx context.Context, threads, from, first int, block lists, floors []float32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return index.InParts(ctx, threads, 0, len(floors), func(ctx context.Context, lo, hi int) error {
		some := block.part(lo, hi)
		some.sort(int32(first))
		s.found.merge(from+lo, from+hi, some)
		for i := lo; i < hi; i++ {
			s.floors[from+i] = max(s.floors[from+i], floors[i])
		}
		return ctx.Err()
	})
}

// worst is the least score of each list of the rows from to to-1, once for each of its entries.
func (s *side) worst(from, to int) []float32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	keep := s.found.keep
	all := make([]float32, (to-from)*keep)
	for i := range all {
		all[i] = s.found.scores[(from+i/keep+1)*keep-1]
	}
	return all
}

// blocks is a pair of blocks on a device.
type blocks struct {
	p       *pass
	on      *device
	size    size
	staging []uint16
	unstage func() error

	queries, base  block
	rowMax, colMax cuda.Memory
}

// block is the rows of one side on a device, with their lists.
type block struct {
	rows                   cuda.Memory // float16 [padded, dim]
	values, scores, floors cuda.Memory // float32 [padded, keep] and [padded]
	chosen, ids            cuda.Memory // int32 [padded, keep]
	lo, n, padded          int
}

// memory lists what a pair of blocks takes on a device, and where its address is kept.
func (b *blocks) memory() []allocation {
	scores := int64(min(b.size.queries, span)) * int64(min(b.size.base, span))
	all := []allocation{{&b.rowMax, 4 * scores / rowGroup}, {&b.colMax, 4 * scores / colGroup}}
	of := func(side *block, n int) {
		rows := int64(n)
		lists := 4 * rows * int64(b.p.keep)
		all = append(all, allocation{&side.rows, 2 * rows * int64(b.p.dim)}, allocation{&side.floors, 4 * rows},
			allocation{&side.values, lists}, allocation{&side.scores, lists}, allocation{&side.chosen, lists}, allocation{&side.ids, lists})
	}
	of(&b.queries, b.size.queries)
	of(&b.base, b.size.base)
	return all
}

// allocation is memory of a device.
type allocation struct {
	address *cuda.Memory
	bytes   int64
}

// newBlocks takes the memory of a device. What it returns must be released also after an error.
func (p *pass) newBlocks(d *device, z size) (*blocks, error) {
	b := &blocks{p: p, on: d, size: z}
	for _, m := range b.memory() {
		var err error
		if *m.address, err = d.Allocate(m.bytes); err != nil {
			return b, err
		}
	}
	var err error
	b.staging, b.unstage, err = d.Staging(min(max(z.queries, z.base), max(stagingValues/p.dim, 1)) * p.dim)
	return b, err
}

func (b *blocks) release() (err error) {
	for _, m := range b.memory() {
		err = cmp.Or(err, b.on.Release(*m.address))
	}
	if b.unstage != nil {
		err = cmp.Or(err, b.unstage())
	}
	return err
}

// compare compares the queries from row `query` on with the base from row `base` on, and merges the lists. The base
// block is copied to the device if it is a new one.
func (b *blocks) compare(ctx context.Context, query, base int, isNew bool) error {
	p := b.p
	if isNew {
		if err := b.place(ctx, &b.base, p.base, base, b.size.base); err != nil {
			return err
		}
	}
	if err := b.place(ctx, &b.queries, p.queries, query, b.size.queries); err != nil {
		return err
	}
	if err := cmp.Or(b.begin(&b.queries, p.queries), b.begin(&b.base, p.base)); err != nil {
		return err
	}
	if err := b.scan(ctx); err != nil {
		return err
	}
	return cmp.Or(b.collect(ctx, &b.queries, &b.base, p.queries, rowGroup), b.collect(ctx, &b.base, &b.queries, p.base, colGroup))
}

// place copies up to `most` rows from lo on to the device. The rows that fill the last tile are copies of the last one,
// so that they are in no group larger than it.
func (b *blocks) place(ctx context.Context, to *block, from *side, lo, most int) error {
	to.lo, to.n = lo, min(most, from.rows.Len()-lo)
	to.padded = ceil(to.n, tileRows)
	step := len(b.staging) / b.p.dim
	for at := 0; at < to.padded; at += step {
		end := min(at+step, to.padded)
		values := b.staging[:(end-at)*b.p.dim]
		if err := from.float16(ctx, b.p.threads, lo+at, lo+end, lo+to.n-1, b.p.dim, values); err != nil {
			return err
		}
		if err := cuda.Upload(b.on.Device, to.rows+cuda.Memory(2*at*b.p.dim), values); err != nil {
			return err
		}
	}
	return nil
}

// begin empties the lists of a block: what is not above the lists so far has no place in them.
func (b *blocks) begin(of *block, s *side) error {
	return cmp.Or(
		cuda.Upload(b.on.Device, of.values, s.worst(of.lo, of.lo+of.n)),
		b.on.Fill(of.chosen, math.MaxUint32, of.n*b.p.keep), // -1: no group
	)
}

// scan finds the groups with the largest scores of all lists of both blocks.
func (b *blocks) scan(ctx context.Context) error {
	p := b.p
	rowStride, colStride := int32(min(b.size.base, span)/rowGroup), int32(min(b.size.queries, span)/colGroup)
	for i := 0; i < b.queries.padded; i += span {
		rows := min(span, b.queries.padded-i)
		for j := 0; j < b.base.padded; j += span {
			cols := min(span, b.base.padded-j)
			q, c := b.queries.at(i, p), b.base.at(j, p)
			err := cmp.Or(
				b.on.maxima.Launch(rows/rowTile*cols/b.on.colTile, q.rows, c.rows, b.rowMax, b.colMax, rowStride, colStride,
					int32(rows/rowTile), int32(cols/b.on.colTile), int32(p.dim), none, none),
				b.on.choose.Launch(min(rows, b.queries.n-i), b.rowMax, rowStride, int32(cols/rowGroup), int32(j/rowGroup),
					int32(p.keep), q.values, q.chosen, none, none),
				b.on.choose.Launch(min(cols, b.base.n-j), b.colMax, colStride, int32(rows/colGroup), int32(i/colGroup),
					int32(p.keep), c.values, c.chosen, none, none),
			)
			if err != nil {
				return err
			}
		}
		// Waiting costs nothing here, and lets a search be stopped and its progress seen.
		if err := cmp.Or(b.on.Wait(), ctx.Err()); err != nil {
			return err
		}
		p.progress.Add(float64(min(rows, b.queries.n-i)) * float64(b.base.n))
	}
	return nil
}

// none is a kernel's scratch memory, of which ours need none.
const none = cuda.Memory(0)

// at is the block from a row on.
func (of *block) at(row int, p *pass) block {
	lists := cuda.Memory(4 * row * p.keep)
	return block{rows: of.rows + cuda.Memory(2*row*p.dim), values: of.values + lists, chosen: of.chosen + lists}
}

// collect computes the scores of a block's chosen groups, of `group` rows of the other block, and merges the best into
// the side's lists.
func (b *blocks) collect(ctx context.Context, of, other *block, s *side, group int) error {
	err := b.on.rescore.Launch(of.n, of.rows, other.rows, of.values, of.chosen, int32(group/colGroup), int32(b.p.keep), int32(other.n),
		int32(b.p.dim), of.scores, of.ids, of.floors, none, none)
	if err != nil {
		return err
	}
	block, floors := newLists(of.n, b.p.keep), make([]float32, of.n)
	err = cmp.Or(cuda.Download(b.on.Device, block.scores, of.scores), cuda.Download(b.on.Device, block.ids, of.ids),
		cuda.Download(b.on.Device, floors, of.floors))
	if err != nil {
		return err
	}
	return s.merge(ctx, b.p.threads, of.lo, other.lo, block, floors)
}
