package ivf

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"

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
		d, err = approximate.Open(path,
			func() (division, error) { return s.load(path, want) }, build,
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
