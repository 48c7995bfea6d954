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
	if l.centroids, err = s.ownSide(ctx, d.centroids, side.Dim()); err != nil {
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
	c, err := s.ownSide(ctx, d.centroids, side.Dim())
	if err != nil {
		return d, err
	}
	defer c.Close()
	d.near = make([]int32, 0, side.Len()*membersOf(s.lists))
	for lo := 0; lo < side.Len() && err == nil; lo += divideRows {
		err = s.place(ctx, side, c, lo, min(lo+divideRows, side.Len()), &d)
	}
	return d, err
}

// divideRows is the number of rows whose lists are chosen at a time, which bounds the memory of what they choose from.
const divideRows = 1 << 19

// place appends the lists of the rows lo to hi of a side to d.
func (s *searcher) place(ctx context.Context, side *index.Distinct, centroids *kernel.Side, lo, hi int,
	d *division) error {
	rows := between(lo, hi)
	n := min(memberChoice, s.lists)
	all := makeNear(len(rows), n)
	unit, err := s.nearest(ctx, side.Kernel, rows, centroids, allOf(centroids), n, math.Inf(1), func(lo int, found near) {
		copy(all.ids[lo*n:], found.ids)
		copy(all.products[lo*n:], found.products)
		copy(all.counts[lo:], found.counts)
	})
	if err != nil {
		return err
	}
	chosen, err := s.members(ctx, centroids, all, unit)
	d.near = append(d.near, chosen...)
	return err
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

// load reads a file. The error is approximate.Damage if it is not what was published under this name.
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

// between returns the rows from one to another.
func between(lo, hi int) []int32 {
	rows := make([]int32, hi-lo)
	for i := range rows {
		rows[i] = int32(lo + i)
	}
	return rows
}

// allOf is a span of all rows of a side.
func allOf(side *kernel.Side) kernel.Span { return kernel.Span{Hi: side.N, Step: 1} }

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

// nearest finds the n nearest of a span of base rows, mostly centroids, for each of the given rows of a side, of those
// whose cosines are at most below less than the nearest's. take gets those of a part of the rows, from position lo on,
// valid until it returns. It is called in several threads. unit is the product of two vectors whose inner product is 1.
//
// Nearest is by the products of rows that are rounded to whole numbers: it takes little more than the products, and all
// kernels agree on it without float64 cosines.
func (s *searcher) nearest(ctx context.Context, side *kernel.Side, rows []int32, base *kernel.Side, at kernel.Span,
	n int, below float64, take func(lo int, found near)) (unit float64, err error) {
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range min(s.opts.Threads, (len(rows)+nearestRows-1)/nearestRows) {
		g.Go(func() error {
			scanner, err := s.kernel.NewWhole(side, base, n, nearestRows, at.Hi-at.Lo)
			if err != nil {
				return err
			}
			defer scanner.Close()
			scanner.Base(at, nil)
			scanner.OnlyNearest(below)
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
	return kernel.WholeUnit(side, base), g.Wait()
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

// members is the number of lists that a row is in: a row between two of them is found in either. Two lists and half as
// many visits compare as many pairs, find more of the neighbours and pack half as many visitors.
const members = 2

func membersOf(lists int) int { return min(members, lists) }

// The second list is one of the memberChoice nearest. It is for the visitors that the first centroid misleads: those
// that are near to the row on the side of the centroid on which the row lies. So the loss of a list is the square of
// the distance between row and centroid plus apart times the square of its part along the line from the first centroid
// to the row (Sun and others, SOAR: Improved Indexing for Approximate Nearest Neighbor Search, 2023).
const (
	memberChoice = 8
	apart        = 2
)

// members returns the lists [rows, membersOf] of rows of a side. found holds the nearest centroids of each row, and
// unit is the unit of their products.
func (s *searcher) members(ctx context.Context, centroids *kernel.Side, found near, unit float64) ([]int32, error) {
	if found.n == 1 {
		return found.ids, nil
	}
	first := make([]int32, len(found.counts))
	for row := range first {
		ids, products := found.of(row)
		best := 0
		for i, id := range ids {
			if products[i] > products[best] || products[i] == products[best] && id < ids[best] {
				best = i
			}
		}
		first[row] = ids[best]
	}
	out := make([]int32, 2*len(first))
	start, rows := grouped(first, s.lists)
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range s.opts.Threads {
		g.Go(func() error {
			between := make([]float32, s.lists) // product of a list's centroid with each candidate
			wanted := make([]int32, s.lists)    // the last list whose rows may choose it, from 1 on
			for {
				list := int(next.Add(1) - 1)
				if list >= s.lists || ctx.Err() != nil {
					return ctx.Err()
				}
				if start[list] == start[list+1] {
					continue
				}
				var others []int32
				for _, row := range rows[start[list]:start[list+1]] {
					ids, _ := found.of(int(row))
					for _, id := range ids {
						if wanted[id] != int32(list)+1 {
							wanted[id] = int32(list) + 1
							others = append(others, id)
						}
					}
				}
				cosines := make([]float32, len(others))
				s.kernel.Dots(centroids, []int32{int32(list)}, centroids, others, len(others), cosines)
				for i, id := range others {
					between[id] = cosines[i]
				}
				for _, row := range rows[start[list]:start[list+1]] {
					ids, products := found.of(int(row))
					out[2*row], out[2*row+1] = int32(list), second(int32(list), ids, products, unit, between)
				}
			}
		})
	}
	return out, g.Wait()
}

// second returns the second list of a row of length 1 whose first is known, of ids. The row's products with their
// centroids are given, and the cosines of the first list's centroid with all. Each product is rounded: a fused sum
// would differ between CPUs.
func second(first int32, ids []int32, products []float32, unit float64, between []float32) int32 {
	var cosine float64
	for i, id := range ids {
		if id == first {
			cosine = float64(products[i]) / unit
		}
	}
	// Distance of the row from the line through the first centroid.
	distance := math.Sqrt(max(1-float64(cosine*cosine), 0))
	list, least := int32(-1), 0.0
	for i, id := range ids {
		if id == first {
			continue
		}
		near := float64(products[i]) / unit
		loss := -2 * near // and what is the same for all centroids
		if distance > 1e-6 {
			part := distance - (near-float64(cosine*float64(between[id])))/distance
			loss += float64(apart * float64(part*part))
		}
		if list < 0 || loss < least || loss == least && id < list {
			list, least = id, loss
		}
	}
	return list
}
