package backend

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/index/faiss"
)

// Calibration holds the measured costs of some backends, for one dim and k.
type Calibration struct {
	Dim, K, Threads int
	Costs           []Cost
}

// Candidates are the backends that Auto chooses from: those that are exact, those on GPUs only where there are some. An approximate
// backend takes part when it is named, as only the user can say what recall is worth.
func Candidates(approximate ...string) []string {
	names := []string{"exact", "faiss:Flat"}
	if n, err := faiss.GPUs(); err == nil && n > 0 {
		names = append(names, "faiss-gpu:Flat")
	}
	return append(names, approximate...)
}

// calibrationRows is the longer side of the largest of the three cells that are searched, calibrationCols the shorter: some tenths of a
// second in all for an exact search of 1,024 dimensions.
const (
	calibrationRows = 16384
	calibrationCols = 2048
)

// Calibrate measures the named backends on random rows: one to two seconds each for exact and flat ones; an approximate index takes as long as
// its training does. A backend that cannot be used gets its reason as Cost.Err; the error is ctx's alone.
func Calibrate(ctx context.Context, names []string, dim, k int, opts Options) (Calibration, error) {
	c := Calibration{Dim: dim, K: k, Threads: opts.Threads}
	if c.Threads == 0 {
		c.Threads = runtime.GOMAXPROCS(0)
	}
	opts.FAISS.Dir = "" // such an index is of no use to anybody
	rng := rand.New(rand.NewPCG(1, 1))
	rows, cols := randomRows(rng, calibrationRows, dim), randomRows(rng, calibrationCols, dim)
	trials := make([]*trial, len(names))
	for i, name := range names {
		trials[i] = newTrial(name, opts)
	}
	for range rounds {
		for _, t := range trials {
			if t.err == nil && t.spent < longTrial {
				t.err = t.run(ctx, rows, cols, k)
			}
			if ctx.Err() != nil {
				return c, ctx.Err()
			}
		}
	}
	for _, t := range trials {
		c.Costs = append(c.Costs, t.cost())
	}
	return c, nil
}

// untimed says that a backend can be used but not be measured.
type untimed struct {
	name  string
	least int
}

func (u untimed) Error() string {
	return fmt.Sprintf("%s needs %d rows a side, more than a calibration of seconds has: its time is not known", u.name, u.least)
}

// Untimed reports whether a Cost.Err says no more than that a backend's time is not known.
func Untimed(err error) bool {
	var u untimed
	return errors.As(err, &u)
}

// rounds is how often each backend is timed, in turn with the others. The shortest times count, as what else runs on the machine only adds to
// them. One that has taken longTrial is not timed again.
const (
	rounds    = 4
	longTrial = 700 * time.Millisecond
)

// trialCells are a quarter by a quarter, all rows by a quarter, all by all.
var trialCells = [3]Shape{
	{calibrationRows / 4, calibrationCols / 4}, {calibrationRows, calibrationCols / 4}, {calibrationRows, calibrationCols},
}

// trial is the measuring of one backend.
type trial struct {
	name     string
	searcher index.Searcher
	seconds  [3]float64 // the shortest, of each cell
	spent    time.Duration
	err      error
}

func newTrial(name string, opts Options) *trial {
	if Exact(name) {
		opts.FAISS.NProbe, opts.FAISS.EfSearch = 0, 0 // of the approximate ones
	}
	t := &trial{name: name}
	if t.searcher, t.err = Open(name, opts); t.err == nil && LeastRows(name) > trialCells[0].Cols {
		t.err = untimed{name, LeastRows(name)}
	}
	return t
}

// run times the cells once. The very first search only warms up threads and caches.
func (t *trial) run(ctx context.Context, rows, cols embedding.Matrix, k int) error {
	begin := time.Now()
	defer func() { t.spent += time.Since(begin) }()
	if t.spent == 0 {
		if err := t.search(ctx, rows, cols, trialCells[0], k); err != nil {
			return err
		}
	}
	for i, cell := range trialCells {
		start := time.Now()
		if err := t.search(ctx, rows, cols, cell, k); err != nil {
			return err
		}
		if took := time.Since(start).Seconds(); t.seconds[i] == 0 || took < t.seconds[i] {
			t.seconds[i] = took
		}
	}
	return nil
}

func (t *trial) search(ctx context.Context, rows, cols embedding.Matrix, cell Shape, k int) error {
	_, err := t.searcher.Search(ctx, head(rows, cell.Rows), head(cols, cell.Cols), k, nil)
	return err
}

func (t *trial) cost() Cost {
	if t.err != nil {
		return Cost{Name: t.name, Err: t.err}
	}
	return fit(t.name, trialCells[0].Rows, trialCells[0].Cols, t.seconds[0], t.seconds[1], t.seconds[2])
}

func head(m embedding.Matrix, n int) index.Side {
	return index.Side{Vectors: embedding.Matrix{N: n, Dim: m.Dim, F16: m.F16[:n*m.Dim]}}
}

// randomRows draws rows that are distinct and about of length one, which is all that a search's time depends on.
func randomRows(rng *rand.Rand, n, dim int) embedding.Matrix {
	rows := make([]uint16, n*dim)
	for i := range rows {
		bits := rng.Uint32()
		// Sign and mantissa at random, one of four exponents about 1/32.
		rows[i] = uint16(bits&0x83ff) | uint16(8+bits>>16&3)<<10
	}
	return embedding.Matrix{N: n, Dim: dim, F16: rows}
}
