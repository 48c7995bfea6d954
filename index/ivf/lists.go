package ivf

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"bitextmine/index"
	"bitextmine/index/approximate"
	"bitextmine/index/kernel"
)

// lists are a side's distinct rows by list.
type lists struct {
	centroids *kernel.Side
	start     []int32 // [lists+1] list i is rows[start[i]:start[i+1]]
	rows      []int32 // distinct rows, ascending within each list
}

func (l *lists) close() { l.centroids.Close() }

func (l *lists) rowsOf(list int) []int32 { return l.rows[l.start[list]:l.start[list+1]] }

// longest returns the number of rows of the longest list.
func (l *lists) longest() (rows int) {
	for i := range len(l.start) - 1 {
		rows = max(rows, len(l.rowsOf(i)))
	}
	return rows
}

// division is the content of a file with one side's lists.
type division struct {
	centroids []float32 // [lists, dim]
	near      []int32   // [distinct rows, members] the lists of each
}

// kind identifies files with the centroids and then the lists of each row, little endian.
const kind approximate.Kind = "ivf"

// open reads the lists of a side from the directory, or makes them and keeps them there. They are the same in either
// case, whatever the kernel.
func (s *searcher) open(ctx context.Context, side *index.Distinct) (*lists, error) {
	if side.Len() < s.lists {
		return nil, tooFewRows(s.lists, side.Len())
	}
	build := func() (division, error) { return s.divide(ctx, side) }
	var d division
	var err error
	if s.opts.Dir == "" {
		d, err = build()
	} else {
		want := approximate.Label{
			Factory: fmt.Sprintf("%s rounds=%d members=%d of %d apart=%d by whole numbers", s.Name(), trainRounds,
				membersOf(s.lists), memberChoice, apart), TrainRows: trainRows,
			Vectors: side.Digest(), Rows: side.Len(), Dim: side.Dim(),
		}
		path := kind.Path(s.opts.Dir, want)
		d, err = approximate.Open(path, func() (division, error) { return s.load(path, want) }, build,
			func(d division) error { return kind.Save(path, want, d.write) })
	}
	if err != nil {
		return nil, err
	}
	l := &lists{}
	if l.centroids, err = s.centroidSide(ctx, d.centroids, side.Dim()); err != nil {
		return nil, err
	}
	l.start, l.rows = grouped(d.near, s.lists)
	for i, position := range l.rows {
		l.rows[i] = position / int32(membersOf(s.lists))
	}
	return l, nil
}

// divide trains the centroids and finds the lists of each row.
func (s *searcher) divide(ctx context.Context, side *index.Distinct) (d division, err error) {
	if d.centroids, err = s.train(ctx, side); err != nil {
		return d, err
	}
	c, err := s.centroidSide(ctx, d.centroids, side.Dim())
	if err != nil {
		return d, err
	}
	defer c.Close()
	rows := make([]int32, side.Len())
	for i := range rows {
		rows[i] = int32(i)
	}
	n := min(memberChoice, s.lists)
	all := makeNear(len(rows), n)
	unit, err := s.nearest(ctx, side.Kernel, rows, c, n, math.Inf(1), func(lo int, found near) {
		copy(all.ids[lo*n:], found.ids)
		copy(all.products[lo*n:], found.products)
		copy(all.counts[lo:], found.counts)
	})
	if err != nil {
		return d, err
	}
	d.near, err = s.members(ctx, c, all, unit)
	return d, err
}

func (d division) write(f *os.File) error {
	w := bufio.NewWriterSize(f, 1<<20)
	if err := binary.Write(w, binary.LittleEndian, d.centroids); err != nil {
		return err
	}
	if err := binary.Write(w, binary.LittleEndian, d.near); err != nil {
		return err
	}
	return w.Flush()
}

