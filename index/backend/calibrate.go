package backend

import (
	"context"
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

// Calibrate measures the named backends on random rows: about a second for exact and flat ones; an approximate index takes as long as
// its training does. A backend that cannot be used gets its reason as Cost.Err; the error is ctx's alone.
func Calibrate(ctx context.Context, names []string, dim, k int, opts Options) (Calibration, error) {
	c := Calibration{Dim: dim, K: k, Threads: opts.Threads}
	if c.Threads == 0 {
		c.Threads = runtime.GOMAXPROCS(0)
	}
	opts.FAISS.Dir = "" // such an index is of no use to anybody
	rng := rand.New(rand.NewPCG(1, 1))
	rows, cols := randomRows(rng, calibrationRows, dim), randomRows(rng, calibrationCols, dim)
	for _, name := range names {
		cost, err := measure(ctx, name, rows, cols, k, opts)
		if ctx.Err() != nil {
			return c, ctx.Err()
		}
		if err != nil {
			cost = Cost{Name: name, Err: err}
		}
		c.Costs = append(c.Costs, cost)
	}
	return c, nil
}

// measure times three cells: a quarter by a quarter, all rows by a quarter, all by all. The first search warms up threads and caches.
func measure(ctx context.Context, name string, rows, cols embedding.Matrix, k int, opts Options) (Cost, error) {
	if Exact(name) {
		opts.FAISS.NProbe, opts.FAISS.EfSearch = 0, 0 // of the approximate ones
	}
	s, err := Open(name, opts)
	if err != nil {
		return Cost{}, err
	}
	n, m := rows.N/4, cols.N/4
	var seconds [3]float64
	for i, cell := range []Shape{{n, m}, {n, m}, {4 * n, m}, {4 * n, 4 * m}} {
		if seconds[max(i-1, 0)], err = least(func() error {
			_, err := s.Search(ctx, head(rows, cell.Rows), head(cols, cell.Cols), k, nil)
			return err
		}); err != nil {
			return Cost{}, err
		}
	}
	return fit(name, n, m, seconds[0], seconds[1], seconds[2]), nil
}

// least is the shortest time that a call takes of up to five, while they last a quarter of a second together: what else runs on the
// machine only adds to it.
func least(call func() error) (seconds float64, err error) {
	begin := time.Now()
	for i := range 5 {
		start := time.Now()
		if err := call(); err != nil {
			return 0, err
		}
		if took := time.Since(start).Seconds(); i == 0 || took < seconds {
			seconds = took
		}
		if time.Since(begin) > time.Second/4 {
			break
		}
	}
	return seconds, nil
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
