package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/index/approximate"
	search "bitextmine/index/cuda"
	"bitextmine/index/exact"
	"bitextmine/index/faiss"
	"bitextmine/index/ivf"
	"bitextmine/internal/cuda"
)

// Calibration holds the measured costs of backends for one dim and k.
type Calibration struct {
	Dim, K  int
	Options Options
	Costs   []Cost
}

// Candidates lists the backends that Auto chooses from: the exact ones, those on GPUs only if there is a GPU, and the
// approximate ones that the caller names. Only the user can decide whether lower recall is acceptable.
func Candidates(approximate ...string) []string {
	names := []string{"exact", "faiss:Flat"}
	if n, err := faiss.GPUs(); err == nil && n > 0 {
		names = append(names, "faiss-gpu:Flat")
	}
	if _, err := cuda.OpenDriver(); err == nil { // the estimate of a GPU that is too old has the reason
		names = append(names, search.Name)
	}
	return append(names, approximate...)
}

// calibrationRows is the longer side of the largest of the three cells that are searched, calibrationCols the shorter.
// An exact search of all three takes some tenths of a second at 1,024 dimensions.
const (
	calibrationRows = 16384
	calibrationCols = 2048
)

// Calibrate measures the named backends on random rows. Exact and flat backends take one to two seconds each; an
// approximate index takes a few, or as long as its training on some hundred rows. A backend that cannot be used has the
// reason in Cost.Err. The returned error is only that of ctx.
func Calibrate(ctx context.Context, names []string, dim, k int, opts Options) (Calibration, error) {
	opts.Threads = cmp.Or(opts.Threads, runtime.GOMAXPROCS(0))
	opts.Approximate.Dir = "" // nobody could use an index of random rows
	c := Calibration{Dim: dim, K: k, Options: opts}
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
				debug.FreeOSMemory() // the next backend's buffers are its own
			}
			if ctx.Err() != nil {
				return c, ctx.Err()
			}
		}
	}
	for _, t := range trials {
		c.Costs = append(c.Costs, t.cost())
	}
	c.derive()
	return c, nil
}

// derive computes the costs of searches with inverted lists from the cost of exact search, which uses the same kernels.
// A calibration has too few rows for a useful number of lists.
func (c *Calibration) derive() {
	at := c.exact()
	for i, cost := range c.Costs {
		if lists, ok := strings.CutPrefix(cost.Name, ivf.Prefix); ok && at >= 0 && Untimed(cost.Err) {
			nprobe := c.Options.Approximate.NProbe
			lopsided := inverted(cost.Name, c.Costs[at], ivf.Comparisons(lists, nprobe, true))
			c.Costs[i] = inverted(cost.Name, c.Costs[at], ivf.Comparisons(lists, nprobe, false))
			c.Costs[i].Lopsided = &lopsided
		}
	}
}

// exact is the place of exact search's cost; -1: it was not measured.
func (c *Calibration) exact() int {
	return slices.IndexFunc(c.Costs, func(cost Cost) bool { return cost.Name == exact.Name && cost.Err == nil })
}

// untimed is the error of a backend that can be used but not measured.
type untimed struct {
	name    string
	minRows int
}

func (u untimed) Error() string {
	return fmt.Sprintf("%s needs %d rows a side, more than a calibration of seconds has: its time is not known", u.name,
		u.minRows)
}

// Untimed reports whether a Cost.Err only means that a backend's time is unknown.
func Untimed(err error) bool {
	var u untimed
	return errors.As(err, &u)
}

// rounds is the number of times that each backend is measured, in turn with the others. The shortest time counts,
// because other programs on the machine can only add to it. A backend that has taken longer than longTrial is not
// measured again.
const (
	rounds    = 4
	longTrial = 700 * time.Millisecond
	tooLong   = 3 * time.Second // then larger cells are left out
)

// trialCells are a quarter of the rows by a quarter, all rows by a quarter, and all by all. Those of approximate
// indexes of FAISS, whose building takes the time, are smaller.
var (
	trialCells = [3]Shape{
		{calibrationRows / 4, calibrationCols / 4}, {calibrationRows, calibrationCols / 4},
		{calibrationRows, calibrationCols},
	}
	indexCells = [3]Shape{
		{calibrationCols / 4, calibrationCols / 4}, {calibrationCols, calibrationCols / 4},
		{calibrationCols, calibrationCols},
	}
)

// trial is the measurement of one backend.
type trial struct {
	name     string
	searcher index.Searcher
	cells    [3]Shape
	seconds  [3]float64 // the shortest for each cell; 0: the cells before took too long
	spent    time.Duration
	err      error
}

func newTrial(name string, opts Options) *trial {
	if Exact(name) {
		opts.Approximate = approximate.Settings{}
	}
	t := &trial{name: name, cells: trialCells}
	if !Exact(name) {
		t.cells = indexCells
	}
	derived := strings.HasPrefix(name, ivf.Prefix)
	if t.searcher, t.err = Open(name, opts); t.err == nil && (derived || MinRows(name) > t.cells[0].Cols) {
		t.err = untimed{name, MinRows(name)}
	}
	return t
}

// run times the cells once, those after the first unless it takes too long. The very first search only warms up threads
// and caches and is not counted; building an index takes longer than that saves.
func (t *trial) run(ctx context.Context, rows, cols embedding.Matrix, k int) error {
	begin := time.Now()
	defer func() { t.spent += time.Since(begin) }()
	if t.spent == 0 && Exact(t.name) {
		if err := t.search(ctx, rows, cols, t.cells[0], k); err != nil {
			return err
		}
	}
	for i, cell := range t.cells {
		if !Exact(t.name) && time.Since(begin) > tooLong {
			return nil
		}
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
	if slices.Contains(t.seconds[:], 0) { // rows alone tell, as building an index takes by far the most time
		last := max(slices.Index(t.seconds[:], 0)-1, 0)
		return Cost{Name: t.name, Row: t.seconds[last] / float64(t.cells[last].Rows+t.cells[last].Cols)}
	}
	return fit(t.name, t.cells[0].Rows, t.cells[0].Cols, t.seconds[0], t.seconds[1], t.seconds[2])
}

func head(m embedding.Matrix, n int) index.Side {
	return index.Side{Vectors: embedding.Matrix{N: n, Dim: m.Dim, F16: m.F16[:n*m.Dim]}}
}

// randomRows draws distinct rows of length about one. The time of a search depends on nothing else.
func randomRows(rng *rand.Rand, n, dim int) embedding.Matrix {
	rows := make([]uint16, n*dim)
	for i := range rows {
		bits := rng.Uint32()
		// Random sign and mantissa, and one of four exponents, about 1/32.
		rows[i] = uint16(bits&0x83ff) | uint16(8+bits>>16&3)<<10
	}
	return embedding.Matrix{N: n, Dim: dim, F16: rows}
}
