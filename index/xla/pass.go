package xla

import (
	"context"
	"math"

	"github.com/gomlx/compute/dtypes"
	xla "github.com/gomlx/go-xla/pjrt"
	"golang.org/x/sync/errgroup"

	"bitextmine/index"
)

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

// pass is one search under way.
type pass struct {
	*searcher
	size
	rows, cols    *index.Half // the queries' lists and the base's
	queries, base *operand
	shape         shape
	program       *xla.LoadedExecutable
	found         lists // lists of all queries
	empty         lists // lists of a tile's rows before the first score
	progress      *index.Progress
}

// block is a part of the base on a device, with the lists of its rows.
type block struct {
	lo, hi      int
	rows, where *xla.Buffer
	scores, ids *xla.Buffer
	on          *device
}

func (b *block) free() { free(b.rows, b.where, b.scores, b.ids) }

func (s *searcher) newPass(cell *index.Cell, z size, report func(float64)) *pass {
	rows, cols := cell.Halves()
	if rows.Queries.Len() > cols.Queries.Len() {
		rows, cols = cols, rows
	}
	p := &pass{searcher: s, size: z, rows: rows, cols: cols, queries: newOperand(rows.Queries),
		base: newOperand(cols.Queries)}
	p.shape = shape{queries: min(z.tile, ceilPower(rows.Queries.Len())), base: z.tile, dim: rows.Queries.Dim(),
		keep: rows.K + extra(rows.Queries, cols.Queries)}
	p.found, p.empty = newLists(rows.Queries.Len(), p.shape.keep), newLists(z.tile, p.shape.keep)
	p.progress = index.NewProgress(float64(rows.Queries.Len())*float64(cols.Queries.Len()), report)
	return p
}

func (p *pass) run(ctx context.Context) (err error) {
	if p.program, err = p.compiled(p.shape); err != nil {
		return err
	}
	n, step := p.cols.Queries.Len(), p.resident*len(p.devices)
	for lo := 0; lo < n; lo += step {
		if err := p.round(ctx, lo, min(lo+step, n)); err != nil {
			return err
		}
	}
	return nil
}

// round compares all queries with the base rows lo to hi-1, which are on the devices all the time.
func (p *pass) round(ctx context.Context, lo, hi int) error {
	blocks := make([][]*block, len(p.devices))
	defer func() {
		for _, of := range blocks {
			for _, b := range of {
				b.free()
			}
		}
	}()
	for i, at := 0, lo; at < hi; i, at = i+1, at+p.shape.base {
		d := i % len(p.devices)
		b := &block{lo: at, hi: min(at+p.shape.base, hi), on: p.devices[d]}
		blocks[d] = append(blocks[d], b)
		if err := p.place(ctx, b); err != nil {
			return err
		}
	}
	// The host ranks the candidates of a tile while the devices compute the next.
	refining, inner := errgroup.WithContext(ctx)
	refining.SetLimit(1)
	err := p.scan(inner, blocks, func(from, to int) {
		if hi == p.cols.Queries.Len() {
			refining.Go(func() error {
				return p.refine(ctx, p.rows, p.queries, p.base, from, to, p.found.part(from, to))
			})
		}
	})
	if waited := refining.Wait(); waited != nil {
		return waited
	}
	if err != nil {
		return err
	}
	for _, of := range blocks {
		for _, b := range of {
			found := newLists(p.shape.base, p.shape.keep)
			if err := found.download(b.on, b.scores, b.ids); err != nil {
				return err
			}
			if err := p.refine(ctx, p.cols, p.base, p.queries, b.lo, b.hi, found.part(0, b.hi-b.lo)); err != nil {
				return err
			}
		}
	}
	return nil
}

// place copies a block of the base and empty lists to its device.
func (p *pass) place(ctx context.Context, b *block) (err error) {
	values := make([]uint16, p.shape.base*p.shape.dim)
	if err := p.base.float16(ctx, p.threads, b.lo, b.hi, values); err != nil {
		return err
	}
	if b.rows, err = b.on.upload(bytesOf(values), dtypes.Float16, p.shape.base, p.shape.dim); err != nil {
		return err
	}
	if b.where, err = b.on.upload(bytesOf([]int32{int32(b.hi - b.lo), int32(b.lo)}), dtypes.Int32, 2); err != nil {
		return err
	}
	b.scores, b.ids, err = p.empty.part(0, p.shape.base).upload(b.on)
	return err
}

// scan runs all queries past the blocks and calls done after each tile, whose lists are then in p.found.
func (p *pass) scan(ctx context.Context, blocks [][]*block, done func(from, to int)) error {
	n, values := p.rows.Queries.Len(), make([]uint16, p.shape.queries*p.shape.dim)
	for from := 0; from < n; from += p.shape.queries {
		to := min(from+p.shape.queries, n)
		if err := p.queries.float16(ctx, p.threads, from, to, values); err != nil {
			return err
		}
		lists := make([]lists, len(p.devices))
		g, inner := errgroup.WithContext(ctx)
		for d, of := range blocks {
			if len(of) > 0 {
				g.Go(func() (err error) {
					lists[d], err = p.scanTile(inner, of, values, from, to)
					return err
				})
			}
		}
		if err := g.Wait(); err != nil {
			return err
		}
		for _, l := range lists {
			p.found.merge(from, to, l)
		}
		done(from, to)
	}
	return nil
}

// scanTile runs a tile of queries past a device's blocks and returns the tile's lists.
func (p *pass) scanTile(ctx context.Context, blocks []*block, values []uint16, from, to int) (lists, error) {
	d := blocks[0].on
	queries, err := d.upload(bytesOf(values), dtypes.Float16, p.shape.queries, p.shape.dim)
	if err != nil {
		return lists{}, err
	}
	defer free(queries)
	where, err := d.upload(bytesOf([]int32{int32(to - from), int32(from)}), dtypes.Int32, 2)
	if err != nil {
		return lists{}, err
	}
	defer free(where)
	scores, ids, err := p.empty.part(0, p.shape.queries).upload(d)
	defer func() { free(scores, ids) }()
	if err != nil {
		return lists{}, err
	}
	for _, b := range blocks {
		if err := ctx.Err(); err != nil {
			return lists{}, err
		}
		out, err := d.run(p.program, 4, queries, b.rows, where, b.where, scores, ids, b.scores, b.ids)
		if err != nil {
			return lists{}, err
		}
		scores, ids, b.scores, b.ids = out[0], out[1], out[2], out[3]
		p.progress.Add(float64(to-from) * float64(b.hi-b.lo))
	}
	found := newLists(p.shape.queries, p.shape.keep)
	return found, found.download(d, scores, ids)
}

// refine makes the final lists of rows from to to-1 of one side from their candidates.
func (p *pass) refine(ctx context.Context, half *index.Half, queries, base *operand, from, to int, found lists) error {
	candidates, ceilings := make([]int64, len(found.ids)), make([]float64, to-from)
	for i, id := range found.ids {
		candidates[i] = int64(id)
	}
	unit, bound := 1/(float64(queries.scale)*float64(base.scale)), slack(queries, base)
	for i := range ceilings {
		ceilings[i] = float64(found.scores[(i+1)*found.keep-1])*unit + bound
	}
	if err := half.RefineExact(ctx, p.threads, from, to, candidates, ceilings); err != nil {
		return err
	}
	return found.check(half, from, unit, bound+math.Ldexp(queries.rows.Kernel.Length*base.rows.Kernel.Length, -23))
}