// load reads a file. The error is indexfile.Damage if it is not what was published under this name.
func (s *searcher) load(path string, want approximate.Label) (d division, err error) {
	payload, err := kind.Verify(path, want)
	if err != nil {
		return d, err
	}
	d = division{centroids: make([]float32, s.lists*want.Dim), near: make([]int32, want.Rows*membersOf(s.lists))}
	if payload != 4*int64(len(d.centroids)+len(d.near)) {
		return d, approximate.Damaged(path, "does not hold what its label says")
	}
	f, err := os.Open(path)
	if err != nil {
		return d, err
	}
	defer func() { _ = f.Close() }() // it is only read
	r := bufio.NewReaderSize(io.LimitReader(f, payload), 1<<20)
	if err := binary.Read(r, binary.LittleEndian, d.centroids); err != nil {
		return d, err
	}
	if err := binary.Read(r, binary.LittleEndian, d.near); err != nil {
		return d, err
	}
	for _, v := range d.centroids {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return d, approximate.Damaged(path, "has a centroid that is no number")
		}
	}
	for _, list := range d.near {
		if list < 0 || int(list) >= s.lists {
			return d, approximate.Damaged(path, "has a row in list %d of %d", list, s.lists)
		}
	}
	approximate.Used(path)
	return d, nil
}

// nearestRows is the number of rows that are compared with the centroids at a time.
const nearestRows = 1024

// near is the nearest centroids of some rows, at most n for each.
type near struct {
	n        int
	ids      []int32   // [rows, n] in no order
	products []float32 // [rows, n] with them, as whole numbers
	counts   []int32   // [rows] how many each has
}

func makeNear(rows, n int) near {
	return near{n, make([]int32, rows*n), make([]float32, rows*n), make([]int32, rows)}
}

func nearBytes(rows, n int) int64 { return int64(rows) * int64(8*n+4) }

// of returns the nearest centroids of a row, and the products.
func (l near) of(row int) ([]int32, []float32) {
	lo := row * l.n
	hi := lo + int(l.counts[row])
	return l.ids[lo:hi], l.products[lo:hi]
}

// nearest finds the n nearest centroids of each of the given rows of a side, of those whose cosines are at most span
// below the nearest's. take gets those of a part of the rows, from position lo on, valid until it returns. It is called
// in several threads. unit is the product of two vectors whose inner product is 1.
//
// Nearest is by the products of rows that are rounded to whole numbers: it takes little more than the products, and all
// kernels agree on it without float64 cosines.
func (s *searcher) nearest(ctx context.Context, side *kernel.Side, rows []int32, centroids *kernel.Side, n int,
	span float64, take func(lo int, found near)) (unit float64, err error) {
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range min(s.opts.Threads, (len(rows)+nearestRows-1)/nearestRows) {
		g.Go(func() error {
			scanner, err := s.kernel.NewNearest(side, centroids, n, nearestRows, centroids.N)
			if err != nil {
				return err
			}
			defer scanner.Close()
			scanner.Base(kernel.Span{Hi: centroids.N, Step: 1}, nil)
			scanner.OnlyNearest(span)
			found := makeNear(nearestRows, n)
			for {
				lo := int(next.Add(1)-1) * nearestRows
				if lo >= len(rows) {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				part := rows[lo:min(lo+nearestRows, len(rows))]
				scanner.Queries(kernel.All(part), nil)
				scanner.Scan()
				scanner.Nearest(found.ids, found.products, found.counts)
				take(lo, near{n, found.ids[:len(part)*n], found.products[:len(part)*n], found.counts[:len(part)]})
			}
		})
	}
	return kernel.WholeUnit(side, centroids), g.Wait()
}

// grouped returns the positions of ids by id, ascending within one: those of id i are at[start[i]:start[i+1]].
func grouped(ids []int32, n int) (start, at []int32) {
	start = make([]int32, n+1)
	for _, id := range ids {
		start[id+1]++
	}
	for i := range n {
		start[i+1] += start[i]
	}
	next := append([]int32(nil), start[:n]...)
	at = make([]int32, len(ids))
	for i, id := range ids {
		at[next[id]] = int32(i)
		next[id]++
	}
	return start, at
}
